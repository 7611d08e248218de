"""A store that dies, hangs or fills its disk in mid-run becomes an outcome; the run goes on, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.trial.running import Run, leaves_nothing, run, start, store_file, struck
from tests.trial.striking import containers_of

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


def _one_failed_and_the_run_went_on(done: Run, *words: str) -> None:
    failed = [each for each in done.outcomes.values() if each["outcome"] == "fail"]
    assert len(failed) == 1, done.said
    assert any(word in failed[0]["detail"] for word in words), failed[0]["detail"]
    assert failed[0]["detail"].splitlines()[0] in done.said
    assert "Traceback" not in done.said
    assert done.outcomes["stateful.counter"]["outcome"] == "pass", "the cases after it ran on a store that was started again"
    assert set(done.counted) == {"fail", "pass", "excluded"}
    assert done.code == pytest.ExitCode.TESTS_FAILED
    leaves_nothing(done.folder)


def test_a_server_that_dies_fails_one_case(runs: Disturbed) -> None:
    _one_failed_and_the_run_went_on(runs.died, "the store ended: ", "the store did not answer: ")


def test_a_server_that_hangs_fails_one_case_within_half_a_minute(runs: Disturbed) -> None:
    _one_failed_and_the_run_went_on(runs.hung, "the store did not answer: ")
    assert max(each["seconds"] for each in runs.hung.outcomes.values()) < 30


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_full_disk_is_an_outcome(runs: Disturbed) -> None:
    found = runs.filled.outcomes
    assert found["sizes.single_key/1048576"]["outcome"] == "fail", runs.filled.said
    assert "full" in found["sizes.single_key/1048576"]["detail"]
    assert found["capabilities.key_access.put-get/001"]["outcome"] == "pass"
    assert "error" not in runs.filled.counted
    leaves_nothing(runs.filled.folder)


def test_a_run_beside_others_is_not_disturbed_by_them(runs: Disturbed) -> None:
    assert runs.left_alone.code == 0, runs.left_alone.said
    assert set(runs.left_alone.counted) == {"pass", "excluded"}
    leaves_nothing(runs.left_alone.folder)


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_a_real_server_that_hangs_fails_one_case(tmp_path: Path) -> None:
    done = _start(tmp_path, signal.SIGSTOP, "--store=redis", "--launch=process")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    (failed,) = [each for each in done.outcomes.values() if each["outcome"] == "fail"]
    assert "the store did not answer" in failed["detail"]
    assert "Ready to accept connections" in failed["detail"], "the end of its log"
    assert failed["seconds"] < 30
    assert done.outcomes["stateful.counter"]["outcome"] == "pass"
    leaves_nothing(tmp_path)


@pytest.mark.docker
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["dies", "hangs"])
def test_a_container_that_dies_or_hangs_fails_one_case(tmp_path: Path, number: signal.Signals) -> None:
    arguments = ("--store=redis", "--launch=container", "--image=redis=storeproof/redis", "-k", SOME_CASES, "-p", "striking")
    done = run(tmp_path, *arguments, suites="correctness", environment=struck(IN_THE_MIDDLE, number, 0, "container"))
    assert done.code == pytest.ExitCode.TESTS_FAILED
    (failed,) = [each for each in done.outcomes.values() if each["outcome"] == "fail"]
    assert failed["detail"].startswith("the store ended" if number is signal.SIGKILL else "the store did not answer")
    assert "Ready to accept connections" in failed["detail"], "the end of its log"
    assert done.outcomes["stateful.counter"]["outcome"] == "pass"
    assert not containers_of(done.process.pid)
    leaves_nothing(tmp_path)


def test_a_server_that_dies_at_its_start_fails_once_with_its_log(tmp_path: Path) -> None:
    script = "import sys; print('cannot read the configuration'); sys.exit(3)"
    changed = store_file(
        tmp_path / "dying.yaml",
        (
            '[-m, storeproof.adapters.sqlite_host, --database, "${data}/store.db", --port, "${port}", "${settings}"]',
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
