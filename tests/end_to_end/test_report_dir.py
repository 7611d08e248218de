"""A report's directory belongs to one run at a time, and what it holds is not lost for a report of nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from storeproof.errors import UsageError
from storeproof.plugin.report_dir import ReportDir, without_report_dir
from tests.end_to_end.running import run, start, wait_for

_HOLD = """
import sys
from storeproof.plugin.report_dir import ReportDir
held = ReportDir(sys.argv[1])
held.take()
print(flush=True)
input()
held.leave()
"""


def _holder(directory: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", _HOLD, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"
    return process


def test_two_runs_do_not_share_a_directory(tmp_path: Path) -> None:
    """A second run is refused, and named the process of the first."""
    directory = tmp_path / "made" / "report"
    other = _holder(directory)
    second = ReportDir(str(directory))
    with pytest.raises(UsageError, match=rf"in use by another run, pid {other.pid}; wait for it, or give this run another directory"):
        second.take()
    second.leave()
    other.communicate(b"\n")
    assert not (tmp_path / "made").exists(), "a run that wrote nothing leaves no directory"
    second.take()
    second.leave()


def test_a_killed_run_holds_nothing(tmp_path: Path) -> None:
    """The directory of a killed run can be taken."""
    other = _holder(tmp_path)
    other.kill()
    other.communicate()
    ReportDir(str(tmp_path)).take()


def test_an_empty_directory_is_refused() -> None:
    """`--report-dir=` is a usage error."""
    with pytest.raises(UsageError, match="--report-dir is empty; give a directory"):
        ReportDir("")


@pytest.mark.parametrize("given", [["--report-dir=out"], ["--report-dir", "out"]], ids=["one word", "two words"])
def test_the_directory_is_taken_out_of_a_command(given: list[str]) -> None:
    """In both ways to give it, and nothing else is."""
    assert list(without_report_dir(["suites/", *given, "--store", "redis"])) == ["suites/", "--store", "redis"]


@pytest.mark.slow
def test_nothing_selected_leaves_the_report_as_it_was(tmp_path: Path) -> None:
    """A run without a case leaves an earlier report untouched."""
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "result.json").write_text("theirs")
    done = run(tmp_path, "-k", "no_such_case")
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED, done.said
    assert f"no case was selected; no report was written, and {tmp_path / 'report'} is unchanged" in done.said
    assert [each.name for each in (tmp_path / "report").iterdir()] == ["result.json"]
    assert (tmp_path / "report" / "result.json").read_text() == "theirs"


_SPOIL = """
import os, resource
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    os.rename(session.config.option.data_dir, f"{{session.config.option.data_dir}}-gone")  # in one step: a store still writes in it
    if {full}:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
"""


@pytest.mark.slow
def test_a_data_directory_that_is_gone_costs_one_figure_at_most_and_not_the_report(tmp_path: Path) -> None:
    """The report has the fsync time only if it was measured before, when the result was kept for the case of a sudden end."""
    (tmp_path / "spoil.py").write_text(_SPOIL.format(full=False))
    done = run(tmp_path, "-p", "spoil", "-k", "key_access.put-get", environment={"PYTHONPATH": str(tmp_path)})
    assert done.code == pytest.ExitCode.OK, done.said
    fsync = done.result["environment"]["fsync_us"]
    assert fsync is None or fsync > 0
    assert done.result["environment"]["loopback_us"] > 0


@pytest.mark.slow
def test_a_full_disk_at_the_end_is_said_and_no_file_is_named(tmp_path: Path) -> None:
    """Where nothing can be written, the result goes to the standard error."""
    (tmp_path / "spoil.py").write_text(_SPOIL.format(full=True))
    # What is said goes to a pipe: a file could not grow.
    running = start(tmp_path, "-p", "spoil", "-k", "key_access.put-get", environment={"PYTHONPATH": str(tmp_path)}, piped=True, pages=True)
    assert isinstance(running.process, subprocess.Popen)
    assert running.process.stdout is not None
    said = running.process.stdout.read().decode()
    assert running.code == pytest.ExitCode.TESTS_FAILED, said
    assert f"the report could not be written to {tmp_path / 'report'}: File too large" in said
    assert '{"format":' in said
    assert "report.html" not in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_the_unfinished_result_is_there_from_the_beginning(tmp_path: Path) -> None:
    """`unfinished.json` exists before the first case ends, and a later run is not hindered by it."""
    running = start(tmp_path, "-k", "stateful and counter")
    wait_for((tmp_path / "report" / "unfinished.json").exists, 60)
    running.process.send_signal(signal.SIGKILL)
    assert running.process.wait() < 0
    done = run(tmp_path, "-k", "key_access.put-get")
    assert done.code == pytest.ExitCode.OK, done.said
