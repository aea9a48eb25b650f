"""One pool for every call to a system or model: limits, retries, deadlines, timing, cost, progress, ports."""

from __future__ import annotations

from auditor.engine.budget import Budget
from auditor.engine.call import Call
from auditor.engine.clock import Clock, FakeClock, SystemClock
from auditor.engine.endpoint import Endpoint, EndpointLimits
from auditor.engine.engine import Engine
from auditor.engine.handle import lend_call, lend_work
from auditor.engine.port import PortEmbedder, PortModel, build_ports
from auditor.engine.task import Encoded, Ended, History, StageResult, Stored, Task, read_histories
from auditor.engine.work import StoreWork

__all__ = [
    "Budget",
    "Call",
    "Clock",
    "Encoded",
    "Ended",
    "Endpoint",
    "EndpointLimits",
    "Engine",
    "FakeClock",
    "History",
    "PortEmbedder",
    "PortModel",
    "StageResult",
    "StoreWork",
    "Stored",
    "SystemClock",
    "Task",
    "build_ports",
    "lend_call",
    "lend_work",
    "read_histories",
]
