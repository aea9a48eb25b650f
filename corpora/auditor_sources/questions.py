"""Questions from JSON Lines: one object a line, every key checked, every message with file and line.

Invariant: a question that comes out has text that can be asked, and a reference wherever its kind is graded by one.
"""

from __future__ import annotations

import json
import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from auditor.canonical import Json, check
from auditor.corpus import decode
from auditor.errors import QuestionError
from auditor.jsonl import JsonLine, read_json_lines
from auditor.path import document_name, local_path, read_bytes, shown_path
from auditor.question import BASE_VARIANT, CANARY_KINDS, Form, Proof, ProofGrade, Question, QuestionKind
from auditor.source import QuestionSource
from auditor.suggestion import did_you_mean

__all__ = ["JsonLinesConfig", "JsonLinesSource", "QuestionLine"]

_UNREFERENCED_KINDS = frozenset({QuestionKind.FICTITIOUS, QuestionKind.PERTURBED})
_CLAIMANT = "the question file"
_NO_DATE = "not stated"


def _readable(text: str) -> str:
    """``text``, when UTF-8 can carry it and somebody could read it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("half of a surrogate pair") from error
    if not any(unicodedata.category(character)[0] not in "ZC" for character in text):
        raise ValueError("empty text")
    return text


def _canonical(step: Mapping[str, Json]) -> Mapping[str, Json]:
    try:
        check(step)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return step


Text = Annotated[str, AfterValidator(_readable)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ProofLine(_Strict):
    """A proof of absence as a prover wrote it: see ``auditor.question.Proof``."""

    grade: Annotated[ProofGrade, Field(strict=False)]
    corpus_digest: Text | None
    date: Text
    prover: Text
    steps: list[Annotated[dict[str, object], AfterValidator(_canonical)]] = []


class QuestionLine(_Strict):
    """One line. ``question`` or ``forms``; ``reference`` or ``references``; the rest has a meaning when absent."""

    id: Text
    kind: Annotated[QuestionKind, Field(strict=False)] = QuestionKind.BENCHMARK
    question: Text | None = None
    forms: dict[Text, Text] | None = None
    reference: Text | None = None
    references: list[Text] | None = None
    aliases: list[Text] = []
    cluster: Text | None = None
    gold_documents: list[Text] = []
    tags: list[Text] = []
    variants: list[Text] = [BASE_VARIANT]
    conditions: list[Text] | None = None
    proofs: dict[Text, ProofLine] = {}
    claimed: bool = False
    analyses: list[Text] = ["penalty"]


class JsonLinesConfig(BaseModel):
    """Where the questions are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="The file, relative to the spec.")
    take: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="This many of its questions, evenly spread over the file; all by default."
    )


class JsonLinesSource(QuestionSource):
    """See the module; the keys of a line are documented in docs/systems.md."""

    config_model = JsonLinesConfig

    def load(self, config: JsonLinesConfig, base: Path) -> Sequence[Question]:
        """Questions in file order. Raises ``QuestionError`` with file and line."""
        path = local_path(config.path, base)
        shown = shown_path(path, base)
        questions: list[Question] = []
        lines: dict[str, int] = {}
        for line in read_json_lines(path, shown=shown, error=QuestionError):
            question = _question(line, shown)
            first = lines.setdefault(question.id, line.number)
            if first != line.number:
                raise QuestionError(f"id {question.id!r} stands on line {first} too", file=shown, line=line.number)
            questions.append(question)
        if not questions:
            raise QuestionError("holds no question", file=shown)
        return _spread(questions, config.take, shown)

    def keep_proofs(
        self, config: JsonLinesConfig, base: Path, variant: str, proofs: Mapping[str, Proof | None]
    ) -> None:
        """Rewrite the lines of ``proofs`` and no others, in UTF-8; the file is replaced whole or not at all."""
        self.load(config, base)
        path = local_path(config.path, base).resolve()
        lines = decode(read_bytes(path)).text.split("\n")
        draft = path.with_name(f".{path.name}.new")
        try:
            kept = "\n".join(_kept(line, variant, proofs) for line in lines)
            draft.write_text(kept, encoding="utf-8", newline="")
            shutil.copymode(path, draft)
            draft.replace(path)
        except OSError as error:
            reason = f"proofs cannot be written: {error.strerror or error}"
            raise QuestionError(reason, file=shown_path(path, base)) from error
        finally:
            draft.unlink(missing_ok=True)


def _spread(questions: Sequence[Question], take: int | None, shown: str) -> Sequence[Question]:
    """``take`` of the questions, at equal distances, in file order; never fewer than asked for."""
    if take is None:
        return questions
    if take > len(questions):
        raise QuestionError(f"holds {len(questions)} questions, fewer than the {take} to take", file=shown)
    return [questions[place * len(questions) // take] for place in range(take)]


def _kept(line: str, variant: str, proofs: Mapping[str, Proof | None]) -> str:
    """A line of the file with its proof; as it was when it has none to get or to lose."""
    fields = json.loads(line) if line.strip() else {}
    if fields.get("id") not in proofs:
        return line
    kept = {name: proof for name, proof in fields.pop("proofs", {}).items() if name != variant}
    proof = proofs[fields["id"]]
    if proof is not None:
        kept[variant] = {**asdict(proof), "grade": proof.grade.value}
    if kept:
        fields["proofs"] = kept
    return json.dumps(fields, ensure_ascii=False) + ("\r" if line.endswith("\r") else "")


def _question(line: JsonLine, shown: str) -> Question:
    try:
        read = QuestionLine.model_validate(line.fields)
        return _assembled(read)
    except ValidationError as error:
        reason = "; ".join(_reasons(error))
        raise QuestionError(reason, file=shown, line=line.number) from error
    except ValueError as error:
        raise QuestionError(str(error), file=shown, line=line.number) from error


def _reasons(error: ValidationError) -> Iterator[str]:
    """What is wrong, key by key, in the words of somebody who edits the file."""
    for item in error.errors(include_url=False, include_input=True):
        *parents, last = [str(part) for part in item["loc"] if part != "[key]"] or ["line"]
        where = ".".join([*parents, last])
        if item["type"] == "extra_forbidden":
            known = ProofLine.model_fields if parents[:1] == ["proofs"] else QuestionLine.model_fields
            yield f"unknown key {where!r}{did_you_mean(last, known)}"
        elif item["type"] == "missing":
            yield f"key {where!r} is missing"
        elif item["type"] == "enum":
            allowed = [*ProofGrade] if last == "grade" else [*QuestionKind]
            yield f"{where!r} is none of {', '.join(allowed)}{did_you_mean(str(item['input']), allowed)}"
        else:
            yield f"{where!r}: {item['msg'].removeprefix('Value error, ')}"


def _assembled(line: QuestionLine) -> Question:
    """The question of a line whose keys are right one by one. Raises ``ValueError`` where they do not fit together."""
    proofs = _proofs(line)
    for variant in proofs:
        if variant not in line.variants:
            raise ValueError(f"proof for variant {variant!r}, which the question is not asked in")
    return Question(
        id=line.id,
        kind=line.kind,
        forms=_forms(line),
        references=_references(line),
        cluster=line.cluster or line.id,
        aliases=tuple(line.aliases),
        gold_documents=tuple(document_name(name) for name in line.gold_documents),
        tags=tuple(line.tags),
        variants=tuple(line.variants),
        conditions=None if line.conditions is None else tuple(line.conditions),
        proofs=proofs,
        analyses=tuple(line.analyses),
    )


def _forms(line: QuestionLine) -> tuple[Form, ...]:
    if (line.question is None) == (not line.forms):
        raise ValueError("exactly one of 'question' and 'forms' is needed")
    if line.question is not None:
        return (Form("plain", line.question),)
    return tuple(Form(name, text) for name, text in (line.forms or {}).items())


def _references(line: QuestionLine) -> tuple[str, ...]:
    if line.reference is not None and line.references is not None:
        raise ValueError("'reference' and 'references' exclude each other")
    references = tuple(line.references or ()) if line.reference is None else (line.reference,)
    if not references and line.kind not in _UNREFERENCED_KINDS:
        raise ValueError(f"a {line.kind} question without a reference; add 'references'")
    return references


def _proofs(line: QuestionLine) -> Mapping[str, Proof]:
    if not line.proofs and not line.claimed:
        return {}
    if line.kind not in CANARY_KINDS:
        raise ValueError(f"a {line.kind} question with a proof of absence; only a canary has one")
    if line.proofs and line.claimed:
        raise ValueError("'claimed' is for canaries without 'proofs'")
    if line.claimed:
        return {variant: Proof(ProofGrade.CLAIMED, None, _NO_DATE, _CLAIMANT) for variant in line.variants}
    return {
        variant: Proof(proof.grade, proof.corpus_digest, proof.date, proof.prover, tuple(_steps(proof)))
        for variant, proof in line.proofs.items()
    }


def _steps(proof: ProofLine) -> Sequence[Mapping[str, Json]]:
    return cast("Sequence[Mapping[str, Json]]", proof.steps)  # each step was checked when the line was read
