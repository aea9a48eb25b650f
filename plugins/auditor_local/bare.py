"""``bare-model``: a chat model asked without documents, the no-retrieval baseline.

Invariant: it gets the question, prompt and limits that every system gets, and nothing from the corpus.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from auditor.corpus import Corpus
from auditor.model import Message, Role
from auditor.system import EvidenceSupport, Reply, Request, Store, System, SystemTraits, Work
from auditor_local.model_reader import chat_port, reply_of
from auditor_local.template import shown

__all__ = ["BareConfig", "BareModel"]

_PORT = "model"


class BareConfig(BaseModel):
    """It has no settings: the model is named under the system's ``models``."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BareModel(System):
    """See the module. Its port is ``model``."""

    config_model = BareConfig
    config: BareConfig

    @property
    def traits(self) -> SystemTraits:
        """Not grounded, no evidence; the family is that of the model that the spec names."""
        return SystemTraits(
            grounded=False,
            evidence=EvidenceSupport.NONE,
            reports_usage=True,
            takes_temperature=True,
            takes_output_cap=True,
        )

    def open(self, corpus: Corpus, work: Work) -> Store:
        """Nothing to open; a spec that names no model is refused here, before the first question."""
        chat_port(work.ports, _PORT)
        return Store("bare-model")

    def ask(self, store: Store, request: Request) -> Reply:
        """What the model says."""
        told = (Message(Role.SYSTEM, shown(request.prompt)), Message(Role.USER, shown(request.text)))
        with request.wire():
            completion = chat_port(request.ports, _PORT).complete(told, limits=request.limits)
        return reply_of(completion)
