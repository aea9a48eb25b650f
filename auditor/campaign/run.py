"""One run of a campaign: found or begun, gone on with, and brought to its end.

Every stage reads what the ledger lacks and adds it, so running again after anything (a kill, a full disk, Ctrl-C) goes
on where the last process stopped (DESIGN §3, Runs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from auditor.campaign.asking import ask_input, ask_task, system_endpoint
from auditor.campaign.begin import begin, check_code
from auditor.campaign.ending import conclude, findings_of, is_current, last_end
from auditor.campaign.folder import RunFolder, find_runs, new_folder
from auditor.campaign.inherit import Inheritance, open_parent, parent_path
from auditor.campaign.labelling import label_all, prepare
from auditor.campaign.opening import Stores, open_stores
from auditor.discovery import discover
from auditor.engine import Budget, Clock, Endpoint, EndpointLimits, Engine, History, SystemClock, Task, read_histories
from auditor.errors import NotChecked
from auditor.event import Event, RunEnded, RunStarted
from auditor.findings import Findings
from auditor.findings_json import read_findings, write_findings
from auditor.freeze import Campaign, freeze
from auditor.ledger import Entry, FolderLock, Ledger
from auditor.model import TransportOutcome
from auditor.plugins import Plugins
from auditor.record import Record, read_record
from auditor.schedule import Cell
from auditor.spec import check_names, installed_names, load_spec
from auditor.system import Reply

__all__ = ["RunOptions", "RunResult", "RunState", "endpoints", "prepare_campaign", "run_campaign"]

Observe = Callable[[Event], None]
Probe = Callable[[str, str], None]


class RunState(StrEnum):
    """What became of a start."""

    COMPLETE = "complete"  # every cell was asked
    INCOMPLETE = "incomplete"  # ended, with cells that were never asked
    ALREADY = "already_complete"  # it had ended before; nothing was asked


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What is to be run, and how. ``parent``: the run to inherit from."""

    spec: Path
    runs: Path = Path("runs")
    new: bool = False
    retry: bool = False
    parent: Path | None = None
    accept_version: bool = False


@dataclass(frozen=True, slots=True)
class RunResult:
    """Where the run lies and what was found.

    ``ended``: when it last ended, in an earlier process or now. ``asked``: trials that this process asked.
    """

    folder: Path
    state: RunState
    resumed: bool
    ended: str
    findings: Findings
    asked: int

    @property
    def complete(self) -> bool:
        """Whether every cell was asked."""
        return self.state is not RunState.INCOMPLETE


def _no_probe(point: str, key: str) -> None:
    return None


def run_campaign(
    options: RunOptions,
    observe: Observe,
    *,
    plugins: Plugins | None = None,
    clock: Clock | None = None,
    probe: Probe = _no_probe,
    on_engine: Callable[[Engine, Ledger], None] | None = None,
) -> RunResult:
    """Run a spec to its end, or as far as it goes.

    :param observe: told every event, in this thread. :param probe: called at named points, for tests that kill.
    :param on_engine: given the engine and ledger as soon as they exist, for whoever has to stop them on Ctrl-C.
    Raises ``ConfigurationError``, ``PluginError``, ``ChangedRun``, ``LockedRun``, ``StorageError``, ``LedgerError``.
    """
    plugins = plugins or discover()
    inheritance = Inheritance() if options.parent is None else open_parent(parent_path(options.parent))
    campaign = prepare_campaign(options.spec, plugins, inheritance)
    folder, resumed = _folder(options, campaign)
    with FolderLock(folder.path), _ledger(folder, clock or SystemClock(), probe) as ledger:
        begun = begin(campaign, ledger)
        ended = last_end(ledger)
        if ledger.is_sealed and ended is not None and not options.retry:
            findings = _findings(campaign, ledger, folder)
            state = RunState.ALREADY if findings.operations["complete"] else RunState.INCOMPLETE
            return RunResult(folder.path, state, True, ended, findings, asked=0)
        if not begun:
            check_code(campaign, ledger, accept=options.accept_version)
        process = _Process(options, campaign, ledger, folder, inheritance, observe, clock or SystemClock(), probe)
        if on_engine is not None:
            on_engine(process.engine, ledger)
        return process.run(resumed)


def prepare_campaign(spec: Path, plugins: Plugins, inheritance: Inheritance | None = None) -> Campaign:
    """The frozen campaign of a spec; offline."""
    loaded = load_spec(spec)
    check_names(loaded, installed_names(plugins))
    return freeze(loaded, plugins, inheritance.parent if inheritance else None)


def _folder(options: RunOptions, campaign: Campaign) -> tuple[RunFolder, bool]:
    """The folder to work in, and whether it was there before."""
    name, digest = campaign.spec.name, campaign.design.digest
    known = () if options.new else find_runs(options.runs, name, digest)
    return (known[-1], True) if known else (new_folder(options.runs, name, digest), False)


@contextmanager
def _ledger(folder: RunFolder, clock: Clock, probe: Probe) -> Iterator[Ledger]:
    make = Ledger.open if folder.ledger.exists() else Ledger.create
    ledger = make(folder.ledger, clock=clock.now, probe=lambda point: probe(point, ""))
    try:
        yield ledger
    finally:
        ledger.close()


def _findings(campaign: Campaign, ledger: Ledger, folder: RunFolder) -> Findings:
    """The findings of a run that has ended, written again when a kill took them or left those of an earlier seal."""
    with suppress(NotChecked):
        written = read_findings(folder.findings)
        if is_current(written, ledger):
            return written
    findings = findings_of(campaign, ledger)
    write_findings(findings, folder.findings)
    return findings


class _Process:
    """The work of one process on one run."""

    def __init__(
        self,
        options: RunOptions,
        campaign: Campaign,
        ledger: Ledger,
        folder: RunFolder,
        inheritance: Inheritance,
        observe: Observe,
        clock: Clock,
        probe: Probe,
    ) -> None:
        self.options, self.campaign, self.ledger, self.folder = options, campaign, ledger, folder
        self.inheritance, self.observe, self.clock, self.probe = inheritance, observe, clock, probe
        limits = campaign.spec.limits
        self.engine = Engine(
            ledger,
            endpoints(campaign),
            clock=clock,
            seed=campaign.spec.seed,
            budget=Budget(limits.max_cost_usd, spent_usd=_spent(read_record(ledger))),
            observe=observe,
            run_name=folder.name,
            run_deadline_s=None if limits.run_deadline_s is None else float(limits.run_deadline_s),
            probe=probe,
        )

    def run(self, resumed: bool) -> RunResult:
        self.observe(RunStarted(self.folder.name, resumed=resumed))
        stores = open_stores(self.campaign, self.ledger, self.engine, self.folder, accept=self.options.accept_version)
        asked = self._ask(stores)
        prepare(self.campaign, self.ledger, read_record(self.ledger))
        label_all(self.campaign, self.ledger, self.engine, self.inheritance, retry=self.options.retry)
        self.engine.shutdown(1.0)
        findings = conclude(
            self.campaign, self.ledger, self.folder, self.clock.now(), lambda point: self.probe(point, "")
        )
        complete = bool(findings.operations["complete"])
        self.observe(RunEnded(self.folder.name, complete=complete))
        state = RunState.COMPLETE if complete else RunState.INCOMPLETE
        return RunResult(self.folder.path, state, resumed, last_end(self.ledger) or "", findings, asked)

    def _ask(self, stores: Stores) -> int:
        record, histories = read_record(self.ledger), read_histories(self.ledger)
        tasks: list[Task[Reply]] = []
        left: dict[str, str] = {}
        for cell in self.campaign.cells:
            history = histories.get(cell.key, History())
            if self._is_done(cell, record, history):
                continue
            if history == History() and self.inheritance.take(self.ledger, cell.key, ask_input(self.campaign, cell)):
                continue
            store = stores.store(self.campaign.pairs[cell.pair][0], cell.variant)
            if store is None:
                left[cell.key] = stores.reason(self.campaign.pairs[cell.pair][0], cell.variant)
            else:
                tasks.append(ask_task(self.campaign, cell, store, history))
        self.ledger.flush()  # what was inherited is read back by the next stage
        if tasks:
            left |= self.engine.run("ask", tasks).unasked
        self._note_unasked(left)
        return len(tasks)

    def _is_done(self, cell: Cell, record: Record, history: History) -> bool:
        outcome = record.outcomes.get(cell.key)
        if outcome is None or not history.ended:
            return False
        technical = outcome.transport in {TransportOutcome.FAILED, TransportOutcome.QUOTA_EXHAUSTED}
        return not (self.options.retry and technical)

    def _note_unasked(self, left: Mapping[str, str]) -> None:
        """Why each cell that this process leaves was not asked; a cell without an outcome is never silently missing."""
        number = sum(1 for _ in self.ledger.rows("unasked"))
        entries = [
            Entry("unasked", f"{key}/{number + place}", {"reason": reason})
            for place, (key, reason) in enumerate(sorted(left.items()))
        ]
        if entries:
            self.ledger.append_wait(entries)


def endpoints(campaign: Campaign) -> dict[str, Endpoint]:
    """Every endpoint of a campaign. Deadline and attempts are the same for all; a system may state lower rates."""
    found: dict[str, Endpoint] = {}
    shared = campaign.spec.limits
    named = [
        *((system_endpoint(campaign, number), block.limits) for number, block in enumerate(campaign.spec.systems)),
        *((f"model:{name}", block.limits) for name, block in campaign.spec.models.items()),
        *((seat.endpoint, None) for seat in campaign.seats if not seat.endpoint.startswith("model:")),
    ]
    for name, limits in named:
        if name not in found:
            found[name] = Endpoint(
                name,
                EndpointLimits(
                    slots=(limits.slots if limits and limits.slots else shared.slots),
                    requests_per_minute=limits.requests_per_minute if limits else None,
                    tokens_per_minute=limits.tokens_per_minute if limits else None,
                    attempts=shared.attempts,
                    deadline_s=float(shared.deadline_s),
                ),
            )
    return found


def _spent(record: Record) -> Decimal:
    """What earlier processes of this run paid, as far as it is known."""
    costs = (outcome.body.get("cost_usd") for outcome in record.outcomes.values())
    return sum((Decimal(cost) for cost in costs if cost is not None), Decimal(0))
