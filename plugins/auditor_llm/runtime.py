"""The runtime: a llama.cpp server object in this process, set up so that it costs little and listens to nobody.

Invariant: xllamacpp always opens a loopback port; it gets a random token that is kept nowhere, so every request through
the port is refused.
"""

from __future__ import annotations

import importlib
import secrets
from pathlib import Path
from typing import Any

from auditor.errors import CallError, Fault, FaultReport

__all__ = ["start"]

_TOKEN_BYTES = 32


def start(weights: Path, *, context_tokens: int, threads: int) -> Any:
    """A server object over the weights. Raises ``CallError`` where they do not load."""
    xllamacpp: Any = importlib.import_module("xllamacpp")  # extra llm, so it may not be there to be checked
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {weights.name}  # otherwise replies name the path on this machine
    params.n_ctx = context_tokens
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_parallel = 1
    params.n_threads_http = 1
    params.cache_ram_mib = 0  # no call leaves anything for the next
    params.warmup = False
    params.verbosity = -1
    params.offline = True
    params.ui = params.endpoint_slots = False
    params.api_keys = [secrets.token_urlsafe(_TOKEN_BYTES)]
    try:
        return xllamacpp.Server(params)
    except Exception as error:
        raise CallError(FaultReport(Fault.PERMANENT, f"{weights.name} does not load: {error}")) from error
