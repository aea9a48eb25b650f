"""A plugin's block becomes the plugin's own config: strict about keys, exact about lines, absolute about paths."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from auditor.errors import SpecError
from auditor.spec import LoadedSpec, Place, load_spec, parse_config

SPEC = """\
name: demo
seed: 1
repeats: 1
corpus: {none: recorded}
questions: [{source: jsonl, path: q.jsonl}]
contract: documents_only
prompt: standard
systems:
  - name: a
    kind: k
    config:
      path: data/a.jsonl
      policy: always
      threshold: 0.45
      reader:
        file: prompts/reader.txt
        extra: [{file: x.txt}]
stance: {classifier: rules}
panel: {judges: [{name: a, judge: a}, {name: b, judge: b}, {name: c, judge: c}]}
"""


class Reader(BaseModel):
    file: Path
    extra: list[dict[str, Path]] = Field(default_factory=list)


class Config(BaseModel):
    path: Path | None = None
    policy: Literal["always", "never"]
    threshold: Decimal = Decimal(0)
    reader: Reader | None = None


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedSpec:
    """The spec above."""
    return load(tmp_path, SPEC)


def load(folder: Path, text: str) -> LoadedSpec:
    (folder / "audit.yaml").write_text(text, encoding="utf-8")
    return load_spec(folder / "audit.yaml", environment={})


def parse(loaded: LoadedSpec, model: type[BaseModel] = Config) -> BaseModel:
    return parse_config(model, loaded.spec.systems[0].config, loaded.place("systems[0].config"))


def test_paths_start_from_the_specs_folder_at_any_depth(loaded: LoadedSpec, tmp_path: Path) -> None:
    """Every field that is a path comes out absolute; nothing else changes."""
    config = parse(loaded)
    assert isinstance(config, Config)
    assert config.path == tmp_path / "data/a.jsonl"
    assert config.threshold == Decimal("0.45")
    assert config.reader == Reader(file=tmp_path / "prompts/reader.txt", extra=[{"file": tmp_path / "x.txt"}])


def test_paths_do_not_depend_on_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spec that is named by a relative path resolves to the same files."""
    (tmp_path / "inner").mkdir()
    load(tmp_path / "inner", SPEC)
    monkeypatch.chdir(tmp_path)
    config = parse(load_spec(Path("inner/audit.yaml"), environment={}))
    assert isinstance(config, Config)
    assert config.path == tmp_path / "inner/data/a.jsonl"


def test_paths_written_on_windows_are_understood(tmp_path: Path) -> None:
    r"""``.\data\a.jsonl`` and ``./data/a.jsonl`` are one file."""
    config = parse(load(tmp_path, SPEC.replace("data/a.jsonl", r".\data\a.jsonl")))
    assert isinstance(config, Config)
    assert config.path == tmp_path / "data/a.jsonl"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "policy: always",
            "polcy: always",
            ':13: systems[0].config.polcy: unknown key "polcy"; did you mean "policy"?',
        ),
        (
            "policy: always",
            "policy: alway",
            'expected one of always, never, found the text "alway"; did you mean "always"?',
        ),
        (
            "threshold: 0.45",
            "threshold: high",
            ':14: systems[0].config.threshold: expected a number, found the text "high"',
        ),
        ("file: prompts", "fil: prompts", ':16: systems[0].config.reader.fil: unknown key "fil"; did you mean "file"?'),
        ("      policy: always\n", "", ':11: systems[0].config: key "policy" is missing'),
    ],
)
def test_a_plugins_refusal_is_mapped_to_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    """What pydantic says of a config is told in terms of the file, also inside nested blocks."""
    with pytest.raises(SpecError) as caught:
        parse(load(tmp_path, SPEC.replace(old, new, 1)))
    assert message in str(caught.value)


def test_unknown_keys_are_refused_where_the_model_would_ignore_them(loaded: LoadedSpec) -> None:
    """A plugin that did not think of it still does not swallow a misspelt setting; one that means to may."""

    class Lenient(BaseModel):
        policy: str

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        policy: str

    with pytest.raises(SpecError, match="unknown key"):
        parse(loaded, Lenient)
    assert parse(loaded, Open).model_dump()["threshold"] == Decimal("0.45")


def test_sources_settings_stand_beside_their_name(tmp_path: Path) -> None:
    """The error of a question source's setting points into the entry of the list."""

    class Questions(BaseModel):
        path: Path

    loaded = load(tmp_path, SPEC.replace("path: q.jsonl", "pfad: q.jsonl"))
    with pytest.raises(SpecError, match=r"audit\.yaml:5: questions\[0\]\.pfad: unknown key"):
        parse_config(Questions, loaded.spec.questions[0].config, loaded.place("questions[0]"))


def test_config_without_a_file(tmp_path: Path) -> None:
    """A config that stands in no spec is checked alike, against a folder of its own."""
    place = Place.outside(tmp_path, "settings")
    config = parse_config(Config, {"policy": "never", "path": "a"}, place)
    assert config.path == tmp_path / "a"
    with pytest.raises(SpecError, match="settings:1: polici: unknown key"):
        parse_config(Config, {"polici": "never"}, place)


def test_a_file_that_the_spec_names_is_read_as_text(tmp_path: Path) -> None:
    """A prompt is the same text whatever system it was written on; what is no text is refused at its line."""
    loaded = load(tmp_path, SPEC.replace("prompt: standard", "prompt: {file: p.txt}"))
    (tmp_path / "p.txt").write_bytes(b"\xef\xbb\xbfAnswer.\r\nOr decline.\r\n")
    assert loaded.read_text("p.txt", "prompt") == "Answer.\nOr decline.\n"
    (tmp_path / "p.txt").write_bytes(b"\xff\xfeA\x00")
    with pytest.raises(SpecError, match=r":7: prompt: the text \"p.txt\" cannot be read: it is not UTF-8"):
        loaded.read_text("p.txt", "prompt")
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        loaded.read_text("none.txt", "prompt")
