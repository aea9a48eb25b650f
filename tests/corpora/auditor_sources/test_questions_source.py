"""Questions from JSON Lines: what is wrong is said with file, line and the nearest right key, and never mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import ExitCode, QuestionError
from auditor.question import Proof, ProofGrade, Question, QuestionKind, refuse_duplicates
from auditor.source import QuestionSource
from auditor.testing import PluginPackageContract, QuestionSourceContract
from auditor_sources.questions import JsonLinesConfig, JsonLinesSource, QuestionLine

_PLAIN = {"id": "q1", "question": "How long?", "reference": "two years"}
_PROOF = {"grade": "lexical", "corpus_digest": "sha256:00", "date": "2026-11-30", "prover": "p", "steps": [{"n": 3}]}
_CANARY = {**_PLAIN, "kind": "hold_out", "proofs": {"base": _PROOF}}


def load(folder: Path, *lines: dict[str, Any] | str | bytes) -> list[Question]:
    """Questions of a file with these lines."""
    encoded = (
        line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode("utf-8")
        for line in lines
    )
    (folder / "q.jsonl").write_bytes(b"\n".join(encoded))
    return list(JsonLinesSource().load(JsonLinesConfig(path=Path("q.jsonl")), folder))


class TestPackage(PluginPackageContract):
    """The contract of plugin packages."""

    package = "auditor_sources"


class TestJsonLinesContract(QuestionSourceContract):
    """The contract of question sources."""

    def make(self) -> QuestionSource:
        """The source."""
        return JsonLinesSource()

    def config(self, folder: Path) -> JsonLinesConfig:
        """Two questions."""
        (folder / "ok.jsonl").write_text(json.dumps(_PLAIN) + "\n" + json.dumps({**_CANARY, "id": "q2"}), "utf-8")
        return JsonLinesConfig(path=Path("ok.jsonl"))

    def broken(self, folder: Path) -> tuple[JsonLinesConfig, ...]:
        """A file of nothing, one of something else, and none."""
        (folder / "empty.jsonl").write_text("", "utf-8")
        (folder / "list.jsonl").write_text("[]", "utf-8")
        return tuple(JsonLinesConfig(path=Path(name)) for name in ("empty.jsonl", "list.jsonl", "none.jsonl"))


def test_a_whole_line_is_a_whole_question(tmp_path: Path) -> None:
    """Every key reaches its field; what is absent has its documented meaning."""
    full = {
        "id": "q9",
        "kind": "knowledge_gap",
        "forms": {"plain": "Who?", "formal": "Which person?"},
        "references": ["Ann", "A. Lund"],
        "aliases": ["Mrs Lund"],
        "cluster": "page",
        "gold_documents": [".\\docs\\a.md"],
        "tags": ["hard"],
        "variants": ["base", "v2"],
        "conditions": ["default"],
        "proofs": {"base": _PROOF},
        "analyses": ["penalty", "other"],
    }
    one, two = load(tmp_path, _PLAIN, full)
    assert (one.kind, one.cluster, one.variants, one.conditions) == (QuestionKind.BENCHMARK, "q1", ("base",), None)
    assert one.references == ("two years",)
    assert one.text == "How long?"
    assert [form.name for form in two.forms] == ["plain", "formal"]
    assert two.gold_documents == ("docs/a.md",)
    assert two.proofs["base"].grade is ProofGrade.LEXICAL
    assert two.proofs["base"].steps == ({"n": 3},)
    assert (two.cluster, two.aliases, two.tags) == ("page", ("Mrs Lund",), ("hard",))
    assert (two.variants, two.conditions, two.analyses) == (("base", "v2"), ("default",), ("penalty", "other"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"refrence": "x"}, "unknown key 'refrence'; did you mean 'reference'?"),
        ({"id": 7}, "'id'"),
        ({"id": None}, "'id'"),
        ({"question": ["x"]}, "'question'"),
        ({"question": " \u200b\t"}, "'question': empty text"),
        ({"question": "\ud800"}, "'question': half of a surrogate pair"),
        ({"reference": ""}, "'reference': empty text"),
        ({"aliases": ["a", ""]}, "'aliases.1': empty text"),
        ({"tags": "hard"}, "'tags'"),
        ({"claimed": "yes"}, "'claimed'"),
        ({"kind": "bencmark"}, "did you mean 'benchmark'?"),
        ({"reference": None}, "a benchmark question without a reference"),
        ({"references": ["a"]}, "exclude each other"),
        ({"forms": {"a": "b"}}, "exactly one of 'question' and 'forms'"),
        ({"question": None}, "exactly one of 'question' and 'forms'"),
        ({"claimed": True}, "only a canary has one"),
        ({"proofs": {"base": _PROOF}}, "only a canary has one"),
    ],
)
def test_what_is_wrong_is_said_with_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    """File and line stand before every message, and the exit code is that of the user's mistake."""
    with pytest.raises(QuestionError) as caught:
        load(tmp_path, _PLAIN, "", {**_PLAIN, "id": "q2", **change})
    assert str(caught.value).startswith("q.jsonl:3: ")
    assert message in str(caught.value)
    assert caught.value.exit_code is ExitCode.CONFIGURATION


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grade": "lexicl"}, "did you mean 'lexical'?"),
        ({"stepps": []}, "unknown key 'proofs.base.stepps'; did you mean 'steps'?"),
        ({"prover": None}, "'proofs.base.prover'"),
        ({"steps": [{"score": 0.5}]}, "decimals are written as text"),
    ],
)
def test_proofs_are_checked_to_the_last_key(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    """A proof that is not whole proves nothing."""
    with pytest.raises(QuestionError, match=r"q\.jsonl:1") as caught:
        load(tmp_path, {**_CANARY, "proofs": {"base": {**_PROOF, **change}}})
    assert message in str(caught.value)


def test_a_proof_is_for_a_variant_that_is_asked(tmp_path: Path) -> None:
    """A proof over another corpus says nothing of this one."""
    with pytest.raises(QuestionError, match="variant 'other'"):
        load(tmp_path, {**_CANARY, "proofs": {"other": _PROOF}})


def test_a_claim_is_a_proof_of_the_lowest_grade(tmp_path: Path) -> None:
    """A flag that nobody checked is told from a proof."""
    (one,) = load(tmp_path, {**_PLAIN, "kind": "knowledge_gap", "claimed": True})
    assert one.proofs["base"].grade is ProofGrade.CLAIMED
    assert one.proofs["base"].corpus_digest is None


@pytest.mark.parametrize("kind", [kind for kind in QuestionKind if kind not in ("fictitious", "perturbed")])
def test_a_kind_that_is_graded_needs_a_reference(tmp_path: Path, kind: QuestionKind) -> None:
    """Only fictitious canaries and perturbed items are scored without one."""
    with pytest.raises(QuestionError, match="without a reference"):
        load(tmp_path, {"id": "q", "question": "x", "kind": kind.value})


@pytest.mark.parametrize("kind", ["fictitious", "perturbed"])
def test_kinds_without_a_reference(tmp_path: Path, kind: str) -> None:
    """What does not exist has no right answer."""
    assert load(tmp_path, {"id": "q", "question": "x", "kind": kind})[0].references == ()


@pytest.mark.parametrize(
    "line",
    ["{", "[1]", "7", '"x"', '{"id": NaN}', '{"id": "a", "id": "b"}', "[" * 50_000, '{"a": 1} {"b": 2}', '{"a":\x00}'],
)
def test_what_is_not_one_object_is_refused(tmp_path: Path, line: str) -> None:
    """Broken JSON, constants that JSON lacks, and keys that stand twice."""
    with pytest.raises(QuestionError, match=r"q\.jsonl:2: not one JSON object"):
        load(tmp_path, _PLAIN, line)


def test_duplicate_ids_name_both_lines(tmp_path: Path) -> None:
    """One id is one question, within a file and across sources."""
    with pytest.raises(QuestionError, match=r"q\.jsonl:2: id 'q1' stands on line 1 too"):
        load(tmp_path, _PLAIN, _PLAIN)
    questions = load(tmp_path, _PLAIN)
    with pytest.raises(QuestionError, match=r"b\.jsonl: question id 'q1' is in a\.jsonl too"):
        refuse_duplicates({"a.jsonl": questions, "b.jsonl": questions})
    refuse_duplicates({"a.jsonl": questions})


def test_marks_line_ends_and_old_encodings(tmp_path: Path) -> None:
    """A byte-order mark, CRLF, UTF-16 and Windows-1252 all read as what their writer saw."""
    text = json.dumps({**_PLAIN, "question": "Wie groß – naïve 漢字?"}, ensure_ascii=False)
    for encoded in (b"\xef\xbb\xbf" + text.encode() + b"\r\n\r\n", text.encode("utf-16")):
        (tmp_path / "q.jsonl").write_bytes(encoded)
        (one,) = JsonLinesSource().load(JsonLinesConfig(path=Path("q.jsonl")), tmp_path)
        assert one.text == "Wie groß – naïve 漢字?"
    old = json.dumps({**_PLAIN, "question": "groß – naïve?"}, ensure_ascii=False).encode("cp1252")
    assert load(tmp_path, old)[0].text == "groß – naïve?"
    with pytest.raises(QuestionError, match=r"q\.jsonl:2: bytes that mean nothing"):
        load(tmp_path, _PLAIN, b'{"id": "\x81"}')


def test_line_separators_inside_text_do_not_end_lines(tmp_path: Path) -> None:
    """U+2028 and U+0085 may stand in a question."""
    line = json.dumps({**_PLAIN, "question": "one\u2028two\x85three"}, ensure_ascii=False)
    assert load(tmp_path, line)[0].text == "one\u2028two\x85three"


def test_every_key_of_a_line_is_documented(repository: Path) -> None:
    """docs/systems.md names each key."""
    text = (repository / "docs" / "systems.md").read_text(encoding="utf-8")
    assert [key for key in QuestionLine.model_fields if f"`{key}`" not in text] == []


def test_proofs_are_kept_and_taken_away(tmp_path: Path) -> None:
    """The lines of proofs are rewritten, all others stay byte for byte, whatever stands in them."""
    other = '{"id":"q0",  "question": "a\u2028b\x85c", "reference": "x"}\r'
    load(tmp_path, other, {**_CANARY, "id": "q1"}, {**_CANARY, "id": "q2", "aliases": ["naïve 漢字"]}, "")
    proof = Proof(ProofGrade.EMBEDDED, "sha256:11", "2026-12-01", "p 2", ({"step": "x", "doubts": 0},))
    config = JsonLinesConfig(path=Path("q.jsonl"))
    JsonLinesSource().keep_proofs(config, tmp_path, "base", {"q1": proof, "q2": None})
    kept = (tmp_path / "q.jsonl").read_bytes().decode("utf-8").split("\n")
    assert (kept[0], kept[3], len(kept)) == (other, "", 4)
    again = {question.id: question for question in JsonLinesSource().load(config, tmp_path)}
    assert again["q1"].proofs == {"base": proof}
    assert again["q2"].proofs == {} and again["q2"].aliases == ("naïve 漢字",)
    assert [path.name for path in tmp_path.iterdir()] == ["q.jsonl"]


def test_proofs_of_a_broken_file_are_not_kept(tmp_path: Path) -> None:
    """What cannot be read is not written to."""
    with pytest.raises(QuestionError, match=r"q\.jsonl:2"):
        load(tmp_path, _CANARY, "{")
    before = (tmp_path / "q.jsonl").read_bytes()
    with pytest.raises(QuestionError, match=r"q\.jsonl:2"):
        JsonLinesSource().keep_proofs(JsonLinesConfig(path=Path("q.jsonl")), tmp_path, "base", {"q1": None})
    assert (tmp_path / "q.jsonl").read_bytes() == before


def test_a_part_is_spread_over_the_file_and_never_short(tmp_path: Path) -> None:
    """``take`` gives that many questions at equal distances, in file order; a file with fewer is an error."""
    lines = [{**_PLAIN, "id": f"q{number}"} for number in range(10)]
    load(tmp_path, *lines)
    config = JsonLinesConfig(path=Path("q.jsonl"), take=4)
    assert [question.id for question in JsonLinesSource().load(config, tmp_path)] == ["q0", "q2", "q5", "q7"]
    with pytest.raises(QuestionError, match="fewer than the 11"):
        JsonLinesSource().load(JsonLinesConfig(path=Path("q.jsonl"), take=11), tmp_path)
