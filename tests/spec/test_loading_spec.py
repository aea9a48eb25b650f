"""What audit.yaml says is read exactly; what is wrong with it is told with file, line and the nearest right name."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.analysis import Contract
from auditor.canonical import canonical
from auditor.errors import ExitCode, SpecError
from auditor.spec import LoadedSpec, check_names, load_spec

SPEC = """\
name: demo
seed: 20261130
repeats: 3
corpus: {source: folder, path: documents, private: true}
questions:
  - {source: jsonl, path: questions.jsonl}
contract: documents_only
prompt: standard
systems:
  - name: always
    kind: local-rag
    config: {policy: answer_always}
  - {name: recorded, kind: replay, config: {path: "${RECORDING:-answers.jsonl}"}, models: {reader: gpt}}
models:
  gpt: {kind: chat, config: {model: m}}
stance: {classifier: rules}
panel:
  judges:
    - {name: match, judge: answer-match}
    - {name: gpt, model: gpt}
    - {name: alignment, judge: token-alignment}
labels: [reviewed]
analyses: [temporal, {name: refusal, settings: {bins: 5}}]
penalty: {k: 4, sweep: [1, 2.50, 4, 9], canary_share: 0.018}
"""

Load = Callable[[str], LoadedSpec]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a spec from its text."""
    return lambda text: load_text(tmp_path, text)


def load_text(folder: Path, text: str | bytes, **environment: str) -> LoadedSpec:
    path = folder / "audit.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_spec(path, environment=environment)


def refusal(load: Load, text: str) -> str:
    """The message of the error, without the folder."""
    with pytest.raises(SpecError) as caught:
        load(text)
    assert caught.value.exit_code == ExitCode.CONFIGURATION
    return re.sub(r"\S*audit\.yaml", "audit.yaml", str(caught.value))


def test_every_block_is_read(load: Load) -> None:
    """A full spec comes out typed, with short forms written out and defaults in place."""
    spec = load(SPEC).spec
    assert (spec.name, spec.seed, spec.repeats) == ("demo", 20261130, 3)
    assert spec.contract is Contract.DOCUMENTS_ONLY
    assert spec.prompt.name == "standard"
    assert spec.corpus.source == "folder"
    assert spec.corpus.config == {"path": "documents"}
    assert spec.corpus.private
    assert [label.kind for label in spec.labels] == ["reviewed"]
    assert [analysis.name for analysis in spec.analyses] == ["temporal", "refusal"]
    assert [condition.name for condition in spec.conditions] == ["default"]
    assert spec.limits.deadline_s == 120
    assert spec.disclosure is None


def test_decimals_never_pass_through_binary_floats(load: Load) -> None:
    """Numbers of the design are the digits that were written."""
    penalty = load(SPEC).spec.penalty
    assert str(penalty.sweep[1]) == "2.50"
    assert penalty.canary_share == Decimal("0.018")
    precise = load(SPEC.replace("0.018", "0.100000000000001")).spec.penalty
    assert str(precise.canary_share) == "0.100000000000001"


def test_source_is_frozen_as_canonical_values(load: Load) -> None:
    """What is frozen has a canonical form: no float, no Decimal."""
    loaded = load(SPEC)
    assert canonical(loaded.source)
    assert loaded.frozen("penalty", "sweep") == [1, "2.50", 4, 9]
    assert loaded.frozen("penalty", "nothing") is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed:", "sede:", 'audit.yaml:2: sede: unknown key "sede"; did you mean "seed"?'),
        ("kind: local-rag", "knid: x", 'audit.yaml:11: systems[0].knid: unknown key "knid"; did you mean "kind"?'),
        ("repeats: 3", "repeats: three", 'audit.yaml:3: repeats: expected a number, found the text "three"'),
        ("repeats: 3", "repeats: 2.5", "audit.yaml:3: repeats: expected a whole number, found 2.5"),
        ("repeats: 3", "repeats: true", "audit.yaml:3: repeats: expected a number, found true"),
        ("repeats: 3", "repeats: 0", "audit.yaml:3: repeats: expected greater than or equal to 1, found 0"),
        ("repeats: 3", "repeats: null", "audit.yaml:3: repeats: expected a whole number, found null"),
        ("repeats: 3\n", "", 'audit.yaml:1: key "repeats" is missing'),
        ("documents_only", "document-only", 'did you mean "documents_only"?'),
        ("source: folder", "souce: folder", 'audit.yaml:4: corpus: expected either "source" or "none"'),
        ("source: jsonl", "sourse: jsonl", 'audit.yaml:6: questions[0]: key "source" is missing ("sourse" is there'),
        ("name: recorded", "name: always", 'audit.yaml:13: systems[1].name: "always" stands twice'),
        (
            "reader: gpt",
            "reader: gpd",
            'audit.yaml:13: systems[1].models.reader: unknown model "gpd"; did you mean "gpt"?',
        ),
        ("model: gpt}", "model: claude}", 'audit.yaml:20: panel.judges[1].model: unknown model "claude"'),
        ("classifier: rules", "clasifier: rules", 'did you mean "classifier"'),
        (
            "prompt: standard",
            "prompt: {fil: p.txt}",
            'audit.yaml:8: prompt.fil: unknown key "fil"; did you mean "file"?',
        ),
        (
            "penalty: {k: 4",
            "penalty: {k: -1",
            "audit.yaml:24: penalty.k: expected greater than or equal to 0, found -1",
        ),
        ("name: demo", "name: Demo Audit", "audit.yaml:1: name: string should match pattern"),
        (
            "name: always",
            'name: "a\\u202eb"',
            "audit.yaml:10: systems[0].name: expected a name without control characters",
        ),
        ("labels: [reviewed]", "labels: reviewed", 'audit.yaml:22: labels: expected a list, found the text "reviewed"'),
        ("config: {policy: answer_always}", "config: 3", "systems[0].config: expected a mapping of settings, found 3"),
        ("config: {policy: answer_always}", "conditions: [strict]", 'unknown condition "strict"'),
    ],
)
def test_mistake_is_named_with_line_and_nearest_name(load: Load, old: str, new: str, message: str) -> None:
    """Each kind of mistake: where it stands, what was expected, what was probably meant."""
    assert old in SPEC
    assert message in refusal(load, SPEC.replace(old, new, 1))


def test_a_misspelt_key_is_told_once(load: Load) -> None:
    """The key that is missing because it is misspelt is not reported a second time."""
    assert "\n" not in refusal(load, SPEC.replace("seed:", "sede:"))


def test_all_mistakes_are_told_in_the_order_of_their_lines(load: Load) -> None:
    """One attempt shows everything that is wrong."""
    text = refusal(load, SPEC.replace("seed: 2", "seed: x2").replace("kind: chat", "kin: chat"))
    assert [line.split(":")[1] for line in text.splitlines()] == ["2", "15"]


@pytest.mark.parametrize("judges", [1, 2, 4])
def test_panel_is_odd_and_at_least_three(load: Load, judges: int) -> None:
    """A panel that can tie, or is no panel, does not get in."""
    seats = "".join(f"    - {{name: j{n}, judge: answer-match}}\n" for n in range(judges))
    start, end = SPEC.index("    - {name: match"), SPEC.index("labels:")
    assert "panel" in refusal(load, SPEC[:start] + seats + SPEC[end:])


@pytest.mark.parametrize("value", ["on", "no", "012", "1:30", "0x10", "2026-01-01", "1_000", ".inf", ".nan", "1e999"])
def test_nothing_is_guessed_from_text(load: Load, value: str) -> None:
    """What YAML 1.1 turns into booleans, octals, sexagesimals and dates is no number here, and tags keep their text."""
    assert "repeats" in refusal(load, SPEC.replace("repeats: 3", f"repeats: {value}")) or value == "1e999"
    if value != "1e999":
        loaded = load(SPEC + f"conditions: [{{name: c, tags: {{t: {value}}}}}]\n")
        assert loaded.spec.conditions[0].tags == {"t": value}


def test_tags_are_the_text_that_was_written(load: Load) -> None:
    """Numbers and booleans among tags reach systems as YAML writes them."""
    tags = (
        load(SPEC + "conditions: [{name: c, tags: {k: 5, temperature: 0.70, scenario: true}}]\n")
        .spec.conditions[0]
        .tags
    )
    assert tags == {"k": "5", "temperature": "0.70", "scenario": "true"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nseed: 1\nname: b\n", 'audit.yaml:3: name: key "name" stands twice (first on line 1)'),
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("- a\n", "expected a mapping of settings"),
        ("just text", "expected a mapping of settings"),
        ("a: 1\n---\nb: 2\n", "audit.yaml:2: holds a second document"),
        ("a: !!python/object/apply:os.system [id]", "is not supported"),
        ("a: !!binary aGk=", "is not supported"),
        ("<<: {a: 1}", "merge keys"),
        ("1: a", "a key must be text"),
        ("größe: a", "printable ASCII"),
        ("a: &x [*x]", "repeats too much, or itself"),
        ("a: *x", "undefined alias"),
        ('name: "\\0"', "NUL"),
        ('name: "\\ud800"', "surrogate"),
        ('name: "\\U00110000"', "YAML"),
        ("name: \x1b[31m", "U+001B is not allowed"),
        ("a: {b: 1", "YAML"),
        ("seed: " + "9" * 5000, "15 digits here"),
        ("seed: 1e-99999999999", "must lie between"),
        ("[" * 100_000, "nested too deeply"),
        ("a: " + "x" * 600_000, "larger than"),
    ],
)
def test_hostile_file_is_one_clear_error(load: Load, text: str, message: str) -> None:
    """No input makes the reader crash, hang, or guess."""
    assert message in refusal(load, text)


@pytest.mark.parametrize("levels", [5, 10])
def test_alias_bomb_is_bounded(load: Load, levels: int) -> None:
    """A few lines that stand for a hundred thousand values, or for ten billion, are refused before they are values."""
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, levels):
        bomb += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n"
    assert "repeats too much" in refusal(load, bomb)


@pytest.mark.parametrize("data", [b"\xff\xfen\x00", b"name: \xe9", b"name: demo\nseed: \x80"])
def test_other_encodings_are_refused_with_the_byte(tmp_path: Path, data: bytes) -> None:
    """UTF-8 only, so that one file is one design everywhere."""
    with pytest.raises(SpecError, match="is not UTF-8"):
        load_text(tmp_path, data)


def test_byte_order_mark_and_crlf_change_nothing(tmp_path: Path) -> None:
    """A spec saved on Windows is the same spec, with the same lines."""
    plain = load_text(tmp_path, SPEC)
    windows = load_text(tmp_path, b"\xef\xbb\xbf" + SPEC.replace("\n", "\r\n").encode())
    assert windows.source == plain.source
    assert windows.line_of("systems[0].kind") == plain.line_of("systems[0].kind") == 11


def test_unreadable_path_is_a_spec_error(tmp_path: Path) -> None:
    """A missing file, a folder and a name with a NUL are the user's mistakes, not crashes."""
    for path in (tmp_path / "none.yaml", tmp_path, Path("a\0b")):
        with pytest.raises(SpecError, match="cannot be read"):
            load_spec(path)


@given(st.text(max_size=200))
def test_any_text_is_a_spec_or_a_spec_error(text: str) -> None:
    """Whatever stands in the file, the outcome is a spec or one error of ours."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "audit.yaml"
        path.write_bytes(text.encode("utf-8", "replace"))
        with pytest.raises(SpecError):
            load_spec(path)


def test_unknown_names_are_told_with_the_nearest_installed(load: Load) -> None:
    """Kinds, sources, judges, classifiers, labels, analyses and prompts are held against what is installed."""
    installed = {
        "auditor_systems": ["local-rag", "reply"],
        "auditor_corpus_sources": ["folder"],
        "auditor_question_sources": ["jsonl"],
        "auditor_stance_classifiers": ["rule"],
        "auditor_judges": ["answer-match", "token-alignment"],
        "prompts": ["standard", "strict"],
    }
    loaded = load(SPEC)
    with pytest.raises(SpecError) as caught:
        check_names(loaded, lambda hook: installed.get(hook, []))
    text = str(caught.value)
    assert 'systems[1].kind: unknown system kind "replay"; did you mean "reply"?' in text
    assert 'stance.classifier: unknown stance classifier "rules"; did you mean "rule"?' in text
    assert 'models.gpt.kind: unknown model kind "chat" (none is installed)' in text
    assert 'analyses[0].name: unknown analysis "temporal" (none is installed)' in text
    assert 'labels[0].kind: unknown label kind "reviewed" (none is installed)' in text
    assert "judges" not in text
