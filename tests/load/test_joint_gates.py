"""Loads that were not on at the same time, or that together are more than the load generator has cores for, are told."""

from __future__ import annotations

import pytest

from storeproof.load.engine import RunResult
from storeproof.load.quality.gates import BOTTLENECK, VALIDITY, OneOfSeveral, judge_joint
from tests.load.test_gates import _open_round

SECONDS = 1.0


def load(*begins_ms: int, threads: int = 1, ceiling: float | None = 10_000.0) -> OneOfSeveral:
    """A load whose rounds began at these times."""
    rounds: list[RunResult] = [_open_round() for _ in begins_ms]
    return OneOfSeveral(rounds, [ms * 1_000_000 for ms in begins_ms], threads, ceiling)


def test_rounds_that_begin_at_the_same_time_pass() -> None:
    """A few milliseconds are a small share of a second."""
    gates = judge_joint([load(0, 2000, 4000), load(10, 2000, 4020)], SECONDS, cores=2)
    assert gates["joint_start"].ok
    assert gates["joint_start"].value == pytest.approx(0.01)


def test_a_load_that_was_on_without_the_other_makes_the_number_invalid() -> None:
    """By the median round: one of three does not count."""
    late = judge_joint([load(0, 2000, 4000), load(0, 2100, 4100)], SECONDS, cores=2)
    assert not late["joint_start"].ok
    assert judge_joint([load(0, 2000, 4000), load(0, 2000, 4900)], SECONDS, cores=2)["joint_start"].ok
    assert "joint_start" in VALIDITY


def test_the_cores_of_the_generator_are_those_of_all_loads() -> None:
    """Each needs less than a core; both need more than one has."""
    rate = _open_round().request_rate
    near = 0.6
    loads = [load(0, 2000, 4000, ceiling=rate / near), load(0, 2000, 4000, ceiling=rate / near)]
    assert judge_joint(loads[:1], SECONDS, cores=1)["joint_ceiling"].ok
    both = judge_joint(loads, SECONDS, cores=1)["joint_ceiling"]
    assert both.value == pytest.approx(2 * near)
    assert not both.ok
    assert judge_joint(loads, SECONDS, cores=2)["joint_ceiling"].ok
    assert "joint_ceiling" in BOTTLENECK


def test_threads_need_a_core_each() -> None:
    """A ceiling that two threads reach is that of two cores."""
    rate = _open_round().request_rate
    two = load(0, 2000, 4000, threads=2, ceiling=2 * rate)
    assert judge_joint([two], SECONDS, cores=1)["joint_ceiling"].value == pytest.approx(1.0)


def test_a_ceiling_that_was_not_measured_is_no_pass() -> None:
    """The gate is left out."""
    loads = [load(0, 2000, 4000), load(0, 2000, 4000, ceiling=None)]
    assert set(judge_joint(loads, SECONDS, cores=2)) == {"joint_start"}
