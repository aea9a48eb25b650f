"""A run as others read it: data frames, typed findings, and the check that its numbers follow from its ledger.

Everything is read from the ledger through a reader that trusts nothing; no third party's code is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.analysis import Analysis, AnalysisView
from auditor.campaign.ending import compute, is_current, stated_seal
from auditor.campaign.folder import RunFolder
from auditor.canonical import Json, canonical
from auditor.errors import AuditorError, ExitCode, NotChecked, RunError
from auditor.findings import Findings, Section
from auditor.findings_json import Comparison, compare, read_findings, section_from_json
from auditor.judge import VerdictKind
from auditor.label import LabelKind
from auditor.ledger import Check, CheckState, Reader, Row, Seal, VerifyReport, verify
from auditor.measure import analysis_view
from auditor.penalty import PenaltyAnalysis
from auditor.protocol import Skeleton
from auditor.record import read_record
from auditor.stance import StanceKind
from auditor.writer import ReportData, VoteRow

if TYPE_CHECKING:
    import pandas as pd

    from auditor.plugins import Plugins

__all__ = ["Run", "RunReport", "check_findings", "first_page_of", "recompute", "shipped_parts", "verify_run"]


class Run:
    """A run folder, or a ledger file, read only.

    ``trials``, ``votes`` and ``questions`` are pandas data frames; ``findings`` are typed. A text that was withheld is
    missing (None), and every number stands all the same.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.folder = _run_folder(Path(path))

    @cached_property
    def findings(self) -> Findings:
        """The findings as they were written when the run ended.

        Computed from the ledger where there are none that rest on all of it: the run was stopped, or retried since.
        """
        with suppress(NotChecked), Reader(self.folder.ledger) as reader:
            written = read_findings(self.folder.findings)
            if is_current(written, reader):
                return written
        with _understood(self.folder.ledger):
            parts = shipped_parts(self.skeleton)
        return recompute(self.folder.ledger, *parts)

    @cached_property
    def view(self) -> AnalysisView:
        """All trials with their states and all labels, without a text."""
        with Reader(self.folder.ledger) as reader, _understood(self.folder.ledger):
            skeleton = _skeleton(reader)
            return analysis_view(skeleton, read_record(reader), shipped_parts(skeleton)[0])

    @property
    def skeleton(self) -> Skeleton:
        """The protocol without its texts."""
        with Reader(self.folder.ledger) as reader:
            return _skeleton(reader)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """All texts that are not withheld, by ledger key."""
        with Reader(self.folder.ledger) as reader:
            return {row.key: row.text for row in reader.rows("text") if row.text is not None}

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row a trial: system (``system_title``: with its marks), question, repeat, stratum, state, score, labels,
        answer, latency, cost.
        """
        import pandas as pd

        skeleton, view, texts = self.skeleton, self.view, self.texts
        points = {row["key"]: row for row in self.findings.trials}
        return pd.DataFrame(
            [
                {
                    "key": trial.key,
                    "system": view.systems[trial.system].name,
                    "system_title": view.systems[trial.system].title,
                    "variant": trial.variant,
                    "question": _private(texts, trial.question).get("id", f"q{trial.question}"),
                    "question_text": texts.get(
                        f"question/{trial.question}/{_form(skeleton, trial.question, trial.form)}"
                    ),
                    "repeat": trial.repeat,
                    "stratum": points[trial.key]["stratum"],
                    "state": trial.state.value,
                    "detail": trial.detail,
                    "score": None if points[trial.key]["score"] is None else float(str(points[trial.key]["score"])),
                    "stance": _reduced(view, trial.labels.get("stance"), "stance"),
                    "verdict": _reduced(view, trial.labels.get("verdict"), "verdict"),
                    "answer": texts.get(f"{trial.key}#{trial.attempts}/answer"),
                    "flags": ", ".join(trial.flags),
                    "chunks": trial.chunks,
                    "citations": trial.citations,
                    "attempts": trial.attempts,
                    "latency_ms": None if trial.latency_ms is None else float(trial.latency_ms),
                    "cost_usd": None if trial.cost_usd is None else float(trial.cost_usd),
                }
                for trial in view.trials
            ]
        )

    @cached_property
    def votes(self) -> pd.DataFrame:
        """One row a labeller and unique input: the vote or why there is none, before and after repair."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self._votes()])

    def _votes(self) -> tuple[VoteRow, ...]:
        view = self.view
        seats = {(seat.kind, seat.ordinal): seat for seat in view.labellers}
        return tuple(
            VoteRow(
                kind=kind,
                input=row.key,
                labeller=seats[kind, vote.labeller].name,
                family=seats[kind, vote.labeller].family,
                vote=_shown(vote.value),
                non_label=_shown(vote.non_label),
                first_vote=_shown(first.value),
                first_non_label=_shown(first.non_label),
                reduced=_shown(row.value),
            )
            for kind, rows in view.labels.items()
            for row in rows.values()
            for vote, first in zip(row.votes, row.first_votes, strict=True)
        )

    @cached_property
    def questions(self) -> pd.DataFrame:
        """One row a question: id, kind, cluster, wording, references, tags, grade of its proof."""
        import pandas as pd

        view, texts = self.view, self.texts
        return pd.DataFrame(
            [
                {
                    "ordinal": question.ordinal,
                    "question": _private(texts, question.ordinal).get("id"),
                    "kind": question.kind.value,
                    "cluster": _private(texts, question.ordinal).get("cluster"),
                    "text": texts.get(f"question/{question.ordinal}/0"),
                    "references": _private(texts, question.ordinal).get("references"),
                    "tags": list(question.tags),
                    "proof": ", ".join(sorted({grade.value for grade in question.proofs.values()})) or None,
                }
                for question in view.questions
            ]
        )

    def report_data(self, *, public: bool = False) -> ReportData:
        """What report writers are given."""
        shown, first_page = ({} if public else self.texts), first_page_of(self.findings)
        return ReportData(self.findings, self.skeleton.body, shown, public, self._votes(), first_page)


def _run_folder(path: Path) -> RunFolder:
    folder = RunFolder(path.parent if path.is_file() else path)
    if not folder.ledger.is_file():
        raise RunError(f"{path} is no run: there is no ledger.sqlite in it")
    return folder


def _skeleton(reader: Reader) -> Skeleton:
    row = reader.get("protocol", "0")
    if row is None or row.body is None:
        raise RunError(f"{reader.path}: the run has not begun, its ledger holds no protocol")
    return Skeleton(row.body)


def _private(texts: Mapping[str, str], question: int) -> Mapping[str, Any]:
    key = f"question/{question}/private"
    with _understood(key):
        return {} if key not in texts else dict(json.loads(texts[key]))


def _form(skeleton: Skeleton, question: int, name: str) -> int:
    return skeleton.forms(question).index(name)


def _shown(value: Json) -> str | None:
    return None if value is None else value if isinstance(value, str) else canonical(value).decode()


def _reduced(view: AnalysisView, key: str | None, kind: str) -> str | None:
    value = None if key is None else view.labels[kind][key].value
    return None if value is None else str(value)


def first_page_of(findings: Findings) -> Section | None:
    """The first page as it was made with the findings; None in findings that have none."""
    body = findings.operations.get("first_page")
    return section_from_json(body) if isinstance(body, Mapping) else None


Parts = tuple[tuple[LabelKind, ...], tuple[tuple[Analysis, Mapping[str, Any]], ...]]


def shipped_parts(skeleton: Skeleton, trusted: Collection[str] = ()) -> Parts:
    """Label kinds and analyses of a protocol that the auditor's own distribution has, and the ``trusted`` ones."""
    from auditor.discovery import candidates, discover, examine

    shipped = examine([candidate for candidate in candidates() if candidate.shipped])
    kinds = [_label_kind(name, discover() if name in trusted else shipped) for name in skeleton.label_kinds]
    analyses = [
        (_analysis(name, discover() if name in trusted else shipped), settings)
        for name, settings in skeleton.analyses.items()
    ]
    return tuple(kind for kind in kinds if kind), tuple((made, settings) for made, settings in analyses if made)


def _label_kind(name: str, plugins: Plugins) -> LabelKind | None:
    own = {StanceKind.name: StanceKind, VerdictKind.name: VerdictKind}
    if name in own:
        return own[name]()
    return plugins.label_kind(name)() if name in {offered.name for offered in plugins.label_kinds()} else None


def _analysis(name: str, plugins: Plugins) -> Analysis | None:
    if name == PenaltyAnalysis.name:
        return PenaltyAnalysis()
    return plugins.analysis(name)() if name in {offered.name for offered in plugins.analyses()} else None


def recompute(ledger: Path, kinds: tuple[LabelKind, ...], analyses: Any, seal: Seal | None = None) -> Findings:
    """Findings of a ledger file, from its entries alone.

    :param seal: stop at this seal, as findings that were written then did.
    Raises ``NotChecked`` where the entries are not a run's as this auditor writes them.
    """
    with Reader(ledger) as reader, _understood(ledger):
        return compute(reader if seal is None else _Until(reader, seal.count + 1), kinds, analyses)


@dataclass(frozen=True, slots=True)
class _Until:
    """The entries of a ledger up to one of them."""

    reader: Reader
    last: int

    def rows(self, kind: str | None = None) -> Iterator[Row]:
        return (row for row in self.reader.rows(kind) if row.sequence <= self.last)


@contextmanager
def _understood(what: object) -> Iterator[None]:
    """What goes wrong over entries that nobody vouches for becomes ``NotChecked``.

    A chain can be whole and yet hold anything: a protocol without systems, an outcome of no known kind.
    """
    try:
        yield
    except AuditorError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
        raise NotChecked(f"{what}: is not what a run of this auditor holds ({said})") from error


@dataclass(frozen=True, slots=True)
class RunReport(VerifyReport):
    """The checks of a run folder: those of its ledger, then those of its findings."""

    @property
    def exit_code(self) -> ExitCode:
        """As the ledger's; ``NOT_CHECKED`` where only findings could not be recomputed."""
        code = VerifyReport.exit_code.fget(self)  # type: ignore[attr-defined] # super() is empty in slotted dataclasses
        unread = any(c.state is CheckState.NOT_CHECKED and c.name.startswith("findings") for c in self.checks)
        return ExitCode.NOT_CHECKED if code is ExitCode.OK and unread else ExitCode(code)


def verify_run(path: Path, *, trusted: Collection[str] = ()) -> RunReport:
    """All checks of a run folder: its ledger's, then whether its findings follow from it.

    :param trusted: names of third parties' analyses and label kinds that may be loaded to recompute their sections.
    Raises ``RunError`` when ``path`` holds no ledger.
    """
    folder = _run_folder(path)
    written, unread = _written(folder)
    seal = None if written is None else stated_seal(written)
    report = verify(folder.ledger, expected=seal)
    if report.exit_code not in {ExitCode.OK, ExitCode.NOT_SEALED}:
        return _run_report(report, [Check("findings", CheckState.NOT_CHECKED, "the ledger they rest on is not whole")])
    if written is None:
        return _run_report(report, [Check("findings", CheckState.NOT_CHECKED, unread)])
    try:
        checks = check_findings(written, folder.ledger, report.count, trusted, seal=seal)
    except (NotChecked, RunError) as error:
        checks = [Check("findings", CheckState.NOT_CHECKED, str(error))]
    return _run_report(report, checks)


def _written(folder: RunFolder) -> tuple[Findings | None, str]:
    """The findings of a folder, or None and why not."""
    try:
        return read_findings(folder.findings), ""
    except NotChecked as error:
        return None, str(error)


def _run_report(report: VerifyReport, checks: list[Check]) -> RunReport:
    whole = (*report.checks, *checks)
    return RunReport(report.path, whole, report.count, report.head, report.seal, report.withheld)


def check_findings(
    written: Findings, ledger: Path, count: int, trusted: Collection[str] = (), *, seal: Seal | None = None
) -> list[Check]:
    """Whether ``written`` follows from a ledger file of ``count`` entries that is known to be whole.

    A line for the whole, and one for each section that only a third party's code could recompute. ``seal``: the one
    that the findings rest on.
    """
    with Reader(ledger) as reader, _understood(ledger):
        skeleton = _skeleton(reader)
        kinds, analyses = shipped_parts(skeleton, trusted)
    again = recompute(ledger, kinds, analyses, seal)
    known = {kind.name for kind in kinds} | {analysis.name for analysis, _ in analyses}
    left = [name for name in (*skeleton.label_kinds, *skeleton.analyses) if name not in known]
    written = replace(written, sections=tuple(s for s in written.sections if s.name not in left))
    outcome, fields = compare(written, again)
    state = CheckState.FAILED if outcome is Comparison.DIFFERENT else CheckState.PASSED
    where = f" ({', '.join(fields)})" if fields else ""
    rests_on = count if seal is None else seal.count + 1
    detail = f"recomputed from {rests_on} entries: {outcome.value}{where}"
    others = [
        Check(f"findings: {name}", CheckState.NOT_CHECKED, f"a third party's; --with-analysis {name} loads its code")
        for name in left
    ]
    if rests_on < count:
        later = f"{count - rests_on} entries came after the seal that they rest on; running again writes them anew"
        others.append(Check("findings current", CheckState.NOT_CHECKED, later))
    return [Check("findings", state, detail), *others]
