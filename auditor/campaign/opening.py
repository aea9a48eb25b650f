"""Opening stores: one for each system and corpus variant, all at the same time, each compared with what it was.

The threads are daemons: a store that never opens must not hold the process when the user stops it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from auditor.campaign.asking import port_embedders, port_models, system_endpoint
from auditor.campaign.folder import RunFolder
from auditor.canonical import Json, canonical, keyed_digest
from auditor.engine import Engine, lend_work
from auditor.engine.record import stopped_entry
from auditor.engine.settle import classified
from auditor.engine.work import StoreWork
from auditor.errors import CallError, ChangedRun, Fault, FaultReport
from auditor.freeze import Campaign
from auditor.ledger import Entry, Ledger
from auditor.system import Store

__all__ = ["Stores", "open_stores"]

_NOT_READY = "store not ready"
_WAIT_S = 0.2  # a join without end would keep Ctrl-C waiting


@dataclass(frozen=True, slots=True)
class Stores:
    """Stores by (system, variant), and why others could not be opened."""

    opened: Mapping[tuple[int, int], Store] = field(default_factory=dict)
    failed: Mapping[tuple[int, int], FaultReport] = field(default_factory=dict)

    def store(self, system: int, variant: int) -> Store | None:
        """The store of a system over a corpus variant; None when it could not be opened."""
        return self.opened.get((system, variant))

    def reason(self, system: int, variant: int) -> str:
        """Why there is no store: the fault alone. What was said of it (names, times, counts) is a ``stopped`` entry,
        since a trial's reason is part of the measurement.
        """
        return f"{_NOT_READY}: {self.failed[system, variant].fault}"


def open_stores(campaign: Campaign, ledger: Ledger, engine: Engine, folder: RunFolder, *, accept: bool) -> Stores:
    """Open every store. A system whose store fails is left out and says why; the others go on.

    Raises ``ChangedRun`` when a store is not what it was at an earlier start, unless ``accept``.
    """
    wanted = sorted({(campaign.pairs[cell.pair][0], cell.variant) for cell in campaign.cells})
    opened: dict[tuple[int, int], Store] = {}
    failed: dict[tuple[int, int], FaultReport] = {}

    def open_one(place: tuple[int, int]) -> None:
        try:
            opened[place] = _open(campaign, ledger, engine, folder, *place)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything; this system alone is left out
            failed[place] = classified(campaign.systems[place[0]].classify, error)

    threads = [threading.Thread(target=open_one, args=(place,), daemon=True, name=f"open {place}") for place in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(_WAIT_S)
    for place, report in sorted(failed.items()):
        _note_failure(ledger, place, system_endpoint(campaign, place[0]), report)
    for place, store in opened.items():
        _observe(ledger, place, store, accept=accept)
    return Stores(opened, failed)


def _open(campaign: Campaign, ledger: Ledger, engine: Engine, folder: RunFolder, number: int, variant: int) -> Store:
    system, corpus = campaign.systems[number], campaign.corpora[variant]
    work = StoreWork(
        engine=engine,
        ledger=ledger,
        key=f"open/{number}.{variant}",
        endpoint=system_endpoint(campaign, number),
        store_name=f"rag-auditor-{folder.name}-{number}-{variant}",
        cache=folder.cache,
        classify=system.classify,
        input=keyed_digest(campaign.run_key, ["open", campaign.design.texts[f"system/{number}/config"], corpus.digest]),
        run_key=campaign.run_key,
        models=port_models(campaign, number),
        embedders=port_embedders(campaign, number),
    )
    with lend_work(work) as handle:
        return _checked(system.open(corpus, handle))


def _checked(store: object) -> Store:
    """A store whose id and observation can be written down and compared."""
    if not isinstance(store, Store):
        raise CallError(FaultReport(Fault.CONTRACT, f"open returned {type(store).__name__}, not a Store"))
    try:
        canonical({"store": store.id, "observed": dict(store.observed)})
    except (TypeError, ValueError, RecursionError) as error:
        raise CallError(FaultReport(Fault.CONTRACT, f"what open says of its store cannot be kept: {error}")) from error
    return store


def _note_failure(ledger: Ledger, place: tuple[int, int], endpoint: str, report: FaultReport) -> None:
    prefix = f"open/{place[0]}.{place[1]}/"
    number = sum(row.key.startswith(prefix) for row in ledger.rows("stopped"))
    ledger.append_wait([stopped_entry(f"{prefix}{number}", endpoint, _NOT_READY, report)])


def _observe(ledger: Ledger, place: tuple[int, int], store: Store, *, accept: bool) -> None:
    """Record what the world says of a store, and compare it with what it said before."""
    prefix = f"open/{place[0]}.{place[1]}/"
    before = [row for row in ledger.rows("observed") if row.key.startswith(prefix)]
    body: dict[str, Json] = {"store": store.id, "observed": dict(store.observed)}
    if before and before[-1].body == body:
        return
    if before and not accept:
        raise ChangedRun(
            f"the store of system {place[0]} is not what it was when the run was begun: "
            f"{before[-1].body} became {body}. --accept-version goes on and records it, --new asks anew"
        )
    ledger.append_wait([Entry("observed", f"{prefix}{len(before)}", body)])
