"""Rounds of faults of one server in this process, under clients that write records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storeproof.contract import Layout
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.strike_rounds import StrikeRounds
from storeproof.experiments.durability.strikes.server import ServerStrike
from storeproof.experiments.durability.workloads.server_records import ServerRecords
from storeproof.experiments.fault_experiment import Subject
from storeproof.faults import find
from storeproof.spec.scale import DurabilityScale


def rounds_of(
    where: Subject,
    fault: str,
    layouts: Mapping[str, Layout],
    scale: DurabilityScale,
    summary: DurabilitySummary | None = None,
    *,
    second: bool = False,
    **wanted: Any,
) -> StrikeRounds[ServerStrike]:
    """As a case runs them. `wanted`: shapes of load, and what is written together."""
    records = ServerRecords(where, find(fault), layouts, scale, summary or DurabilitySummary(), **wanted)
    again = (lambda: 0.005) if second else None
    return StrikeRounds(where, [lambda: ServerStrike(where, find(fault), again_within=again)] * scale.rounds, records)


def struck(*of: Any, **wanted: Any) -> DurabilitySummary:
    """What all of them found; arguments as for `rounds_of`."""
    rounds = rounds_of(*of, **wanted)
    rounds.run()
    assert isinstance(rounds.workload.summary, DurabilitySummary)
    return rounds.workload.summary
