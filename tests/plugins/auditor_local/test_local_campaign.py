"""In a whole audit, an embedder and a reader of the spec are asked through their ports, recorded, and held apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from auditor.archive import Run
from auditor.errors import SpecError
from auditor.ledger import Reader, verify
from campaign_kit import Project, benchmark
from embeddings_server import letters, serving

_DOCUMENTS = {"a.txt": "The pump of the Alpha turns at 90 rpm.\n", "b.txt": "The Beta weighs 12 kg.\n"}
_ASKED = [
    {**benchmark(1), "question": "At how many rpm does the pump of the Alpha turn?", "references": ["90 rpm"]},
    {**benchmark(2), "question": "What does the Beta weigh?", "references": ["12 kg"]},
]


def project(folder: Path, url: str, **system: Any) -> Project:
    """An audit of one pipeline over vectors of the server at ``url``."""
    made = Project(folder, questions=_ASKED, documents=_DOCUMENTS)
    made.systems.append(
        {
            "name": "vectors",
            "kind": "local-rag",
            "config": {"policy": "answer_always", "retrieval": "dense", "k": 1},
            "embedders": {"embedder": "small"},
            **system,
        }
    )
    config = {"base_url": url, "model": "toy"}
    made.extra["models"] = {"small": {"kind": "embeddings-endpoint", "config": config}}
    return made


def test_an_embedder_of_the_spec_makes_the_vectors(tmp_path: Path) -> None:
    """Passages at opening, each question when asked; every call is an entry; a finished run asks for none."""
    with serving(reply=letters) as served:
        audit = project(tmp_path, served.url)
        result = audit.run()
        asked = [body["input"] for _, _, body in served.asked]
        assert len(asked) == 1 + 2 + 2  # the passages, two probes, two questions
        again = audit.run()
        assert (again.asked, len(served.asked)) == (0, len(asked))
    answers = [str(answer) for answer in Run(result.folder).trials["answer"]]
    assert all(any(wanted in answer for answer in answers) for wanted in ("12 kg", "90 rpm"))
    with Reader(result.folder / "ledger.sqlite") as reader:
        keys = [row.key for row in reader.rows("outcome")]
    assert sum("/e0/" in key for key in keys) == len(asked)
    assert verify(result.folder / "ledger.sqlite").exit_code == 0


def test_another_embedder_is_another_design(tmp_path: Path) -> None:
    """The embedder's configuration is part of what an answer depends on: no answer is inherited under another one."""
    with serving(reply=letters) as served:
        audit = project(tmp_path, served.url)
        first = audit.run()
        audit.extra["models"]["small"]["config"]["model"] = "other"
        second = audit.run(parent=first.folder)
    assert first.folder != second.folder
    assert second.asked == 2


def test_an_embedder_that_fails_opens_no_store(tmp_path: Path) -> None:
    """Its fault is why nothing was asked; it is no answer of any kind."""
    with serving(status=401, reply=letters) as served:
        result = project(tmp_path, served.url).run()
    assert {str(trial["state"]) for trial in result.findings.trials} == {"not_asked"}


def test_an_embedder_is_no_chat_model(tmp_path: Path) -> None:
    """A name that is used as an embedder cannot read, and the message names the line."""
    audit = project(tmp_path, "http://127.0.0.1:9/v1", models={"reader": "small"})
    with pytest.raises(SpecError, match=r"audit\.yaml:\d+.*is an embedder"):
        audit.run()


def test_a_reader_shares_the_family_of_its_model(tmp_path: Path) -> None:
    """A pipeline whose model is akin to a judge carries the conflict; the model's reply is its answer."""
    audit = Project(tmp_path, questions=_ASKED, documents=_DOCUMENTS)
    config = {"policy": "answer_always", "reader": "model"}
    audit.systems.append({"name": "reads", "kind": "local-rag", "config": config, "models": {"reader": "chat"}})
    audit.systems.append({"name": "alone", "kind": "bare-model", "models": {"model": "chat"}})
    audit.systems.append({"name": "apart", "kind": "local-rag", "config": {"policy": "answer_always"}})
    chat = {"kind": "stub-chat", "family": "embedded:stub-a", "config": {"reply": "It is 90 rpm."}}
    audit.extra["models"] = {"chat": chat}
    run = Run(audit.run().folder)
    systems = {row.name: row for row in run.skeleton.systems()}
    assert systems["reads"].role_conflicts == systems["alone"].role_conflicts == ("verdict:a",)
    assert systems["apart"].role_conflicts == ()
    answers = {str(row["system"]): str(row["answer"]) for row in run.trials.to_dict("records")}
    assert answers["reads"] == answers["alone"] == "It is 90 rpm."
