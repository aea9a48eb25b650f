"""Whose audit this is: without it nothing is signed (DESIGN §5, Disclosure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from auditor.errors import ConfigurationError

__all__ = ["missing_disclosure", "require_disclosure"]

_FIELDS: Final = ("run_by", "on_behalf_of", "paid_by", "conflicts", "access")


def missing_disclosure(protocol: Mapping[str, Any]) -> tuple[str, ...]:
    """Fields of the protocol's disclosure that are not stated; "none" is a statement, nothing is not."""
    stated = protocol.get("disclosure")
    block = stated if isinstance(stated, Mapping) else {}
    return tuple(name for name in _FIELDS if not (isinstance(block.get(name), str) and block[name].strip()))


def require_disclosure(protocol: Mapping[str, Any]) -> None:
    """Raise ``ConfigurationError`` that names what is missing, and what a spec has to say."""
    missing = missing_disclosure(protocol)
    if missing:
        raise ConfigurationError(
            f"a report is signed only with a complete disclosure: the spec's disclosure: block lacks "
            f"{', '.join(missing)} (it is part of the protocol, so the run has to be a new one)"
        )
