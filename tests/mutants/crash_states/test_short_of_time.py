"""A machine that is busy takes no state from a verdict that needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.spec.cases import crash_states_case
from tests.disk.conftest import memory_disks  # noqa: F401 - a fixture
from tests.mutants.log_stores.inner_run import Changes, outcomes
from tests.shipped import SHIPPED

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("memory_disks")]


def test_two_states_of_each_tier_are_tried_when_the_time_is_over(tmp_path: Path) -> None:
    """As if all of it had gone by before the first. Which states those are depends on how the clients' requests met: the one that fails
    here fails in each that has an acknowledged write."""
    case = crash_states_case("power_loss")
    changes: Changes = {"scales/smoke.yaml": {"durability": {"crash_states": {"recordings": 1, "requests": 4, "seconds": 1e-9}}}}
    store = Path(__file__).parent / "log_store.py"
    found = outcomes(tmp_path, store, "test_crash_states.py", {log: [case] for log in ("appended", "forgetful")}, changes)
    honest, lying = found["appended"][case], found["forgetful"][case]
    assert [honest["outcome"], lying["outcome"]] == ["pass", "fail"], lying["detail"]
    least = SHIPPED.scales["smoke"].durability.crash_states.at_least
    tiers = [each for each in honest["crash_states"]["tiers"] if each["states"]]
    assert sum(each["tried"] for each in tiers) == least < sum(each["states"] for each in tiers)
    assert all(each["tried"] for each in tiers)
