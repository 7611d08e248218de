"""What a scale measures: smoke one workload of each kind, and any other that the command line names."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.end_to_end.running import SUITES, run
from tests.mini_edition.inner_run import run_to_the_end
from tests.shipped import SHIPPED

SPEC = SHIPPED


def _collected(folder: Path, *arguments: str) -> Counter[str]:
    """How often each workload would be measured."""
    _, said = run_to_the_end([str(SUITES / "performance"), "--collect-only", "-q", *arguments], folder, {})
    found = re.findall(r"test_workload\[(.+?)-\d+i-\d+c.*\]", said)
    assert "no tests collected" not in said or not found, said
    return Counter(found)


@pytest.mark.parametrize(
    ("selected", "wanted"),
    [
        ((), dict.fromkeys(SPEC.scales["smoke"].performance.workloads, 1)),
        (("-k", "test_workload"), dict.fromkeys(SPEC.scales["smoke"].performance.workloads, 1)),
        (("-k", "single-get-sizes"), {"single-get-sizes": 4}),
        (("-k", "hash10-put"), {"hash10-put": 2}),
        (("-k", "performance and not (single or hash or document or corpus or nested or row)"), {"ycsb-a": 1, "ycsb-e": 1}),
        (("-k", "ycsb-b-0i-8c"), {"ycsb-b": 1}),
    ],
    ids=["all", "not-by-name", "series", "all-of-one", "others-named", "case"],
)
def test_smoke_measures_one_of_each_kind_and_what_is_named(tmp_path: Path, selected: tuple[str, ...], wanted: dict[str, int]) -> None:
    """A name in -k counts; a word that is in no workload's name selects among those of the scale."""
    assert _collected(tmp_path, *selected) == wanted


def test_a_node_id_names_a_case_too(tmp_path: Path) -> None:
    """As an editor or a failed run gives it."""
    node = f"{SUITES}/performance/test_workloads.py::test_workload[ycsb-b-0i-8c-sqlite:wal-full]"
    _, said = run_to_the_end([node, "--collect-only", "-q"], tmp_path, {})
    assert "1 test collected" in said, said


def test_standard_measures_every_workload_with_its_series(tmp_path: Path) -> None:
    """Nothing is left to another scale."""
    found = _collected(tmp_path, "--scale=standard")
    assert set(found) == set(SPEC.workloads)
    assert found["single-get-sizes"] == 4
    assert found["hash10-put"] == 2


@pytest.mark.slow
def test_a_number_of_records_may_be_given(tmp_path: Path) -> None:
    """In place of the scale's, and the result says how many were loaded."""
    done = run(tmp_path, "--records=7", "-k", "key_access or stateful or single-get")
    (measured,) = done.result["stores"][0]["measurements"]
    assert (measured["workload"], measured["loaded"]) == ("single-get", 7), done.said
    assert measured["interleaved_with"] == [], "a store that is alone in its run"
