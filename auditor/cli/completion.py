"""``auditor completion``: scripts that complete commands, options and names of runs."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from auditor.cli.output import say
from auditor.errors import AuditorError

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes `auditor` in SHELL.

    For bash, add to ~/.bashrc: eval "$(auditor completion bash)"
    """
    from auditor.cli.group import cli

    completer = get_completion_class(shell)
    if completer is None:
        raise AuditorError(f"no completion is known for {shell}")
    source = completer(cli, {}, "auditor", "_AUDITOR_COMPLETE")
    say(source.source_template % source.source_vars())
