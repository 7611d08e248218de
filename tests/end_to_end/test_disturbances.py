"""A store that is killed, halted, or without disk space in mid-run becomes an outcome; the run goes on, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.running import Run, leaves_nothing, run, start, store_file, struck
from tests.end_to_end.striking import containers_of

pytestmark = pytest.mark.slow

SOME_CASES = "key_access or stateful and (single_key or counter) or sizes"
IN_THE_MIDDLE = "capabilities.key_access.multi-get/001"


@dataclass
class Disturbed:
    """Four runs at the same time: three are disturbed, each in its own way, and one is not."""

    died: Run
    hung: Run
    filled: Run
    left_alone: Run


def _start(folder: Path, number: signal.Signals | None, *arguments: str) -> Run:
    if number is None:
        return start(folder, *arguments, "-k", SOME_CASES, suites="correctness")
    environment = struck(IN_THE_MIDDLE, number, 0, "store")
    return start(folder, *arguments, "-k", SOME_CASES, "-p", "striking", suites="correctness", environment=environment)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disturbed]:
    folder = tmp_path_factory.mktemp("runs")
    disk = folder / "filled" / "data"
    disk.mkdir(parents=True)
    mounted = os.geteuid() == 0 and not subprocess.run(["mount", "-t", "tmpfs", "-o", "size=640k", "storeproof-test", str(disk)]).returncode
    try:
        strikes = {"died": signal.SIGKILL, "hung": signal.SIGSTOP, "filled": None, "left_alone": None}
        found = Disturbed(*(_start(folder / name, number) for name, number in strikes.items()))
        for each in (found.died, found.hung, found.filled, found.left_alone):
            assert each.code is not None
        yield found
    finally:
        if mounted:
            subprocess.run(["umount", str(disk)], check=True)


def _one_was_spoiled_and_done_again(done: Run, *words: str) -> None:
    """A server that another process ended or halted: the case is begun once more, on a new one, and says so."""
    assert done.code == 0, done.said
    (spoiled,) = [each for each in done.outcomes.values() if each["spoiled"]]
    assert (spoiled["id"], spoiled["outcome"], spoiled["spoiled"]) == (IN_THE_MIDDLE, "pass", 1), done.said
    assert any(word in spoiled["detail"] for word in words), spoiled["detail"]
    assert "Traceback" not in done.said
    assert set(done.counted) <= {"pass", "unsupported", "excluded"}, done.said
    leaves_nothing(done.folder)


def test_a_server_that_is_killed_from_outside_is_no_failure(runs: Disturbed) -> None:
    """A case whose server someone kills is repeated on a new one."""
    _one_was_spoiled_and_done_again(runs.died, "SIGKILL")


def test_a_server_that_is_halted_from_outside_is_no_failure(runs: Disturbed) -> None:
    """A case whose server someone stops with SIGSTOP is repeated on a new one."""
    _one_was_spoiled_and_done_again(runs.hung, "the store is running but did not answer: ")
    assert max(each["seconds"] for each in runs.hung.outcomes.values()) < 30


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_is_an_outcome_and_not_the_stores_failure(runs: Disturbed) -> None:
    """A case that the disk has no room for is inconclusive, and names the machine."""
    found = runs.filled.outcomes
    full = found["sizes.single_key/1048576"]
    assert (full["outcome"], full["named"], full["spoiled"]) == ("inconclusive", "the machine", 2), runs.filled.said
    assert "full" in full["detail"]
    assert found["capabilities.key_access.put-get/001"]["outcome"] == "pass"
    assert not {"error", "fail"} & set(runs.filled.counted)
    leaves_nothing(runs.filled.folder)


def test_a_run_beside_others_is_not_disturbed_by_them(runs: Disturbed) -> None:
    """A run beside disturbed ones passes and leaves nothing."""
    assert runs.left_alone.code == 0, runs.left_alone.said
    assert set(runs.left_alone.counted) == {"pass", "excluded"}
    leaves_nothing(runs.left_alone.folder)


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_a_real_server_that_is_halted_is_no_failure(tmp_path: Path) -> None:
    """The same with Redis, stopped with SIGSTOP."""
    done = _start(tmp_path, signal.SIGSTOP, "--store=redis", "--launch=process")
    _one_was_spoiled_and_done_again(done, "the store is running but did not answer: ")


@pytest.mark.docker
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["dies", "hangs"])
def test_a_container_that_is_killed_or_halted_from_outside_is_no_failure(tmp_path: Path, number: signal.Signals) -> None:
    """The same with a container that is killed or paused."""
    arguments = ("--store=redis", "--launch=container", "--image=redis=storeproof/redis", "-k", SOME_CASES, "-p", "striking")
    done = run(tmp_path, *arguments, suites="correctness", environment=struck(IN_THE_MIDDLE, number, 0, "container"))
    _one_was_spoiled_and_done_again(done, "killed" if number is signal.SIGKILL else "the store is running but did not answer: ")
    assert not containers_of(done.process.pid)


def test_a_server_that_dies_at_its_start_fails_once_with_its_log(tmp_path: Path) -> None:
    """The first case fails with the server's log; the others are not run."""
    script = "import sys; print('cannot read the configuration'); sys.exit(3)"
    changed = store_file(
        tmp_path / "dying.yaml",
        (
            '[-m, storeproof.adapters.sqlite.host, --database, "${data}/store.db", --port, "${port}", "${settings}"]',
            f'[-c, "{script}"]',
        ),
    )
    done = start(tmp_path, f"--store={changed}", "-k", "key_access or guarantee")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert set(done.counted) == {"fail", "not_run", "excluded"}
    assert done.counted["fail"] == 1
    (failed,) = [each for each in done.outcomes.values() if each["outcome"] == "fail"]
    assert "ended with exit status 3 before it answered" in failed["detail"]
    assert "cannot read the configuration" in failed["detail"]
    assert "cannot read the configuration" in done.said
    leaves_nothing(tmp_path)
