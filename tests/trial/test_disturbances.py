"""A store that dies, hangs or fills its disk in mid-run becomes an outcome; the run goes on, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.trial.running import left_behind, outcomes, run, servers_of, start, wait_for

_SLOW_CASE = "put-expiring"


def _wait_for_server(folder: Path) -> int:
    return int(wait_for(lambda: servers_of(folder))[0].pid)


@pytest.mark.slow
def test_a_server_that_dies_fails_a_case_and_the_run_goes_on(tmp_path: Path) -> None:
    running = start(tmp_path, suites="correctness")
    os.kill(_wait_for_server(tmp_path), signal.SIGKILL)
    said, _ = running.communicate(timeout=120)
    found = outcomes(tmp_path)
    failed = [each for each in found.values() if each["outcome"] == "fail"]
    assert len(failed) == 1, said
    assert "did not answer" in failed[0]["detail"] or "does not answer" in failed[0]["detail"]
    assert found["stateful.counter"]["outcome"] == "pass", "the cases after it ran on a store that was started again"
    assert running.returncode == pytest.ExitCode.TESTS_FAILED
    assert not left_behind(tmp_path)


@pytest.mark.slow
def test_a_server_that_hangs_fails_a_case_and_the_run_goes_on(tmp_path: Path) -> None:
    running = start(tmp_path, suites="correctness")
    os.kill(_wait_for_server(tmp_path), signal.SIGSTOP)
    said, _ = running.communicate(timeout=180)
    found = outcomes(tmp_path)
    failed = [each for each in found.values() if each["outcome"] == "fail"]
    assert len(failed) == 1, said
    assert found["stateful.counter"]["outcome"] == "pass"
    assert not left_behind(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
@pytest.mark.slow
def test_a_full_disk_is_an_outcome(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "storeproof-test", str(tmp_path / "data")], check=True)
    try:
        done = run(tmp_path, suites="correctness")
        found = outcomes(tmp_path)
        assert found["sizes.single_key/1048576"]["outcome"] == "fail", done.stdout
        assert "full" in found["sizes.single_key/1048576"]["detail"]
        assert found["sizes.single_key/1"]["outcome"] == "pass"
        assert not left_behind(tmp_path)
    finally:
        subprocess.run(["umount", str(tmp_path / "data")], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("stage", ["correctness", "durability", "performance"])
def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, stage: str, number: signal.Signals) -> None:
    running = start(tmp_path, suites="" if stage == "performance" else stage)
    _wait_for_server(tmp_path)
    if stage == "performance":
        wait_for(lambda: len(servers_of(tmp_path)) > 0 and _has_workers(running.pid), seconds=90)
    running.send_signal(number)
    said, _ = running.communicate(timeout=60)
    assert running.returncode != 0, said
    wait_for(lambda: not left_behind(tmp_path), seconds=5)
    assert (tmp_path / "report" / "result.json").is_file(), "what was found until then is reported"


def _has_workers(pid: int) -> bool:
    import psutil

    return any("storeproof.load.worker" in " ".join(child.cmdline()) for child in psutil.Process(pid).children(recursive=True))


@pytest.mark.slow
def test_two_runs_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    both = [start(folder, suites="correctness") for folder in folders]
    for folder, running in zip(folders, both, strict=True):
        said, _ = running.communicate(timeout=180)
        assert running.returncode == 0, said
        assert not left_behind(folder)
