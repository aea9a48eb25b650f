"""The root command and its table of subcommands, the project's own and the plugins'.

Invariant: help lines are static, so that listing the commands imports none of them; a plugin's command never takes the
name of one of the project's own, and to find one of those no plugin is loaded (``verify`` opens hostile files).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

import auditor
from auditor.cli.guard import guarded_main
from auditor.cli.text import visible
from auditor.errors import PluginError
from auditor.suggestion import did_you_mean

__all__ = ["COMMANDS", "CommandLine", "LazyGroup", "cli"]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A subcommand: where it is found, and its line in ``--help``."""

    target: str
    summary: str


COMMANDS: Mapping[str, CommandLine] = {
    "completion": CommandLine("auditor.cli.completion:completion", "Print a script that completes commands and runs."),
    "doctor": CommandLine("auditor.cli.doctor:doctor", "Check this machine, the plugins, and a spec if given."),
    "init": CommandLine("auditor.cli.init:init", "Write a commented audit.yaml to start from."),
    "keys": CommandLine("auditor.cli.keys:keys", "Make, import and show the keys that sign reports."),
    "plugins": CommandLine("auditor.cli.plugins:plugins", "List what is installed, and what failed to load and why."),
    "prove": CommandLine("auditor.cli.prove:prove", "Prove that the answers of canaries are in no document."),
    "report": CommandLine("auditor.cli.report:report", "Show the findings of a run, or write its report files."),
    "run": CommandLine("auditor.cli.run:run", "Run an audit, or go on with one that was stopped."),
    "schema": CommandLine("auditor.cli.schema:schema", "Print the JSON Schema of audit.yaml for editors."),
    "status": CommandLine("auditor.cli.status:status", "Say how far a run is and what is missing."),
    "verify": CommandLine(
        "auditor.cli.verify:verify", "Check that a run or a signed report is whole, and that its numbers recompute."
    ),
}


class LazyGroup(click.Group):
    """A group whose subcommands are imported when they are called."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, and leave with the exit code that the outcome calls for."""
        kwargs["standalone_mode"] = False
        return guarded_main(lambda: super(LazyGroup, self).main(*args, **kwargs))

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_summaries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            return _load(COMMANDS[cmd_name].target)
        return _plugin_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = not args or args[0].startswith("-") or args[0] in COMMANDS  # for which no plugin is loaded
        if not known and args[0] not in (names := _summaries()):
            ctx.fail(f"there is no command {args[0]!r}{did_you_mean(args[0], names)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand. Only a plugin's own may end the process; in ours ``SystemExit`` is a plugin's mistake."""
        try:
            return super().invoke(ctx)
        except SystemExit as error:
            if ctx.invoked_subcommand not in COMMANDS:
                raise
            raise PluginError(f"a plugin tried to end the process (SystemExit: {error})") from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_summaries().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(name, help=summary)
            for name, summary in sorted(_summaries().items())
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


def _summaries() -> Mapping[str, str]:
    """Help lines by name. A plugin's cannot break the terminal, nor stand in for one of the project's own."""
    from auditor.discovery import discover

    offered = {visible(command.name): visible(command.summary) for command in discover().commands()}
    return offered | {name: line.summary for name, line in COMMANDS.items()}


def _plugin_command(name: str) -> click.Command | None:
    from auditor.discovery import discover

    plugins = discover()
    return plugins.command(name) if any(offered.name == name for offered in plugins.commands()) else None


def _load(target: str) -> click.Command:
    module, _, attribute = target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise PluginError(f"{target} is no command")
    return command


def _set_verbosity(ctx: click.Context, parameter: click.Parameter, value: int) -> None:
    if not value or ctx.resilient_parsing:
        return
    import logging

    from auditor.cli.text import VisibleFormatter

    handler = logging.StreamHandler()
    handler.setFormatter(VisibleFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO if value == 1 else logging.DEBUG, handlers=[handler])


def _show_tracebacks(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from auditor.cli import guard

        guard.show_tracebacks()


def _options() -> Sequence[click.Parameter]:
    return [
        click.Option(
            ["-v", "--verbose"],
            count=True,
            is_eager=True,
            expose_value=False,
            callback=_set_verbosity,
            help="Log what happens to standard error; twice for more.",
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_tracebacks,
            help="Show the traceback of an unexpected error.",
        ),
    ]


cli = click.version_option(auditor.__version__, prog_name="auditor", message="%(prog)s %(version)s")(
    LazyGroup(
        "auditor",
        params=list(_options()),
        help="Audits RAG products: do they answer from the documents they were given, or decline, and how sure are we?",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
)
