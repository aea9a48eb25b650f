"""The front door for plugin authors.

A plugin is an importable package that registers under the entry-point group ``auditor``::

    [project.entry-points.auditor]
    acme = "auditor_acme"

Its ``__init__`` imports only ``auditor.plugin`` and the standard library, and offers descriptors; what they point
at is imported when it
is used::

    from auditor.plugin import Offer, hookimpl

    @hookimpl
    def auditor_systems() -> list[Offer]:
        return [Offer("acme", "Acme search over one store", "auditor_acme.system:AcmeSystem")]

Every hook is described in ``auditor.hookspecs`` and in docs/hooks.md.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from pluggy import HookimplMarker

from auditor.errors import PluginError

__all__ = ["ENTRY_POINT_GROUP", "Offer", "hookimpl"]

ENTRY_POINT_GROUP = "auditor"
hookimpl = HookimplMarker("auditor")


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that a plugin offers: its name in a spec, a line of help, and where it is found.

    ``target`` is ``package.module:object``, imported on use. ``api`` is the version of the hook's contract it was
    written for.
    """

    name: str
    summary: str
    target: str
    api: int = 1

    def load(self) -> Any:
        """Import and return the object; raises ``PluginError`` that names the offer and says what went wrong."""
        module, _, attribute = self.target.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except Exception as error:  # a plugin may raise anything at import
            raise PluginError(f"{self.name}: cannot load {self.target}: {type(error).__name__}: {error}") from error
