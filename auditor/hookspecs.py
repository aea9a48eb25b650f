"""Every hook that a plugin may implement, with when it is called and what comes of it.

All hooks return offers (``auditor.plugin.Offer``): names with import paths. They are called once, when a command
first needs to
know what is installed; nothing that an offer points at is imported then. The neutral value is the empty list. The
order of
plugins does not matter: names are unique, a shipped name wins over a third party's, equal third-party names are all
refused.
``HOOK_VERSIONS`` holds the version of each hook's contract; an offer written for a later one is refused with the
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pluggy import HookspecMarker

if TYPE_CHECKING:
    from auditor.event import Event
    from auditor.plugin import Offer

__all__ = ["HOOK_VERSIONS"]

hookspec = HookspecMarker("auditor")

HOOK_VERSIONS = {
    "auditor_analyses": 1,
    "auditor_bundled_specs": 1,
    "auditor_canary_builders": 1,
    "auditor_chat_models": 1,
    "auditor_commands": 1,
    "auditor_corpus_sources": 1,
    "auditor_embedders": 1,
    "auditor_importers": 1,
    "auditor_judges": 1,
    "auditor_label_kinds": 1,
    "auditor_on_event": 1,
    "auditor_question_sources": 1,
    "auditor_report_writers": 1,
    "auditor_rerankers": 1,
    "auditor_sandboxes": 1,
    "auditor_stance_classifiers": 1,
    "auditor_systems": 1,
}


@hookspec
def auditor_systems() -> Sequence[Offer]:
    """Kinds of system that can be audited. Each target is a subclass of ``auditor.system.System``.

    Called when a spec is frozen and by ``auditor plugins``; not called while a run asks.
    """
    return []


@hookspec
def auditor_chat_models() -> Sequence[Offer]:
    """Kinds of chat model, for judges, classifiers, generators, verifiers and readers.

    Each target is a subclass of ``auditor.model.ChatModel`` with a ``config_model``.
    """
    return []


@hookspec
def auditor_embedders() -> Sequence[Offer]:
    """Kinds of embedder. Each target is a subclass of ``auditor.model.Embedder``."""
    return []


@hookspec
def auditor_rerankers() -> Sequence[Offer]:
    """Kinds of reranker. Each target is a subclass of ``auditor.model.Reranker``."""
    return []


@hookspec
def auditor_judges() -> Sequence[Offer]:
    """Judges that need no chat model. Each target is a subclass of ``auditor.label.Labeller`` that replies with a
    verdict.

    A judge that is a chat model with the core's prompt needs no offer: a spec names the model.
    """
    return []


@hookspec
def auditor_stance_classifiers() -> Sequence[Offer]:
    """Stance classifiers that need no chat model. Each target is a subclass of ``auditor.label.Labeller``."""
    return []


@hookspec
def auditor_label_kinds() -> Sequence[Offer]:
    """Label kinds beside stance and verdict. Each target is a subclass of ``auditor.label.LabelKind``.

    A kind runs only in a spec that lists it under ``labels``.
    """
    return []


@hookspec
def auditor_analyses() -> Sequence[Offer]:
    """Analyses beside the core's. Each target is a subclass of ``auditor.analysis.Analysis``.

    An analysis runs only in a spec that lists it under ``analyses``.
    """
    return []


@hookspec
def auditor_corpus_sources() -> Sequence[Offer]:
    """Sources of documents. Each target is a subclass of ``auditor.source.CorpusSource``.

    Called when a spec is frozen; the source reads, the core makes the manifest.
    """
    return []


@hookspec
def auditor_question_sources() -> Sequence[Offer]:
    """Sources of questions. Each target is a subclass of ``auditor.source.QuestionSource``."""
    return []


@hookspec
def auditor_canary_builders() -> Sequence[Offer]:
    """Builders of canaries and of proofs of absence. Each target is a subclass of ``auditor.source.CanaryBuilder``."""
    return []


@hookspec
def auditor_report_writers() -> Sequence[Offer]:
    """Writers of findings. Each target is a subclass of ``auditor.writer.ReportWriter``. Writers format, they
    compute nothing.
    """
    return []


@hookspec
def auditor_importers() -> Sequence[Offer]:
    """Importers of other tools' transcripts. Each target is a subclass of ``auditor.source.Importer``.

    An importer writes a recording and a spec that replays it.
    """
    return []


@hookspec
def auditor_bundled_specs() -> Sequence[Offer]:
    """Specs that a package ships: ``auditor run NAME`` resolves a NAME that is no file through this hook.

    Each target is a function without arguments that returns the path of a spec file.
    """
    return []


@hookspec
def auditor_sandboxes() -> Sequence[Offer]:
    """Loopback twins of vendors, by the name of the system kind or model kind they stand in for.

    Each target is a subclass of ``auditor.source.Sandbox``. Called by ``auditor sandbox`` and by tests, never by a run.
    """
    return []


@hookspec
def auditor_commands() -> Sequence[Offer]:
    """Subcommands of ``auditor``. Each target is a ``click.Command``; ``summary`` is its line in ``--help``.

    Called for every invocation, so the plugin's ``__init__`` must stay light; the target is imported when the
    command is run.
    """
    return []


@hookspec
def auditor_on_event(event: Event) -> None:
    """Something happened in a run: see ``auditor.event``. For observers (progress, notifications), not for changing
    anything.

    :param event: one of the frozen event objects; unknown kinds are to be ignored.

    Called from the run's own thread, one event at a time. An observer that raises is recorded, and not called again.
    """
