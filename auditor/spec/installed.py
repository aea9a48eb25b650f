"""A spec against what is installed: do the names exist, and does each plugin accept its block?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from auditor.spec.loading import LoadedSpec, parse_config
from auditor.spec.problem import spec_error
from auditor.spec.reference import Known, name_problems

if TYPE_CHECKING:
    from auditor.plugins import Plugins

__all__ = ["check_configs", "check_names", "installed_names"]

_ANSWER = "answer-"


def installed_names(plugins: Plugins) -> Known:
    """What ``plugins`` offer, by hook, and the prompts that the core ships."""

    def known(hook: str) -> Collection[str]:
        return _prompt_names() if hook == "prompts" else [offered.name for offered in plugins.offered(hook)]

    return known


def _prompt_names() -> list[str]:
    """Names of the shipped prompts that go to systems, in their short form and in full."""
    from auditor import prompts

    full = [name for name in prompts.names() if name.startswith(_ANSWER)]
    return [*(name.removeprefix(_ANSWER) for name in full), *full]


def check_names(loaded: LoadedSpec, known: Known) -> None:
    """Raise ``SpecError`` for kinds, sources, judges, analyses and prompts that nothing installed offers."""
    if problems := name_problems(loaded.spec, known):
        raise spec_error(loaded.document, problems)


def check_configs(loaded: LoadedSpec, plugins: Plugins) -> None:
    """Raise ``SpecError`` at the first block that its plugin does not accept. Imports the plugins that are used."""
    for key, load, raw in _blocks(loaded, plugins):
        model = getattr(load(), "config_model", None)
        if model is not None:
            parse_config(model, raw, loaded.place(key))
        elif raw:
            raise loaded.place(key).error(f"takes no settings, found {', '.join(sorted(raw))}")


def _blocks(loaded: LoadedSpec, plugins: Plugins) -> Iterator[tuple[str, Callable[[], Any], Mapping[str, Any]]]:
    """Each plugin's block: its dotted key, what loads the plugin's class, and the settings."""
    spec = loaded.spec
    if spec.corpus.source is not None:
        yield "corpus", _of(plugins.corpus_source, spec.corpus.source), spec.corpus.config
    for index, questions in enumerate(spec.questions):
        yield f"questions[{index}]", _of(plugins.question_source, questions.source), questions.config
    for index, system in enumerate(spec.systems):
        yield f"systems[{index}].config", _of(plugins.system, system.kind), system.config
    if spec.stance.classifier is not None:
        yield "stance.config", _of(plugins.stance_classifier, spec.stance.classifier), spec.stance.config
    for index, judge in enumerate(spec.panel.judges):
        if judge.judge is not None:
            yield f"panel.judges[{index}].config", _of(plugins.judge, judge.judge), judge.config
    embedders = {name for system in spec.systems for name in system.embedders.values()}
    for name, model in spec.models.items():
        load = plugins.embedder if name in embedders else plugins.chat_model
        yield f"models.{name}.config", _of(load, model.kind), model.config


def _of(load: Callable[[str], Any], name: str) -> Callable[[], Any]:
    return lambda: load(name)
