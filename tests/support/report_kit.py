"""A small real run with everything that a report must show: marks, canaries with proofs, exclusions, hostile answers.

Systems: ``careful`` and ``eager`` answer from documents (``eager`` shares a judge's family), ``bare`` is a baseline,
``memory`` is simulated. Each question is asked twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import auditor
from auditor.archive import Run
from campaign_kit import Project, benchmark, canary

__all__ = ["HOSTILE_ANSWERS", "LONG_ANSWER", "rich_run"]

LONG_ANSWER = "Zqlong" + "x" * 200_000
HOSTILE_ANSWERS: Mapping[str, str] = {
    "script": "<script>document.title='owned'</script> right 1",
    "end": "</script></textarea></style><img src=x onerror=\"document.title='owned'\"> <!-- right 2",
    "formula": '=HYPERLINK("http://evil.example","x") {{ 7*7 }} {% raw %} ${7*7} %s',
    "rtl": "\u202egnp.exe\u202c مرحبا بالعالم, עברית right 4",
    "scripts": "東京 漢字 — Привет, naïve 🔴👩‍🚀 right 5",
    "control": "a\x00b\x07c\x1b[31md\u200be\ue000f\x85g",
    "surrogate": "half \ud800 and \udfff right 7",
    "long": LONG_ANSWER,
    "lines": "one\r\ntwo\rthree\n\n\tfour & <five> \"six\" 'seven'",
}
_PASSAGE = "A long passage, which goes on and on about what this question asks and never says it. " * 6


def rich_run(folder: Path, *, private: bool = False) -> Run:
    """Run it in ``folder``, which must be new, and open it."""
    folder.mkdir(parents=True, exist_ok=True)
    project = Project(folder)
    hostile = list(HOSTILE_ANSWERS.values())
    project.questions = [
        benchmark(n, aliases=[f"also {n}"], gold_documents=["a.txt"]) for n in range(1, len(hostile) + 4)
    ]
    project.questions[2]["question"] += " " + _PASSAGE  # the stub's passage repeats the question
    kinds = ("knowledge_gap", "hold_out", "fictitious")
    project.questions += [
        canary(10 * place + n, project.corpus_digest, kind) for place, kind in enumerate(kinds) for n in range(1, 5)
    ]
    asked = [str(question["question"]) for question in project.questions]
    careful = {text: f"It is right {n}." for n, text in enumerate(asked[: len(hostile) + 3], 1)}
    careful |= {asked[1]: "I do not know.", asked[2]: "!empty", asked[3]: "!permanent"}
    eager = dict(zip(asked, hostile, strict=False)) | {
        text: "It is gap 1, b=partial." for text in asked[len(hostile) :]
    }
    eager |= {asked[-1]: "There is no such thing.", asked[-2]: "Hmm", asked[-3]: "c=garbage right a=correct"}
    for name, answers in (("careful", careful), ("eager", eager)):
        (folder / f"{name}.json").write_text(json.dumps(answers), encoding="ascii")
    project.system("careful", answers_file=str(folder / "careful.json"))
    project.system("eager", answers_file=str(folder / "eager.json"), family="embedded:stub-b", house_phrase="right 1")
    project.system("bare", default="A guess.", grounded=False)
    (folder / "memory.jsonl").write_text('{"question": "What is thing 1?", "answer": "right 1"}\n', encoding="utf-8")
    project.systems.append({"name": "memory", "kind": "simulated-memory", "config": {"memory": "memory.jsonl"}})
    project.extra = {
        "repeats": 2,
        "corpus": {"source": "folder", "path": "documents", "private": private},
        "disclosure": {"run_by": "A. Tester & Sons <tests@example.org>", "conflicts": "none known"},
    }
    return auditor.open(project.run().folder)
