"""What the installed plugins offer, typed: the core asks here, one method a hook, and gets what keeps the contract.

Invariant: nothing a plugin does reaches the caller but ``PluginError`` and ``KeyboardInterrupt``. A plugin that failed
or was refused is a record beside the others, never a missing line.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from auditor.errors import PluginError

if TYPE_CHECKING:
    import click

    from auditor.analysis import Analysis
    from auditor.event import Event
    from auditor.label import LabelKind, Labeller
    from auditor.model import ChatModel, Embedder, Reranker
    from auditor.plugin import Offer
    from auditor.source import CanaryBuilder, CorpusSource, Importer, QuestionSource, Sandbox
    from auditor.system import System
    from auditor.writer import ReportWriter

__all__ = ["HookRecord", "Offered", "PluginRecord", "PluginState", "Plugins", "contained", "guarded"]

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_MAX_REASON = 500


class PluginState(StrEnum):
    """What became of an entry point. Only ``LOADED`` means that everything it offers can be used."""

    LOADED = "loaded"
    FAILED = "failed"  # its import or one of its hooks raised; nothing of it is used
    REFUSED = "refused"  # it breaks a rule; ``PluginRecord.offers`` holds what can be used all the same


@dataclass(frozen=True, slots=True)
class HookRecord:
    """A hook that a plugin implements, with the version of the hook's contract in this auditor."""

    name: str
    version: int


@dataclass(frozen=True, slots=True)
class Offered:
    """One offer that can be used, and who makes it."""

    hook: str
    offer: Offer
    plugin: str
    distribution: str
    version: str

    @property
    def name(self) -> str:
        """The name in a spec or on the command line."""
        return self.offer.name

    @property
    def summary(self) -> str:
        """One line of help."""
        return self.offer.summary

    @property
    def module(self) -> str:
        """The top-level package that the target stands in."""
        return self.offer.target.partition(":")[0].partition(".")[0]

    def load(self) -> Any:
        """Import and return the target; raises ``PluginError`` for whatever goes wrong, ``SystemExit`` included."""
        value, reason = guarded(self.offer.load)
        if reason:
            raise PluginError(f"{self.plugin} ({self.distribution} {self.version}): {reason}")
        return value


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """One entry point of the group ``auditor``. ``reason`` is empty only when the state is ``LOADED``."""

    name: str
    distribution: str
    version: str
    module: str
    state: PluginState
    reason: str = ""
    hooks: tuple[HookRecord, ...] = ()
    offers: tuple[Offered, ...] = ()


def guarded(call: Callable[[], T]) -> tuple[T | None, str]:
    """What ``call`` returns, or why it did not. What it prints goes to standard error: ``--json`` stays whole."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return call(), ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, and SystemExit is no exception here
        return None, _told(error)


def contained(owner: object, call: Callable[[], T]) -> tuple[T | None, str]:
    """What a plugin's object ``owner`` returns, or the class of its error: it costs the plugin's own part alone.

    The class stands for the error where what is said enters a measurement: texts hold addresses and times. All of it is
    logged. An error of the core's own code is not contained, since nothing is worth reporting without it.
    """
    if type(owner).__module__.partition(".")[0] == "auditor":
        return call(), ""
    value, reason = guarded(call)
    if reason:
        _LOG.warning("%s.%s: %r", type(owner).__module__, type(owner).__qualname__, reason)
    return value, reason.partition(":")[0]


def _told(error: BaseException) -> str:
    """An error in one bounded line; a class may break its own ``__str__``."""
    try:
        text = " ".join(str(error).split())[:_MAX_REASON]
    except Exception as broken:  # noqa: BLE001 - the text is the plugin's code too
        text = f"its text cannot be had ({type(broken).__name__})"
    return text if isinstance(error, PluginError) else f"{type(error).__name__}: {text}".removesuffix(": ")


class Plugins:
    """The typed façade over all hooks. Made by ``auditor.discovery.discover``.

    ``observers``: the ``auditor_on_event`` implementations by (plugin, distribution).
    """

    def __init__(
        self,
        records: Sequence[PluginRecord],
        observers: Mapping[tuple[str, str], Callable[[Event], object]] | None = None,
    ) -> None:
        self._records = tuple(records)
        self._observers = dict(observers or {})
        self._raised: dict[tuple[str, str], str] = {}
        self._offers: dict[str, dict[str, Offered]] = {}
        for record in self._records:
            for offered in record.offers:
                self._offers.setdefault(offered.hook, {})[offered.name] = offered

    @property
    def records(self) -> tuple[PluginRecord, ...]:
        """Every entry point found, by name; observers that raised since are ``FAILED`` here."""
        return tuple(
            replace(record, state=PluginState.FAILED, reason=self._raised[key])
            if (key := (record.name, record.distribution)) in self._raised
            else record
            for record in self._records
        )

    def offered(self, hook: str) -> tuple[Offered, ...]:
        """All offers of one hook, by name."""
        return tuple(sorted(self._offers.get(hook, {}).values(), key=lambda offered: offered.name))

    def find(self, hook: str, name: str, noun: str = "plugin offer") -> Offered:
        """One offer; raises ``PluginError`` with the nearest names and what was refused or failed under this name."""
        known = self._offers.get(hook, {})
        if name in known:
            return known[name]
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or sorted(known)
        hint = f"did you mean {' or '.join(near)}?" if near else "no installed plugin offers any"
        broken = [f"{r.name}: {r.reason}" for r in self._records if r.state is not PluginState.LOADED]
        lost = f" Not loaded: {'; '.join(broken)}." if broken else ""
        raise PluginError(f"unknown {noun} {name!r}: {hint}{lost}")

    def system(self, name: str) -> type[System]:
        """A kind of system."""
        from auditor.system import System

        return self._class("auditor_systems", name, System, "system kind", configured=True)

    def systems(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_systems``."""
        return self.offered("auditor_systems")

    def chat_model(self, name: str) -> type[ChatModel]:
        """A kind of chat model."""
        from auditor.model import ChatModel

        return self._class("auditor_chat_models", name, ChatModel, "chat model kind", configured=True)

    def chat_models(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_chat_models``."""
        return self.offered("auditor_chat_models")

    def embedder(self, name: str) -> type[Embedder]:
        """A kind of embedder."""
        from auditor.model import Embedder

        return self._class("auditor_embedders", name, Embedder, "embedder")

    def embedders(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_embedders``."""
        return self.offered("auditor_embedders")

    def reranker(self, name: str) -> type[Reranker]:
        """A kind of reranker."""
        from auditor.model import Reranker

        return self._class("auditor_rerankers", name, Reranker, "reranker")

    def rerankers(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_rerankers``."""
        return self.offered("auditor_rerankers")

    def judge(self, name: str) -> type[Labeller]:
        """A judge that needs no chat model."""
        from auditor.label import Labeller

        return self._class("auditor_judges", name, Labeller, "judge")

    def judges(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_judges``."""
        return self.offered("auditor_judges")

    def stance_classifier(self, name: str) -> type[Labeller]:
        """A stance classifier that needs no chat model."""
        from auditor.label import Labeller

        return self._class("auditor_stance_classifiers", name, Labeller, "stance classifier")

    def stance_classifiers(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_stance_classifiers``."""
        return self.offered("auditor_stance_classifiers")

    def label_kind(self, name: str) -> type[LabelKind]:
        """A label kind beside stance and verdict."""
        from auditor.label import LabelKind

        return self._class("auditor_label_kinds", name, LabelKind, "label kind", named=True)

    def label_kinds(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_label_kinds``."""
        return self.offered("auditor_label_kinds")

    def analysis(self, name: str) -> type[Analysis]:
        """An analysis beside the core's."""
        from auditor.analysis import Analysis

        return self._class("auditor_analyses", name, Analysis, "analysis", named=True)

    def analyses(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_analyses``."""
        return self.offered("auditor_analyses")

    def corpus_source(self, name: str) -> type[CorpusSource]:
        """A source of documents."""
        from auditor.source import CorpusSource

        return self._class("auditor_corpus_sources", name, CorpusSource, "corpus source", configured=True)

    def corpus_sources(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_corpus_sources``."""
        return self.offered("auditor_corpus_sources")

    def question_source(self, name: str) -> type[QuestionSource]:
        """A source of questions."""
        from auditor.source import QuestionSource

        return self._class("auditor_question_sources", name, QuestionSource, "question source", configured=True)

    def question_sources(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_question_sources``."""
        return self.offered("auditor_question_sources")

    def canary_builder(self, name: str) -> type[CanaryBuilder]:
        """A builder of canaries and proofs."""
        from auditor.source import CanaryBuilder

        return self._class("auditor_canary_builders", name, CanaryBuilder, "canary builder", configured=True)

    def canary_builders(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_canary_builders``."""
        return self.offered("auditor_canary_builders")

    def report_writer(self, name: str) -> type[ReportWriter]:
        """A writer of findings."""
        from auditor.writer import ReportWriter

        return self._class("auditor_report_writers", name, ReportWriter, "report format")

    def report_writers(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_report_writers``."""
        return self.offered("auditor_report_writers")

    def importer(self, name: str) -> type[Importer]:
        """An importer of another tool's transcripts."""
        from auditor.source import Importer

        return self._class("auditor_importers", name, Importer, "importer")

    def importers(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_importers``."""
        return self.offered("auditor_importers")

    def sandbox(self, name: str) -> type[Sandbox]:
        """A vendor's twin on the loopback interface."""
        from auditor.source import Sandbox

        return self._class("auditor_sandboxes", name, Sandbox, "sandbox")

    def sandboxes(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_sandboxes``."""
        return self.offered("auditor_sandboxes")

    def bundled_spec(self, name: str) -> Path:
        """The path of a spec that a package ships."""
        offered = self.find("auditor_bundled_specs", name, "bundled spec")
        path, reason = guarded(offered.load())
        if not reason and not isinstance(path, Path):
            reason = f"returned {type(path).__name__}, not a Path"
        if not isinstance(path, Path) or not path.is_file():
            raise PluginError(f"{offered.plugin}: bundled spec {name!r}: {reason or f'no file at {path}'}")
        return path

    def bundled_specs(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_bundled_specs``."""
        return self.offered("auditor_bundled_specs")

    def command(self, name: str) -> click.Command:
        """A subcommand of ``auditor``."""
        import click

        offered = self.find("auditor_commands", name, "command")
        command = offered.load()
        if not isinstance(command, click.Command):
            raise PluginError(f"{offered.plugin}: {offered.offer.target} is no click.Command")
        return command

    def commands(self) -> tuple[Offered, ...]:
        """Offers of ``auditor_commands``."""
        return self.offered("auditor_commands")

    def notify(self, event: Event) -> None:
        """Tell every observer. One that raises is recorded and not called again."""
        for key, observer in list(self._observers.items()):
            _, reason = guarded(partial(observer, event))
            if reason:
                self._raised[key] = f"auditor_on_event: {reason}"
                del self._observers[key]

    def _class(
        self, hook: str, name: str, base: type[T], noun: str, *, configured: bool = False, named: bool = False
    ) -> type[T]:
        """Load an offer and hold it against its contract.

        :param configured: the contract demands a ``config_model``. :param named: it demands a ``name`` equal to the
            offer's, since ledger entries and sections carry the class's own.
        """
        offered = self.find(hook, name, noun)
        loaded: Any = offered.load()
        problem = ""
        if not (isinstance(loaded, type) and issubclass(loaded, base)):
            problem = f"is no subclass of {base.__module__}.{base.__qualname__}"
        elif inspect.isabstract(loaded):
            problem = f"does not define {', '.join(sorted(getattr(loaded, '__abstractmethods__', ())))}"
        elif configured and not isinstance(getattr(loaded, "config_model", None), type):
            problem = "has no config_model"
        elif named and getattr(loaded, "name", None) != name:
            problem = f"calls itself {getattr(loaded, 'name', None)!r}"
        if problem:
            raise PluginError(f"{offered.plugin}: {noun} {name!r}: {offered.offer.target} {problem}")
        kept: type[T] = loaded
        return kept
