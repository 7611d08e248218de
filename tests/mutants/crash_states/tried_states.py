"""Tries all states of recordings of a store with a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from storeproof.spec.cases import crash_states_case
from tests.mutants.log_stores.inner_run import Changes, outcomes

MODELS: Final = ("ext4", "torn", "writeback", "posix")
_SECONDS: Final = 600.0
"""More than all states take."""

Outcomes = Mapping[str, Mapping[str, Any]]


def under_each_model(
    folder: Path, store: Path, logs: Sequence[str], requests: int, under: Sequence[str] = MODELS, **claims: Any
) -> Mapping[str, Outcomes]:
    """By model and log, what became of the case. `store`: its program; `under`: the models; `claims`: as for `outcomes`."""

    def run(model: str) -> Outcomes:
        case = crash_states_case("power_loss")
        scale = {"crash_states": {"recordings": 1, "requests": requests, "seconds": _SECONDS}}
        changes: Changes = {"guarantees/power_loss.yaml": {"crash_model": model}, "scales/smoke.yaml": {"durability": scale}}
        cases = {log: [case] for log in logs}
        (folder / model).mkdir()
        plugin = "tests.mutants.crash_states.small_load"
        found = outcomes(folder / model, store, "test_crash_states.py", cases, changes, plugin, **claims)
        return {log: each[case] for log, each in found.items()}

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(under, pool.map(run, under), strict=True))


def all_tried(outcome: Mapping[str, Any]) -> bool:
    """And some of the first tiers."""
    tiers = outcome["crash_states"]["tiers"]
    return all(each["tried"] == each["states"] for each in tiers) and bool(tiers[0]["tried"] and tiers[1]["tried"])
