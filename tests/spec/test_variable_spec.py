"""Variables fill in what differs between machines, enter no protocol, and show their values to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, field_validator

from auditor.errors import SpecError
from auditor.spec import LoadedSpec, load_spec, parse_config

SPEC = """\
name: demo
seed: 1
repeats: 1
corpus: {source: folder, path: "${DOCUMENTS}"}
questions: [{source: jsonl, path: "${DATA:-data}/questions.jsonl"}]
contract: documents_only
prompt: {file: "${DATA:-data}/prompt.txt"}
systems:
  - {name: a, kind: k, release: "${COMMIT:-none}", config: {token: "${TOKEN:-}", price: "$${USD}"}}
stance: {classifier: rules, config: {rules: "${DATA:-data}"}}
panel: {judges: [{name: a, judge: a, config: {w: "${DATA:-data}"}}, {name: b, judge: b}, {name: c, judge: c}]}
analyses: [{name: x, settings: {w: "${DATA:-data}"}}]
"""

SECRETS = ("sk-very-secret", "sk-other-secret")


def load(folder: Path, text: str = SPEC, **environment: str) -> LoadedSpec:
    path = folder / "audit.yaml"
    path.write_text(text, encoding="utf-8")
    return load_spec(path, environment=environment)


def test_values_and_defaults_are_filled_in(tmp_path: Path) -> None:
    """A set variable wins over the default; the default stands in for an empty one; ``$${`` is plain text."""
    spec = load(tmp_path, DOCUMENTS="/docs", DATA="").spec
    assert spec.corpus.config == {"path": "/docs"}
    assert spec.questions[0].config == {"path": "data/questions.jsonl"}
    assert spec.systems[0].config == {"token": "", "price": "${USD}"}


def test_a_missing_variable_is_named_with_its_line(tmp_path: Path) -> None:
    """The message says which variable, where, and how a default is written."""
    with pytest.raises(SpecError, match=r"audit\.yaml:4: corpus\.path: environment variable DOCUMENTS is not set"):
        load(tmp_path)


@pytest.mark.parametrize("text", ["${", "${}", "${A B}", "${1A}", "${A:x}", "${A"])
def test_a_malformed_variable_is_refused(tmp_path: Path, text: str) -> None:
    """Nothing that looks like a variable is passed on as text."""
    with pytest.raises(SpecError, match="write \\$\\{NAME\\}"):
        load(tmp_path, SPEC.replace("${DOCUMENTS}", text), A="1")


def test_plugin_blocks_and_paths_are_frozen_unexpanded(tmp_path: Path) -> None:
    """Two machines with other folders, and another token, freeze one design."""
    here = load(tmp_path, DOCUMENTS="/here", DATA="/d1", TOKEN=SECRETS[0])
    there = load(tmp_path, DOCUMENTS="/there", DATA="/d2", TOKEN=SECRETS[1])
    assert here.source == there.source
    assert here.frozen("systems", 0, "config", "token") == "${TOKEN:-}"
    assert here.frozen("prompt", "file") == "${DATA:-data}/prompt.txt"


def test_design_settings_are_frozen_with_their_values(tmp_path: Path) -> None:
    """A release, or a number of repeats, that comes from a variable changes the design when it changes."""
    one = load(tmp_path, DOCUMENTS="/d", COMMIT="1111111")
    two = load(tmp_path, DOCUMENTS="/d", COMMIT="2222222")
    assert one.spec.systems[0].release == "1111111"
    assert one.source != two.source
    text = SPEC.replace("repeats: 1", "repeats: ${REPEATS}")
    assert (
        load(tmp_path, text, DOCUMENTS="/d", REPEATS="2").source
        != load(tmp_path, text, DOCUMENTS="/d", REPEATS="3").source
    )


def test_variables_are_listed_by_name(tmp_path: Path) -> None:
    """What a spec depends on outside itself can be asked for, without values."""
    assert load(tmp_path, DOCUMENTS="/d").variables == ("COMMIT", "DATA", "DOCUMENTS", "TOKEN")


class Config(BaseModel):
    """A plugin's config whose own validator repeats what it was given."""

    token: str
    price: str = ""

    @field_validator("token")
    @classmethod
    def check(cls, value: str) -> str:
        raise ValueError(f"bad token {value}")


def test_no_message_shows_a_variables_value(tmp_path: Path) -> None:
    """A secret stays out of errors, also out of those that a plugin words."""
    loaded = load(tmp_path, DOCUMENTS="/d", TOKEN=SECRETS[0])
    with pytest.raises(SpecError) as caught:
        parse_config(Config, loaded.spec.systems[0].config, loaded.place("systems[0].config"))
    assert SECRETS[0] not in str(caught.value)
    assert "bad token ${TOKEN}" in str(caught.value)
    wrong = SPEC.replace("repeats: 1", 'repeats: "${TOKEN}"')
    with pytest.raises(SpecError) as caught:
        load(tmp_path, wrong, DOCUMENTS="/d", TOKEN=SECRETS[0])
    assert SECRETS[0] not in str(caught.value)
