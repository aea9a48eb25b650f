"""Acme's command."""

from __future__ import annotations

import click


@click.command("acme-hello")
@click.option("--name", default="world", help="Whom to greet.")
def hello(name: str) -> None:
    """Say hello from Acme."""
    click.echo(f"Acme says hello to {name}.")
