"""Nothing is left on any way out, and nothing of other processes is touched."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from storeproof.cleanup.registry import SIGNALS, Registry, Terminated
from storeproof.cleanup.sweep import sweep_directories
from storeproof.cleanup.workdir import MARKER, WorkDir
from storeproof.halt import Halt
from storeproof.machine.owner import Owner, this_process
from tests.launch.small import WITHOUT_REAPER, WORK, Run, eventually, gone


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path)
    yield run
    if run.process.poll() is None:
        run.end(signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_signal_in_mid_run_leaves_nothing(run: Run, number: signal.Signals) -> None:
    """Signals end servers and remove the directory."""
    assert run.end(number) != 0
    assert run.left() == []


def test_exception_leaves_nothing(tmp_path: Path) -> None:
    """An uncaught exception ends servers and removes the directory."""
    run = Run(tmp_path, after="raise RuntimeError('a bug')")
    assert run.process.wait(30) == 1
    assert run.left() == []


def test_normal_end_leaves_nothing(tmp_path: Path) -> None:
    """A handle that was never closed is closed at exit."""
    run = Run(tmp_path, after="pass")
    assert run.process.wait(30) == 0
    assert run.left() == []


def test_signal_while_a_thread_loads(tmp_path: Path) -> None:
    """A running thread does not delay the clean-up."""
    after = "import threading; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n            " + WORK
    run = Run(tmp_path, after=after)
    run.end(signal.SIGTERM)
    assert run.left() == []


def test_our_own_sigkill_leaves_nothing(run: Run) -> None:
    """The reaper ends the servers, also those that left the session, and removes the directory."""
    assert run.end(signal.SIGKILL) == -signal.SIGKILL
    assert eventually(lambda: run.left() == [])


def test_server_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    """With PR_SET_PDEATHSIG the kernel would kill it when that thread ends."""
    before = "import threading; start = ProcessHandle.start"
    before += "; ProcessHandle.start = lambda handle: [(t := threading.Thread(target=start, args=(handle,))).start(), t.join()]"
    run = Run(tmp_path, before=before)
    try:
        assert not any(gone(pid) for pid in run.servers)
    finally:
        run.end(signal.SIGINT)
    assert run.left() == []


def test_next_run_sweeps_what_a_dead_one_left(tmp_path: Path) -> None:
    """Without a reaper a sweep ends the servers and removes the directory."""
    run = Run(tmp_path, before=WITHOUT_REAPER)
    run.end(signal.SIGKILL)
    assert len(run.left()) == 5
    assert sweep_directories(tmp_path) == [
        f"ended 4 processes of a killed run, in {run.root}",
        f"removed {run.root}, left by a killed run",
    ]
    assert run.left() == []


def test_two_runs_do_not_sweep_each_other(run: Run, tmp_path: Path) -> None:
    """A sweep leaves the things of a live run alone."""
    other = Run(tmp_path)
    assert sweep_directories(tmp_path) == []
    other.end(signal.SIGINT)
    assert other.left() == []
    assert len(run.left()) == 5
    run.end(signal.SIGINT)


def test_directories_without_our_mark_stay(tmp_path: Path) -> None:
    """A directory of our name without a valid mark is not removed."""
    for name, marker in {"storeproof-1-00000000": None, "storeproof-2-00000000": "{}", "storeproof-data": "{}"}.items():
        (tmp_path / name).mkdir()
        if marker is not None:
            (tmp_path / name / MARKER).write_text(marker)
    assert sweep_directories(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 3


def killed_when_none_is_left(steps: Iterator[int], event: str, _: object) -> None:
    """An audit hook: each change to a file system takes a step."""
    if event in {"open", "os.mkdir", "os.chmod", "os.rename", "os.remove", "os.rmdir", "os.utime"} and next(steps, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)


def killed_at_every_step(act: Callable[[], object], swept: Callable[[], object]) -> int:
    """Run `act` in a process that is killed before its first change to a file system, then in one that is killed before its second, and so
    on; after each, `swept`. How often until it came to its end."""
    for last in range(1, 200):
        pid = os.fork()
        if pid == 0:
            left = iter(range(1, last))
            sys.addaudithook(functools.partial(killed_when_none_is_left, left))
            try:
                act()
            finally:
                os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        swept()
        if status == 0:
            return last
    raise AssertionError("it never came to its end")


def test_whoever_is_killed_while_a_directory_is_made_or_removed_leaves_what_is_swept(tmp_path: Path) -> None:
    """Killed at any step of making or removing a directory, what is left can be swept."""

    def act() -> None:
        made = WorkDir.make(tmp_path, keep=False)
        (made.data / "table").mkdir()
        for name in ("one", "table/two"):
            (made.data / name).touch()
        (made.run / "server.conf").touch()
        made.remove()

    def swept() -> None:
        sweep_directories(tmp_path)
        assert list(tmp_path.iterdir()) == []

    assert killed_at_every_step(act, swept) > 15


def test_an_unmarked_directory_stays_if_it_may_be_anothers(tmp_path: Path) -> None:
    """Unmarked directories of live owners, with content, or of other names stay."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    for name in (f"storeproof-{os.getpid()}-00000000", f"storeproof-{gone.pid}-data", f"storeproof-{gone.pid}-00000001"):
        (tmp_path / name).mkdir()
    (tmp_path / f"storeproof-{gone.pid}-00000001" / "notes").touch()
    (tmp_path / f"storeproof-{gone.pid}-00000002").symlink_to(tmp_path)
    (tmp_path / f"storeproof-{gone.pid}-00000003").mkdir()
    assert sweep_directories(tmp_path) == [f"removed {tmp_path}/storeproof-{gone.pid}-00000003, left by a killed run"]
    assert len(list(tmp_path.iterdir())) == 4


def test_a_directory_that_a_sweep_of_another_namespace_takes_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory that was swept while it was made is made again."""
    write, taken = WorkDir.write_marker, []

    def swept(made: WorkDir) -> None:
        if not taken:
            taken.append(made.root)
            made.root.rmdir()
        write(made)

    monkeypatch.setattr(WorkDir, "write_marker", swept)
    made = WorkDir.make(tmp_path, keep=False)
    assert taken != [made.root]
    assert made.data.is_dir()


@pytest.fixture
def left(tmp_path: Path) -> WorkDir:
    """A directory whose owner ended long ago."""
    made = WorkDir.make(tmp_path, keep=False)
    made.owner = replace(made.owner, start=made.owner.start - 1)
    made.write_marker()
    return made


def test_kept_directory_stays(left: WorkDir, tmp_path: Path) -> None:
    """A sweep leaves what `--keep` kept."""
    left.keep = True
    left.write_marker()
    assert sweep_directories(tmp_path) == []
    assert left.data.is_dir()


def test_a_shell_in_the_directory_is_not_ended(left: WorkDir, tmp_path: Path) -> None:
    """Only processes that we started are ours, not others in the same directory."""
    left.programs.add("/usr/bin/some-server")
    left.write_marker()
    shell = subprocess.Popen(["sleep", "600"], cwd=left.data)
    try:
        sweep_directories(tmp_path)
        assert shell.poll() is None
    finally:
        shell.kill()
        shell.wait()


def test_process_that_got_a_leaders_number_is_not_ended(left: WorkDir, tmp_path: Path) -> None:
    """A process with a recycled pid is not killed."""
    bystander = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        left.leaders.add((bystander.pid, 1))
        left.write_marker()
        sweep_directories(tmp_path)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_who_is_dead() -> None:
    """Dead is an owner that certainly ended; one that cannot be seen from here is not dead."""
    here = this_process()
    assert Owner.parse(str(here)) == here
    assert not here.dead()
    assert replace(here, start=here.start - 1).dead()
    assert replace(here, boot="an earlier one").dead()
    # Not to be seen from here: the disk or the engine may be shared.
    assert not replace(here, namespace="4026539999", start=1).dead()
    assert not replace(here, host="another machine", boot="its own").dead()
    assert Owner.parse("42") is None


class _Thing:
    def __init__(self, closed: list[_Thing]) -> None:
        self._closed = closed

    def close(self) -> None:
        self._closed.append(self)


def test_newest_is_closed_first() -> None:
    """Open things are closed once, in reverse order."""
    registry, closed = Registry(Halt()), []
    things = [_Thing(closed) for _ in range(3)]
    for thing in things:
        registry.add(thing)
    registry.close_all()
    registry.close_all()
    assert closed == things[::-1]


def test_forked_worker_does_not_close_what_its_parent_uses() -> None:
    """A forked child closes nothing of its parent's."""
    registry, closed = Registry(Halt()), []
    registry.add(_Thing(closed))
    pid = os.fork()
    if pid == 0:
        registry.close_all()
        os._exit(len(closed))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    registry.close_all()
    assert len(closed) == 1


def test_second_interrupt_does_not_cut_the_clean_up_short() -> None:
    """A signal during the clean-up is deferred to its end."""
    registry = Registry(Halt())
    reached = False
    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117 - the interrupt comes at the end of the inner block
        with registry.deferring_signals():
            os.kill(os.getpid(), signal.SIGINT)
            reached = True
    assert reached


def test_second_interrupt_does_not_cut_short_what_the_first_one_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much later it comes; but once the first has been swallowed, it ends the run."""
    monkeypatch.setattr("storeproof.cleanup.registry._AGAIN_SECONDS", 0.0)
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    registry = Registry(Halt())
    registry.take_signals()
    cleared = False
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            finally:
                with suppress(ValueError):
                    raise ValueError("something else goes wrong meanwhile")
                os.kill(os.getpid(), signal.SIGINT)
                cleared = True
        assert cleared
        assert isinstance(raised.value, Terminated)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_an_interrupt_that_is_swallowed_is_not_told_of() -> None:
    """Python raises it in a callback of the garbage collector too, and tells of whatever is raised there."""
    code = """
        import gc, os, signal
        from storeproof.cleanup.registry import registry
        registry.take_signals()
        gc.callbacks.append(lambda phase, _: phase == "start" and os.kill(os.getpid(), signal.SIGTERM))
        gc.collect()
        gc.callbacks.clear()
        print(repr(registry.interrupt))
        gc.callbacks.append(lambda *_: 1 / 0)
        gc.collect()
        gc.callbacks.clear()
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert result.stdout == "Terminated('ended by SIGTERM')\n"
    assert "Terminated" not in result.stderr
    assert result.stderr.count("ZeroDivisionError") == 2, "a defect is told of"


def test_terminated_is_an_interrupt() -> None:
    """pytest ends a session on KeyboardInterrupt alone."""
    assert issubclass(Terminated, KeyboardInterrupt)


def test_handlers_of_others_stay() -> None:
    """An ignored SIGHUP (nohup) stays ignored, and things are closed at exit."""
    code = """
        import signal
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        from storeproof.cleanup.registry import registry
        class Thing:
            def close(self): print("closed")
        registry.add(Thing())
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert callable(signal.getsignal(signal.SIGTERM))
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert result.stdout == "closed\n"
