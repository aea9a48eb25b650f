"""Names inside a spec that refer to other parts of it, and names that refer to what is installed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from auditor.spec.document import KeyPath
from auditor.spec.grammar import PromptSpec, Spec
from auditor.spec.problem import Problem, nearest

__all__ = ["Known", "name_problems", "reference_problems"]

Known = Callable[[str], Collection[str]]
"""Names that are installed for a hook (``auditor_systems`` …), or shipped (``prompts``)."""


def reference_problems(spec: Spec) -> list[Problem]:
    """Duplicates, and references to conditions and models that the spec does not define."""
    return [*_duplicates(spec), *_dangling(spec)]


def _duplicates(spec: Spec) -> Iterator[Problem]:
    groups: tuple[tuple[KeyPath, str, list[str]], ...] = (
        (("systems",), "name", [system.name for system in spec.systems]),
        (("conditions",), "name", [condition.name for condition in spec.conditions]),
        (("panel", "judges"), "name", [judge.name for judge in spec.panel.judges]),
        (("labels",), "kind", [label.kind for label in spec.labels]),
        (("analyses",), "name", [analysis.name for analysis in spec.analyses]),
    )
    for path, key, names in groups:
        for index, name in enumerate(names):
            if name in names[:index]:
                yield Problem((*path, index, key), f'"{name}" stands twice; names are unique')
    for index, system in enumerate(spec.systems):
        for ordinal, condition in enumerate(system.conditions or ()):
            if condition in (system.conditions or ())[:ordinal]:
                yield Problem(("systems", index, "conditions", ordinal), f'"{condition}" stands twice')


def _dangling(spec: Spec) -> Iterator[Problem]:
    conditions = [condition.name for condition in spec.conditions]
    for index, system in enumerate(spec.systems):
        for ordinal, condition in enumerate(system.conditions or ()):
            yield from _missing(("systems", index, "conditions", ordinal), "condition", condition, conditions)
        for ports in ("models", "embedders"):
            for port, name in getattr(system, ports).items():
                yield from _missing(("systems", index, ports, port), "model", name, spec.models)
    if spec.stance.model is not None:
        yield from _missing(("stance", "model"), "model", spec.stance.model, spec.models)
    for index, judge in enumerate(spec.panel.judges):
        if judge.model is not None:
            yield from _missing(("panel", "judges", index, "model"), "model", judge.model, spec.models)


def _missing(path: KeyPath, what: str, name: str, known: Iterable[str]) -> Iterator[Problem]:
    names = list(known)
    if name not in names:
        hint = nearest(name, names) or f" (the spec defines no {what})"
        yield Problem(path, f'unknown {what} "{name}"{hint}')


def name_problems(spec: Spec, known: Known) -> list[Problem]:
    """Kinds, sources, judges, analyses and prompts that nothing installed offers."""
    return [
        Problem(path, f'unknown {what} "{name}"{nearest(name, known(hook)) or " (none is installed)"}')
        for path, what, name, hook in _uses(spec)
        if name not in known(hook)
    ]


def _uses(spec: Spec) -> Iterator[tuple[KeyPath, str, str, str]]:
    """Every name that a plugin or the core must know: where it stands, what it is, and the hook that offers it."""
    if spec.corpus.source is not None:
        yield ("corpus", "source"), "corpus source", spec.corpus.source, "auditor_corpus_sources"
    for index, questions in enumerate(spec.questions):
        yield ("questions", index, "source"), "question source", questions.source, "auditor_question_sources"
    yield from _prompts(("prompt",), spec.prompt)
    for index, condition in enumerate(spec.conditions):
        yield from _prompts(("conditions", index, "prompt"), condition.prompt)
    embedders = {name for system in spec.systems for name in system.embedders.values()}
    for index, system in enumerate(spec.systems):
        yield ("systems", index, "kind"), "system kind", system.kind, "auditor_systems"
    for name, model in spec.models.items():
        hook = "auditor_embedders" if name in embedders else "auditor_chat_models"
        yield ("models", name, "kind"), "model kind", model.kind, hook
    if spec.stance.classifier is not None:
        yield ("stance", "classifier"), "stance classifier", spec.stance.classifier, "auditor_stance_classifiers"
    for index, judge in enumerate(spec.panel.judges):
        if judge.judge is not None:
            yield ("panel", "judges", index, "judge"), "judge", judge.judge, "auditor_judges"
    for index, label in enumerate(spec.labels):
        yield ("labels", index, "kind"), "label kind", label.kind, "auditor_label_kinds"
    for index, analysis in enumerate(spec.analyses):
        yield ("analyses", index, "name"), "analysis", analysis.name, "auditor_analyses"


def _prompts(path: KeyPath, prompt: PromptSpec | None) -> Iterator[tuple[KeyPath, str, str, str]]:
    if prompt is not None and prompt.name is not None:
        yield path, "prompt", prompt.name, "prompts"
