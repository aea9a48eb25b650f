"""``auditor schema``: the JSON Schema of audit.yaml."""

from __future__ import annotations

import click

from auditor.cli.output import say_json

__all__ = ["schema"]


@click.command()
def schema() -> None:
    """Print the JSON Schema of audit.yaml.

    Editors that read it complete and check a spec while it is written.
    """
    from auditor.spec import schema as spec_schema

    say_json(spec_schema())
