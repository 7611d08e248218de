"""The shipped composites on their real servers."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from storeproof.contract import load_adapter
from storeproof.errors import NotAvailable
from storeproof.launch.process import find_programs
from storeproof.spec import Target
from tests.end_to_end.running import leaves_nothing, run
from tests.mutants.composite.files import composite_file
from tests.shipped import SHIPPED

pytestmark = [pytest.mark.servers, pytest.mark.slow]

CASES = (
    "settings.readback",
    "stale_reads.single_key",
    "stale_reads.hash10",
    "stale_reads.document10",
    "stateful.document10",
    "linearizable.register",
    "stateful.single_key",
    "durability.process_crash",
    "durability.front_kill",
    "durability.home_kill",
)
SLOW = (
    "durability.front_pause",
    "durability.front_link/reset",
    "durability.front_link/hang",
    "durability.home_link/reset",
    "durability.home_link/hang",
    "cache.hit_rate/half",
    "cache.cold_start",
    "cache.dogpile",
)
"""They take 50 s for each variant, most of it until clients give up, so that one pair has them here: the one whose servers no other has."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that a server which refuses root may enter."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def require(part: Target) -> None:
    """Skip where a server or its client is missing."""
    assert part.launch.process is not None
    try:
        load_adapter(part.store, part.file)
        find_programs(part.launch.process, part.store.name)
    except NotAvailable as missing:
        pytest.skip(str(missing))


def test_copies_that_count_when_they_arrive_late_are_caught(folder: Path) -> None:
    """They do no harm until the link to the front hangs: then a fill that was given up hides a newer write. With fences it does not.

    The front is a real one: the host of SQLite carries out no request of a client that is gone.
    """
    require(SHIPPED.targets(["redis:volatile"])[0])
    late = "durability.front_link/hang"
    files = [
        composite_file(folder, "unfenced", "write-through", "unfenced", front="redis:volatile"),
        composite_file(folder, "fenced", "write-through", front="redis:volatile"),
    ]
    cases = {"unfenced:plain": ["stale_reads.single_key", late], "fenced:plain": [late]}
    done = run(folder, *(f"--store={path}" for path in files), "--launch=process", "-q", cases=cases)
    unfenced, fenced = ({each["id"]: each for each in store["outcomes"]} for store in done.result["stores"])
    assert unfenced["stale_reads.single_key"]["outcome"] == fenced[late]["outcome"] == "pass", done.said
    found = unfenced[late]
    assert found["outcome"] == "fail", found
    assert re.search(r"round [1-5]: [0-9]+ of [0-9]+ reads were stale; ", found["detail"]), found["detail"]
    assert "none is missing in the home" in found["detail"]
    leaves_nothing(folder)


@pytest.mark.parametrize(
    ("name", "tried"),
    [("redis-over-mongodb", CASES), ("redis-over-mariadb", CASES), ("memcached-over-postgresql", (*CASES, *SLOW))],
)
def test_a_cache_before_a_database(name: str, tried: Sequence[str], folder: Path) -> None:
    """With one lock for each key nothing is wrong; without, reads may be stale, and nothing else."""
    for part in SHIPPED.targets([name])[0].parts.values():
        require(part)
    variants = ("cache-aside", "write-through")
    cases = {f"{name}:{variant}": list(tried) for variant in variants}
    stores = [f"--store={name}:{variant}" for variant in variants]
    done = run(folder, *stores, "--launch=process", "-q", cases=cases, whole=True)
    assert done.code == 0, done.said
    found = {store["variant"]: {each["id"]: each["outcome"] for each in store["outcomes"]} for store in done.result["stores"]}
    assert {case: found["write-through"][case] for case in tried} == dict.fromkeys(tried, "pass")
    stale = {case: outcome for case, outcome in found["cache-aside"].items() if case in tried and outcome != "pass"}
    assert {"stale_reads.single_key", "stale_reads.hash10", "stale_reads.document10"} <= set(stale)
    assert set(stale) <= {*(case for case in CASES if case.startswith("stale_reads.")), "linearizable.register"}
    assert set(stale.values()) == {"unsupported"}
    for store in done.result["stores"] if "cache.hit_rate/half" in tried else ():
        rates = {each["distribution"]: each["hits"] / each["reads"] for each in store["cache"]["hit_rates"]}
        assert 0.1 < rates["uniform"] < 0.9, "the front has room for a part"
        assert rates["uniform"] < rates["zipf"]
        (cold,) = store["cache"]["cold_starts"]
        assert cold["hit_rate_first"] < cold["hit_rate_before"] == 1
        assert cold["back_seconds"] is not None
    leaves_nothing(folder)
