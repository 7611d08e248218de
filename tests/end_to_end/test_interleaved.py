"""Several stores in one run are measured in interleaved rounds, and what befalls one of them is its own."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.running import Run, leaves_nothing, run, struck

pytestmark = pytest.mark.slow

TWO = ("--store=sqlite:wal-full", "--store=sqlite:off")
ABSENT = "azure-redis-cache"
CHOSEN = ("-k", "key_access or put-distinct or single-get-0i")
WORKLOADS = ["single-put-distinct-90", "single-put-distinct-100", "single-get"]
FIRST = f"performance.{WORKLOADS[0]}/0i/4c"


def _stores(done: Run) -> dict[str, dict[str, Any]]:
    return {f"{store['store']}:{store['variant']}": store for store in done.result["stores"]}


def _measured(store: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["workload"]: each for each in store["measurements"] if each["workload"] in WORKLOADS}


def test_rounds_take_turns(tmp_path: Path) -> None:
    """First all that is to be proven, of both; then each workload on both. A store that cannot be had is not waited for."""
    done = run(tmp_path, *TWO, f"--store={ABSENT}", "-v", *CHOSEN)
    assert done.code == pytest.ExitCode.OK, done.said
    one, other, absent = _stores(done).values()
    assert absent["store"] == ABSENT
    assert not absent["measurements"]
    assert {each["outcome"] for each in absent["outcomes"]} <= {"not_run", "excluded"}
    for store, beside in ((one, "sqlite:off"), (other, "sqlite:wal-full")):
        assert list(_measured(store)) == WORKLOADS
        assert {tuple(each["interleaved_with"]) for each in _measured(store).values()} == {(beside,)}
        assert all(each["verified"] for each in _measured(store).values())
        spent = {each["id"]: each["seconds"] for each in store["outcomes"]}
        for name, each in _measured(store).items():  # although all rounds ran in the case of the first
            assert spent[f"performance.{name}/0i/4c"] >= sum(its["seconds"] for its in each["rounds"])
    tried = [line for line in done.said.splitlines() if "::test_" in line and "PASSED" in line]
    speed = [("sqlite:off" in line) for line in tried if "test_workload[" in line]
    assert tried[-len(speed) :] == [line for line in tried if "test_workload[" in line]
    assert speed == [False, True] * (len(speed) // 2)
    leaves_nothing(tmp_path)


def test_one_that_is_killed_is_alone_in_that(tmp_path: Path) -> None:
    """Both are killed from outside while they take turns: each is without a number, and is there again for the next workload."""
    done = run(tmp_path, *TWO, *CHOSEN, "-p", "striking", environment=struck(FIRST, signal.SIGKILL, 1.0, "store"))
    assert done.code == 0, done.said
    for store in _stores(done).values():
        (first,) = [each for each in store["outcomes"] if each["id"] == FIRST]
        assert (first["outcome"], first["named"]) == ("inconclusive", "the machine"), first
        assert list(_measured(store)) == WORKLOADS[1:]
    leaves_nothing(tmp_path)


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_an_interrupt_leaves_an_endpoint_as_it_was(tmp_path: Path, guarded_redis: int) -> None:
    """Ctrl-C while rounds take turns: nothing of ours stays in a server that is not ours."""
    import redis

    folder = tmp_path / "run"
    endpoint = ("--store=redis", f"--endpoint=redis=redis://:s3cret-word@127.0.0.1:{guarded_redis}/0")
    done = run(folder, *endpoint, *TWO, *CHOSEN, "-p", "striking", environment=struck(FIRST, signal.SIGINT, 1.2, "run"))
    assert done.code == pytest.ExitCode.INTERRUPTED, done.said
    assert redis.Redis(port=guarded_redis, password="s3cret-word").dbsize() == 0
    leaves_nothing(folder)
