"""``auditor plugins``: what is installed, and what failed to load and why."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import click

from auditor.cli.output import columns, say, say_json
from auditor.cli.text import visible
from auditor.errors import ExitCode
from auditor.plugins import PluginRecord, PluginState

__all__ = ["plugins"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--strict", is_flag=True, help="Exit with 4 when a plugin failed or was refused.")
def plugins(as_json: bool, strict: bool) -> int:
    """List the plugins: name, distribution, version, what they offer for which hook, and what is wrong with them."""
    from auditor.discovery import discover

    records = discover().records
    if as_json:
        say_json([_as_json(record) for record in records])
    else:
        _show(records)
    broken = any(record.state is not PluginState.LOADED for record in records)
    return ExitCode.PLUGIN if strict and broken else ExitCode.OK


def _show(records: tuple[PluginRecord, ...]) -> None:
    if not records:
        say("No plugin is installed.")
        return
    rows = [["NAME", "DISTRIBUTION", "VERSION", "STATE", "OFFERS"]]
    for record in records:
        head = [record.name, record.distribution, record.version, record.state.value]
        offers = [f"{_short(hook)} (hook v{version}): {', '.join(names)}" for hook, version, names in _offers(record)]
        rows += [[*(head if not line else [""] * 4), offer] for line, offer in enumerate(offers or ["-"])]
    for line in columns(rows):
        say(line)
    for record in records:
        if record.reason:
            say()
            say(visible(f"{record.name} ({record.distribution} {record.version}) {record.state}: {record.reason}"))


def _offers(record: PluginRecord) -> list[tuple[str, int, list[str]]]:
    """Names by hook, with the hook's version; a hook that offers nothing usable is shown too."""
    names: dict[str, list[str]] = defaultdict(list)
    for offered in record.offers:
        names[offered.hook].append(offered.name)
    return [(hook.name, hook.version, names[hook.name] or ["-"]) for hook in record.hooks]


def _short(hook: str) -> str:
    return hook.removeprefix("auditor_").replace("_", " ")


def _as_json(record: PluginRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "module": record.module,
        "state": record.state.value,
        "reason": record.reason or None,
        "hooks": [{"name": hook.name, "version": hook.version} for hook in record.hooks],
        "offers": [{"hook": o.hook, "name": o.name, "summary": o.summary, "api": o.offer.api} for o in record.offers],
    }
