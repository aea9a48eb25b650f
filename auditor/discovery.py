"""How plugins are found: the entry points of the group ``auditor``, each imported, checked and called apart.

Invariant: every entry point ends as exactly one record. What one plugin does wrong (raises, exits, misspells a hook,
takes a name) never hides another; only ``KeyboardInterrupt`` gets through. The result does not depend on the order in
which distributions are found.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from pluggy import PluginManager

from auditor import hookspecs
from auditor.plugin import ENTRY_POINT_GROUP, Offer
from auditor.plugins import HookRecord, Offered, PluginRecord, Plugins, PluginState, guarded

__all__ = [
    "CORE_NAMES",
    "SHIPPED_DISTRIBUTION",
    "Candidate",
    "Offered",
    "PluginRecord",
    "PluginState",
    "Plugins",
    "candidates",
    "discover",
    "examine",
]

SHIPPED_DISTRIBUTION = "rag-auditor"
# Names that the core itself answers to; no plugin can offer them.
CORE_NAMES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "auditor_analyses": frozenset({"penalty"}),
        "auditor_commands": frozenset(
            {"completion", "doctor", "init", "keys", "plugins", "prove", "report", "run", "schema", "status", "verify"}
        ),
        "auditor_label_kinds": frozenset({"stance", "verdict"}),
    }
)
_OBSERVER = "auditor_on_event"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_NEAR = 0.8  # how alike an undecorated function's name must be to a hook's before we call it a forgotten hook


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry point as its distribution's metadata states it. ``problem``: why it cannot even be tried."""

    name: str
    module: str
    distribution: str
    version: str
    problem: str = ""

    @property
    def shipped(self) -> bool:
        """Whether it comes with the auditor itself."""
        return self.distribution == SHIPPED_DISTRIBUTION

    def record(self, state: PluginState, reason: str = "") -> PluginRecord:
        """The bare record of this candidate."""
        return PluginRecord(self.name, self.distribution, self.version, self.module, state, reason)


@dataclass(frozen=True, slots=True)
class _Implementation:
    """One decorated function of a plugin's ``__init__``."""

    hook: str
    function: Callable[..., Any]


@functools.cache
def discover() -> Plugins:
    """All installed plugins, found once a process."""
    return examine(candidates())


def candidates(
    distributions: Iterable[importlib.metadata.Distribution] | None = None,
) -> tuple[Candidate, ...]:
    """Entry points of the group in every installed distribution; unreadable metadata is a candidate with a problem.

    Distributions are read one by one: ``importlib.metadata.entry_points`` fails as a whole on one broken file.
    """
    found: dict[tuple[str, str, str], Candidate] = {}
    seen: dict[str, str] = {}
    for distribution in importlib.metadata.distributions() if distributions is None else distributions:
        text, reason = guarded(functools.partial(distribution.read_text, "entry_points.txt"))
        if not reason and f"[{ENTRY_POINT_GROUP}]" not in (text or ""):
            continue
        name, version, place = _identity(distribution)
        if seen.setdefault(name, place) != place:
            continue  # shadowed by an earlier folder of sys.path, as its modules are
        for candidate in _entries(distribution, name, version, reason):
            found[candidate.name, candidate.module, name] = candidate
    return tuple(sorted(found.values(), key=lambda c: (c.name, c.distribution, c.module)))


def _identity(distribution: importlib.metadata.Distribution) -> tuple[str, str, str]:
    metadata, _ = guarded(lambda: distribution.metadata)
    name = None if metadata is None else metadata["Name"]
    version = None if metadata is None else metadata["Version"]
    place = str(distribution.locate_file(""))
    return re.sub(r"[-_.]+", "-", name or "unnamed").lower(), version or "unknown", place


def _entries(
    distribution: importlib.metadata.Distribution, name: str, version: str, problem: str
) -> Iterator[Candidate]:
    entries, reason = guarded(lambda: [e for e in distribution.entry_points if e.group == ENTRY_POINT_GROUP])
    if problem or entries is None:
        yield Candidate("entry_points.txt", "", name, version, problem or reason)
        return
    for entry in entries:
        shape = "" if re.fullmatch(r"[\w.]+", entry.value) else f"{entry.value!r} is no module name"
        yield Candidate(entry.name, entry.value, name, version, shape)


def examine(found: Sequence[Candidate]) -> Plugins:
    """Import, check and ask each candidate, then settle names between them."""
    usable, settled = _settle_entry_names(found)
    records, observers = list(settled), {}
    for candidate in usable:
        record, observer = _examine_one(candidate)
        records.append(record)
        if observer is not None:
            observers[record.name, record.distribution] = observer
    records.sort(key=lambda r: (r.name, r.distribution, r.module))
    return Plugins(_settle_offers(records), observers)


def _settle_entry_names(found: Sequence[Candidate]) -> tuple[list[Candidate], list[PluginRecord]]:
    """Candidates whose entry-point name is theirs alone, and records of the others."""
    holders: dict[str, list[Candidate]] = {}
    for candidate in found:
        holders.setdefault(candidate.name, []).append(candidate)
    usable, refused = [], []
    for candidate in found:
        others = [other for other in holders[candidate.name] if other is not candidate]
        reason = candidate.problem or _name_conflict(
            "entry point", candidate.name, candidate.distribution, [other.distribution for other in others]
        )
        if reason:
            state = PluginState.FAILED if candidate.problem else PluginState.REFUSED
            refused.append(candidate.record(state, reason))
        else:
            usable.append(candidate)
    return usable, refused


def _name_conflict(noun: str, name: str, distribution: str, others: Sequence[str]) -> str:
    """Why ``distribution`` cannot have a name that ``others`` want too; empty when it can."""
    if not others:
        return ""
    if SHIPPED_DISTRIBUTION in others and distribution != SHIPPED_DISTRIBUTION:
        return f"{noun} {name!r} is shipped with {SHIPPED_DISTRIBUTION}; a plugin cannot take it"
    rivals = [other for other in others if other == SHIPPED_DISTRIBUTION or distribution != SHIPPED_DISTRIBUTION]
    if not rivals:
        return ""
    return f"{noun} {name!r} is also brought by {', '.join(sorted(set(rivals)))}; all of them are refused"


def _examine_one(candidate: Candidate) -> tuple[PluginRecord, Callable[..., Any] | None]:
    module, reason = guarded(functools.partial(importlib.import_module, candidate.module))
    if reason:
        return candidate.record(PluginState.FAILED, f"import: {reason}"), None
    found, reason = guarded(functools.partial(_implementations, module))
    if found is None:
        return candidate.record(PluginState.FAILED, f"reading its hooks: {reason}"), None
    implementations, problems = found
    if problems:
        return candidate.record(PluginState.REFUSED, "; ".join(problems)), None
    names = sorted({implementation.hook for implementation in implementations})
    hooks = tuple(HookRecord(name, hookspecs.HOOK_VERSIONS[name]) for name in names)
    record = replace(candidate.record(PluginState.LOADED), hooks=hooks)
    record = _collect(record, [i for i in implementations if i.hook != _OBSERVER])
    observers = [i.function for i in implementations if i.hook == _OBSERVER]
    if record.state is not PluginState.LOADED and not record.offers:
        return record, None
    return record, observers[0] if observers else None


@functools.cache
def _manager() -> PluginManager:
    return PluginManager(ENTRY_POINT_GROUP)


def _implementations(module: Any) -> tuple[list[_Implementation], list[str]]:
    """The hooks that a module implements, and everything that is wrong with them; all of it, not the first."""
    found: list[_Implementation] = []
    problems: list[str] = []
    for attribute in sorted(vars(module)):
        value = vars(module)[attribute]
        options = _manager().parse_hookimpl_opts(module, attribute)
        if options is None:
            problems += _forgotten(module, attribute, value)
            continue
        name = options.get("specname") or attribute
        problem = _misfit(name, value, wraps=bool(options.get("wrapper") or options.get("hookwrapper")))
        if problem:
            problems.append(problem)
        else:
            found.append(_Implementation(name, _fitted(name, value)))
    for name, count in Counter(i.hook for i in found).items():
        if count > 1:
            problems.append(f"{name} is implemented {count} times")
    return found, problems


def _forgotten(module: Any, attribute: str, value: Any) -> list[str]:
    """A function that looks like a hook but is not marked as one; pluggy would pass over it in silence."""
    if not inspect.isfunction(value) or not attribute.startswith(f"{ENTRY_POINT_GROUP}_"):
        return []
    if value.__module__ != module.__name__ or not _nearest(attribute):
        return []
    return [f"{attribute} lacks @hookimpl{_hint(attribute)}"]


def _nearest(name: str) -> str:
    return next(iter(difflib.get_close_matches(name, hookspecs.HOOK_VERSIONS, n=1, cutoff=_NEAR)), "")


def _hint(name: str) -> str:
    if name in hookspecs.HOOK_VERSIONS:
        return ""
    near = next(iter(difflib.get_close_matches(name, hookspecs.HOOK_VERSIONS, n=1, cutoff=0)), "")
    return f"; the nearest hook is {near}" if near else ""


def _misfit(name: str, function: Callable[..., Any], *, wraps: bool) -> str:
    """Why a decorated function cannot serve as the hook ``name``."""
    if name not in hookspecs.HOOK_VERSIONS:
        return f"there is no hook {name}{_hint(name)}"
    if wraps:
        return f"{name} is a wrapper; each plugin is called apart, so there is nothing to wrap"
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return f"{name} is async; hooks are plain functions"
    given = inspect.signature(getattr(hookspecs, name))
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    strange = [p.name for p in required if p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
    strange = [parameter for parameter in strange if parameter not in given.parameters]
    if strange:
        return f"{name} asks for {', '.join(strange)}; its signature is {name}{given}"
    return ""


def _fitted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as the façade calls it: an observer may leave out the event."""
    if name != _OBSERVER or inspect.signature(function).parameters:
        return function
    return lambda event: function()


def _collect(record: PluginRecord, implementations: Sequence[_Implementation]) -> PluginRecord:
    """Call each offering hook; one that raises or returns something else takes the whole plugin out."""
    offers: list[Offered] = []
    refusals: list[str] = []
    for implementation in implementations:
        returned, reason = guarded(implementation.function)
        if reason:
            return replace(record, state=PluginState.FAILED, reason=f"{implementation.hook} raised {reason}")
        if not isinstance(returned, (list, tuple)) or not all(isinstance(offer, Offer) for offer in returned):
            reason = f"{implementation.hook} returned {_described(returned)}, not a list of Offer"
            return replace(record, state=PluginState.REFUSED, reason=reason)
        for offer in returned:
            problem = _bad_offer(implementation.hook, offer)
            if problem:
                refusals.append(problem)
            else:
                made = Offered(implementation.hook, offer, record.name, record.distribution, record.version)
                offers.append(made)
    state = PluginState.REFUSED if refusals else PluginState.LOADED
    return replace(record, state=state, reason="; ".join(refusals), offers=tuple(offers))


def _described(returned: Any) -> str:
    if isinstance(returned, (list, tuple)):
        kinds = sorted({type(item).__name__ for item in returned if not isinstance(item, Offer)})
        return f"a {type(returned).__name__} with {', '.join(kinds)}"
    return f"a {type(returned).__name__}"


def _bad_offer(hook: str, offer: Any) -> str:
    """Why an offer is refused on sight, without importing its target."""
    version = hookspecs.HOOK_VERSIONS[hook]
    if not isinstance(offer.name, str) or not _NAME.fullmatch(offer.name):
        return f"{hook}: {offer.name!r} is no name (lower-case letters, digits, '.', '_', '-')"
    if not isinstance(offer.summary, str) or not offer.summary.strip() or not offer.summary.isprintable():
        return f"{hook}: {offer.name!r} has no printable one-line summary"
    if not isinstance(offer.target, str) or not _TARGET.fullmatch(offer.target):
        return f"{hook}: {offer.name!r} points at {offer.target!r}, not at package.module:object"
    if type(offer.api) is not int or offer.api < 1:
        return f"{hook}: {offer.name!r} states the hook version {offer.api!r}"
    if offer.api > version:
        return f"{hook}: {offer.name!r} was written for version {offer.api} of the hook; this auditor has {version}"
    if offer.name in CORE_NAMES.get(hook, ()):
        return f"{hook}: {offer.name!r} is a name of the core"
    return ""


def _settle_offers(records: Sequence[PluginRecord]) -> list[PluginRecord]:
    """Take out offers whose name another plugin has a better or an equal claim to."""
    holders: dict[tuple[str, str], list[Offered]] = {}
    for record in records:
        for offered in record.offers:
            holders.setdefault((offered.hook, offered.name), []).append(offered)
    return [_settle_record(record, holders) for record in records]


def _settle_record(record: PluginRecord, holders: Mapping[tuple[str, str], Sequence[Offered]]) -> PluginRecord:
    kept: list[Offered] = []
    reasons = [record.reason] if record.reason else []
    for offered in record.offers:
        others = [other for other in holders[offered.hook, offered.name] if other is not offered]
        reason = _name_conflict(offered.hook, offered.name, record.distribution, [o.distribution for o in others])
        if reason:
            reasons.append(reason)
        else:
            kept.append(offered)
    if len(kept) == len(record.offers):
        return record
    unique = list(dict.fromkeys(reasons))
    return replace(record, state=PluginState.REFUSED, reason="; ".join(unique), offers=tuple(kept))
