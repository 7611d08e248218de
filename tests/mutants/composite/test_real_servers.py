"""The shipped composites on their real servers."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from storeproof.contract import load_adapter
from storeproof.errors import NotAvailable
from storeproof.machine.programs import find_programs
from storeproof.spec import Target
from tests.end_to_end.running import leaves_nothing, run
from tests.mutants.composite.files import composite_file
from tests.shipped import SHIPPED

pytestmark = [pytest.mark.servers, pytest.mark.slow]

STALE = ("stale_reads.single_key", "stale_reads.hash10", "stale_reads.document10")
RIGHT = (
    "settings.readback",
    *STALE,
    "stateful.document10",
    "linearizable.register",
    "stateful.single_key",
    "durability.process_crash",
    "durability.front_kill",
    "durability.home_kill",
)
TRIED = {
    "redis-over-mongodb": {
        "cache-aside": STALE,
        "write-through": RIGHT,
        "write-behind": ("stale_reads.document10", "stateful.document10", "durability.front_kill", "durability.home_pause"),
    },
    "redis-over-mariadb": {
        "write-through": ("settings.readback", "stale_reads.single_key", "stateful.document10", "durability.front_kill"),
    },
}
"""By pair and variant. The layer is the same for all pairs, and so is most of what is tried: each has what its servers could do otherwise.
Interruptions take until clients give up: `nox -s process` has them, and what the cache does, with these servers and with Memcached over
PostgreSQL."""
MAY_BE_STALE = {*STALE, "linearizable.register"}
LOST = "durability.front_kill"
"""What `write-behind` may lose, and no other policy."""


@contextmanager
def own_folder() -> Iterator[Path]:
    """A directory that a server which refuses root may enter."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def folder() -> Iterator[Path]:
    with own_folder() as made:
        yield made


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
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    unfenced, fenced = ({each["id"]: each for each in store["outcomes"]} for store in done.result["stores"])
    assert unfenced["stale_reads.single_key"]["outcome"] == fenced[late]["outcome"] == "pass", done.said
    found = unfenced[late]
    assert found["outcome"] == "fail", found
    assert re.search(r"round [1-5]: [0-9]+ of [0-9]+ reads were stale; ", found["detail"]), found["detail"]
    assert "none is missing in the home" in found["detail"]
    leaves_nothing(folder)


@pytest.fixture(scope="module", params=list(TRIED))
def pair(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """One run of all that is tried of a pair: the results of its variants."""
    name: str = request.param
    for part in SHIPPED.targets([name])[0].parts.values():
        require(part)
    stores = [f"--store={name}:{variant}" for variant in TRIED[name]]
    cases = {f"{name}:{variant}": list(tried) for variant, tried in TRIED[name].items()}
    with own_folder() as folder:
        done = run(folder, *stores, "--launch=process", "-q", cases=cases, whole=True, rounds=1)
        assert done.code == 0, done.said
        leaves_nothing(folder)
        yield {store["variant"]: store for store in done.result["stores"]}


def test_a_cache_before_a_database(pair: dict[str, Any]) -> None:
    """With one lock for each key nothing is wrong. Without, reads may be stale, and nothing else; `write-behind` may lose."""
    for variant, store in pair.items():
        tried = TRIED[store["store"]][variant]
        found = {each["id"]: each for each in store["outcomes"] if each["id"] in tried}
        assert set(found) == set(tried)
        excused = {"cache-aside": MAY_BE_STALE, "write-through": set(), "write-behind": {LOST, "durability.home_pause"}}[variant]
        wrong = {name: each for name, each in found.items() if each["outcome"] != "pass"}
        assert set(wrong) <= excused, wrong
        assert {each["outcome"] for each in wrong.values()} <= {"unsupported", "undeclared"}
        if variant == "cache-aside":
            assert {name for name in STALE if name in tried} <= set(wrong)


def test_write_behind_loses_with_its_front_and_nothing_else(pair: dict[str, Any]) -> None:
    """What waits when a front in memory is killed is lost, and counted; what a pause of the home does is told, and no promise."""
    if "write-behind" not in pair:
        pytest.skip("no such variant")
    found = {each["id"]: each for each in pair["write-behind"]["outcomes"]}
    assert found["durability.home_pause"]["outcome"] in ("undeclared", "unsupported"), found
    assert found[LOST]["outcome"] == "unsupported", found[LOST]
    assert " lost" in found[LOST]["detail"]
