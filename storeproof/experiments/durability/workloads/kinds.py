"""The kinds of workloads under which each sudden fault strikes too, after that of records: `durability.KIND/GUARANTEE`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from storeproof.experiments.durability.workloads.isolation_rounds import IsolationRounds
from storeproof.experiments.durability.workloads.session_summary import SessionSummary
from storeproof.experiments.durability.workloads.transfer_summary import TransferSummary
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.experiments.rounds_summary import WorkloadSummary

KINDS: Final[Mapping[str, type[WorkloadSummary]]] = {
    "transfers": TransferSummary,
    "sessions": SessionSummary,
    "linearizable": LinearizabilitySummary,
    "isolation": IsolationRounds,
}
