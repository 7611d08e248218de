"""Ctrl-C and SIGTERM in mid-run: nothing is left behind, and what was found until then is reported."""

from __future__ import annotations

import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis

from storeproof.cli.report import render
from storeproof.machine import container_engine
from storeproof.result.json_file import read_result
from tests.end_to_end.running import Run, leaves_nothing, run, start, store_file, struck, wait_for
from tests.end_to_end.striking import containers_of
from tests.mutants.endless import never_answers

pytestmark = pytest.mark.slow

CASES = {
    "correctness": ("stateful.counter", "key_access or stateful and counter or guarantee", 0.1),
    "durability": ("durability.process_crash", "key_access or guarantee", 1.0),
    "performance": ("performance.single-put-distinct-90/0i/4c", "key_access or single-put or single-get", 0.5),
    "outage": ("performance.outage/pause", "key_access or outage", 1.8),
}
"""By stage: the case that is interrupted, what runs, and the seconds into the case: those of the outage are in the midst of the pause."""


def _interrupted(folder: Path, stage: str, number: signal.Signals, *arguments: str) -> Run:
    case, selection, seconds = CASES[stage]
    return run(folder, "-k", selection, "-p", "striking", *arguments, environment=struck(case, number, seconds, "run"), pages=True)


def _reported_until_then(done: Run, stage: str) -> None:
    assert done.code == pytest.ExitCode.INTERRUPTED, done.said
    assert "KeyboardInterrupt" in done.said or "Terminated" in done.said
    assert "Traceback" not in done.said
    found = done.outcomes
    assert found["capabilities.key_access.put-get/001"]["outcome"] == "pass", "what was found until then is reported"
    case = CASES[stage][0]
    assert found[case]["outcome"] == "inconclusive", found[case]
    assert found[case]["detail"].endswith("interrupted while the case ran")
    reached = list(found).index(case)
    waiting = [each for each in list(found.values())[reached + 1 :] if each["outcome"] != "excluded"]
    assert waiting, "the run was not at its end"
    assert {each["outcome"] for each in waiting} == {"not_run"}
    assert f"{len(waiting)} cases were not started" in done.said
    for name in ("report.html", "report.md", "junit.xml"):
        assert (done.folder / "report" / name).is_file()
    assert "error" not in done.counted


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    """SIGINT and SIGTERM in each stage: results so far are reported, and no process, mount or file is left."""
    disturbances = [(stage, number) for number in (signal.SIGINT, signal.SIGTERM) for stage in CASES]
    with ThreadPoolExecutor(3) as pool:
        all_done = list(pool.map(lambda each: _interrupted(tmp_path / f"{each[0]}-{each[1].name}", *each), disturbances))
    for done, (stage, number) in zip(all_done, disturbances, strict=True):
        _reported_until_then(done, stage)
        assert number is signal.SIGINT or "ended by SIGTERM" in done.said
        if stage == "durability":
            (guarantees,) = [store["durability"]["guarantees"] for store in done.result["stores"]]
            assert [each["outcome"] for each in guarantees if each["guarantee"] == "process_crash"] == ["inconclusive"]
        leaves_nothing(done.folder)


def test_a_second_interrupt_does_not_cost_the_report(tmp_path: Path) -> None:
    """People press Ctrl-C until something happens."""
    running = start(tmp_path, "-v", "-k", CASES["correctness"][1], pages=True)
    wait_for(lambda: "test_random_histories" in running.said)
    while running.process.poll() is None:
        running.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    assert running.code == pytest.ExitCode.INTERRUPTED, running.said
    assert "Traceback" not in running.said
    assert running.outcomes["capabilities.key_access.put-get/001"]["outcome"] == "pass"
    assert (tmp_path / "report" / "report.html").is_file()
    assert "cases were not started" in running.said
    leaves_nothing(tmp_path)


@pytest.mark.parametrize(
    ("waiting", "named", "numbers"),
    [
        ("concurrency.increment", "no_increment", [signal.SIGINT]),
        ("stateful.counter", "stateful and counter", [signal.SIGTERM, signal.SIGTERM]),
    ],
    ids=["client threads", "main thread"],
)
def test_a_signal_ends_a_run_that_waits_for_ever(tmp_path: Path, waiting: str, named: str, numbers: list[signal.Signals]) -> None:
    """Client threads wait for a server that never answers, or the main thread does, in a client that swallows interrupts."""
    silent = ("adapter: sqlite\n", f"adapter: {Path(never_answers.__file__)}\n")
    stored = store_file(tmp_path / "silent.yaml", ("store: sqlite\n", "store: silent\n"), silent)
    running = start(tmp_path, f"--store={stored}", "-s", "-k", f"put-get/001 or {named}", pages=True)
    wait_for(lambda: "an increment is not answered" in running.said, 120)
    for number in numbers:
        running.process.send_signal(number)
        time.sleep(0.3)
    assert running.process.wait(60) == pytest.ExitCode.INTERRUPTED, running.said
    assert "Traceback" not in running.said
    found = running.outcomes
    assert found["capabilities.key_access.put-get/001"]["outcome"] == "pass", "what was found until then is reported"
    assert found[waiting]["outcome"] == "inconclusive"
    assert "interrupted while the case ran" in found[waiting]["detail"]
    assert (tmp_path / "report" / "report.html").is_file()
    leaves_nothing(tmp_path)


@pytest.mark.parametrize("hook", ["pytest_load_initial_conftests", "pytest_collectstart"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_an_interrupt_before_the_first_case_is_one_line(tmp_path: Path, number: signal.Signals, hook: str) -> None:
    """A signal during start-up ends the run with one line and no report."""
    (tmp_path / "early_strike.py").write_text(
        "import os, pytest\n\n@pytest.hookimpl(tryfirst=True)\n"
        f"def {hook}():\n    for _ in range(2):\n        os.kill(os.getpid(), {int(number)})\n"
    )
    done = run(tmp_path, "-p", "early_strike", environment={"PYTHONPATH": str(tmp_path)})
    assert done.code == pytest.ExitCode.INTERRUPTED, done.said
    assert done.said.endswith(f"storeproof: ended by {number.name} before the first case; no case was run, and no report was written\n")
    assert "Traceback" not in done.said
    assert not (tmp_path / "report").exists()
    leaves_nothing(tmp_path)


@pytest.mark.parametrize("stage", ["correctness", "performance"])
def test_what_was_found_outlives_a_kill(tmp_path: Path, stage: str) -> None:
    """After SIGKILL the outcomes so far can be rendered from `unfinished.json`."""
    killed = _interrupted(tmp_path, stage, signal.SIGKILL, "-p", "hasty")
    assert killed.code == -signal.SIGKILL
    assert not (tmp_path / "report" / "result.json").exists()
    render(tmp_path / "report" / "unfinished.json", None)
    (store,) = read_result(tmp_path / "report" / "unfinished.json").stores
    found = {each.id: each for each in store.outcomes}
    assert found["capabilities.key_access.put-get/001"].outcome == "pass"
    struck = found[CASES[stage][0]]
    assert (struck.outcome, struck.detail) == ("not_run", "the run ended before this case: it was cut off")
    assert "capabilities.key_access.put-get/001" in (tmp_path / "report" / "report.html").read_text()
    leaves_nothing(tmp_path)


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_what_a_killed_run_made_at_a_server_is_named_and_removed_by_the_next(
    tmp_path: Path, guarded_redis: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Collections of a killed run at an endpoint are noted, and the next run removes them."""
    theirs = redis.Redis(port=guarded_redis, password="s3cret-word")
    theirs.set("precious", "theirs")
    endpoint = ("--store=redis", f"--endpoint=redis=redis://:s3cret-word@127.0.0.1:{guarded_redis}/0")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "before_clearing.py").write_text(
        "import os, pytest\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_teardown(item):\n"
        "    if 'put-get' in item.nodeid:\n        os.kill(os.getpid(), 9)\n"
    )
    selection = ("-k", "key_access.put-get", "-p", "before_clearing")
    killed = run(tmp_path / "run", *endpoint, *selection, environment={"PYTHONPATH": str(tmp_path / "run")})
    assert killed.code == -signal.SIGKILL, killed.said
    names = {key.decode() for key in theirs.scan_iter() if key != b"precious"}
    assert names, "the kill left a collection"
    noted = (killed.folder / "report" / "endpoints.json").read_text()
    assert "s3cret-word" not in noted
    render(killed.folder / "report" / "unfinished.json", None)
    said = " ".join(capsys.readouterr().out.split())
    assert f"collections of a killed run may be left at redis 127.0.0.1:{guarded_redis}/0: sp_" in said
    done = run(tmp_path / "run", *endpoint, "-k", "key_access.put-get")
    assert done.code == pytest.ExitCode.OK, done.said
    assert f"removed at 127.0.0.1:{guarded_redis}/0, where a run was killed: sp_" in done.said
    assert theirs.keys() == [b"precious"]
    assert not (killed.folder / "report" / "endpoints.json").exists()


def test_a_run_that_ends_keeps_nothing_unfinished(tmp_path: Path) -> None:
    """A run that ends replaces `unfinished.json` by `result.json`."""
    done = run(tmp_path, "-k", "key_access.put-get", "-p", "hasty", environment=struck("", signal.SIGTERM, 0, ""))
    assert done.code == 0, done.said
    assert (tmp_path / "report" / "result.json").is_file()
    assert not (tmp_path / "report" / "unfinished.json").exists()


@pytest.mark.docker
@pytest.mark.parametrize("stage", ["correctness", "durability", "outage"])
def test_an_interrupt_leaves_no_container_and_no_volume(tmp_path: Path, stage: str) -> None:
    """SIGINT in each stage of a run with containers removes them and their volumes."""
    done = _interrupted(tmp_path, stage, signal.SIGINT, "--store=redis", "--launch=container", "--image=redis=storeproof/redis")
    _reported_until_then(done, stage)
    assert done.result["stores"][0]["launch"] == "container"
    assert not containers_of(done.process.pid)
    assert not _volumes_of(done.process.pid)
    leaves_nothing(tmp_path)


def _volumes_of(pid: int) -> list[str]:
    found = container_engine.client().volumes.list(filters={"label": f"{container_engine.LABEL}=1"})
    return [each.name for each in found if (each.attrs.get("Labels") or {}).get(container_engine.OWNER_LABEL, "").startswith(f"{pid}:")]
