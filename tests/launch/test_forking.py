"""A host that a fork server starts: a process like any other, and nothing is shared by two starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from storeproof.errors import MachineFailed, NotAvailable
from storeproof.launch.forking import ForkServer, can_be_forked, fork_server
from storeproof.launch.process import ProcessHandle
from storeproof.launch.server_processes import inherited
from storeproof.machine.cores import running_on
from tests.launch.small import GREETS, Run, eventually, gone, python_server, request

CONTEXT = """
import __main__, gc, os, random, signal, sys, threading
print(__name__, vars(__main__) is globals(), sys.argv, sys.path[:2], os.getcwd(), threading.enumerate() == [threading.main_thread()])
print(sorted(os.listdir("/proc/self/fd")), os.getsid(0) == os.getpid(), signal.getsignal(signal.SIGINT), signal.pthread_sigmask(0, []))
print(os.environ["HOME"], os.environ["TMPDIR"], os.environ.get("ADDED"), sorted(os.sched_getaffinity(0)), os.umask(0), os.nice(0))
"""
"""What a program sees of its process."""

Output = Callable[[Sequence[str]], str]


@pytest.fixture
def server() -> ForkServer:
    return fork_server(inherited())


@pytest.fixture
def output(server: ForkServer, tmp_path: Path) -> Output:
    """What a command says in a forked process."""

    def run(arguments: Sequence[str]) -> str:
        with (tmp_path / "log").open("wb") as log:
            process = server.start(arguments, tmp_path, {"HOME": "/h", "TMPDIR": "/t"}, log.fileno())
        assert process.wait(20) == 0, (tmp_path / "log").read_text()
        return (tmp_path / "log").read_text()

    return run


@pytest.mark.parametrize("how", ["-m", "-c", "file"])
def test_a_program_finds_what_it_finds_when_python_starts_it(how: str, output: Output, tmp_path: Path) -> None:
    """Its name, arguments, path, descriptors, signals, session, variables, cores."""
    (tmp_path / "context.py").write_text(CONTEXT)
    arguments = {"-m": ["-m", "context"], "-c": ["-c", CONTEXT], "file": [str(tmp_path / "context.py")]}[how] + ["--data", "x y"]
    started = subprocess.run(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**inherited(), "HOME": "/h", "TMPDIR": "/t"},
        start_new_session=True,
        check=True,
    )
    assert output(arguments) == started.stdout


def test_starts_share_nothing(output: Output, tmp_path: Path) -> None:
    """Random numbers, modules, and what a module says after it was changed."""
    own = tmp_path / "own.py"
    own.write_text("seen = []")
    code = "import own, random; own.seen.append(1); print(own.__doc__, own.seen, random.random())"
    first, second = output(["-c", code]), output(["-c", code])
    assert first != second
    assert first.startswith("None [1]")
    assert second.startswith("None [1]")
    own.write_text("'''changed, and longer'''\nseen = []")
    assert output(["-c", code]).startswith("changed, and longer [1]")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[str], ProcessHandle]]:
    made: list[ProcessHandle] = []

    def handle(code: str) -> ProcessHandle:
        made.append(ProcessHandle(request(python_server(code), tmp_path, forked=True)))
        return made[-1]

    yield handle
    for each in made:
        each.close()


def test_it_is_shown_as_its_own_command(make: Callable[[str], ProcessHandle]) -> None:
    """`ps` has the host's command, and the program is the same Python."""
    handle = make(GREETS)
    handle.start()
    shown = psutil.Process(handle.pids[0])
    assert " ".join(shown.cmdline()).startswith(f"{sys.executable} -c \nimport socket")
    assert shown.cmdline()[-1] == str(handle.data)
    assert Path(shown.exe()) == Path(sys.executable).resolve()


def test_a_host_whose_memory_is_limited_is_not_forked(tmp_path: Path) -> None:
    """What it shares with the fork server would not count."""
    try:
        handle = ProcessHandle(request(python_server(GREETS), tmp_path, forked=True, memory=2**28))
    except NotAvailable as reason:
        pytest.skip(str(reason))
    with closing(handle):
        handle.start()
        assert psutil.Process(handle.pids[0]).ppid() == os.getpid()


def test_one_that_was_closed_is_not_asked_again(server: ForkServer) -> None:
    """As at the end of an interrupted run: who starts a host after that has another."""
    server.close()
    assert fork_server(inherited()) is not server


def test_a_fork_server_that_was_killed_is_no_fault_of_the_store(make: Callable[[str], ProcessHandle], server: ForkServer) -> None:
    """The start fails as one of the machine, and the next store has a new fork server."""
    handle = make(GREETS)
    handle.start()
    forking = psutil.Process(psutil.Process(handle.pids[0]).ppid())
    forking.kill()
    assert eventually(lambda: gone(forking.pid))
    with pytest.raises(MachineFailed, match="forks the hosts"):
        handle.kill()
    make(GREETS).start()
    assert fork_server(inherited()) is not server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_nothing_is_left_of_a_run_that_is_ended(number: signal.Signals, tmp_path: Path) -> None:
    """Neither hosts and their children, nor the directory, nor the fork server."""
    run = Run(tmp_path, fields="forked=True")
    forking = psutil.Process(run.servers[0]).ppid()
    assert psutil.Process(forking).ppid() == run.process.pid
    run.end(number)
    assert eventually(lambda: run.left() == [] and gone(forking))


def test_a_host_whose_launcher_is_gone_does_not_begin(tmp_path: Path) -> None:
    """No sweep would find it."""
    code = f"""
import os, sys
from pathlib import Path
from storeproof.launch import forking
import socket
kept = socket.send_fds
def send(*given):
    kept(*given)
    os._exit(0)
socket.send_fds = send
log = open({str(tmp_path / "log")!r}, "wb")
forking.fork_server({{}}).start(["-c", "print('it runs')"], Path({str(tmp_path)!r}), {{}}, log.fileno())
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not eventually(lambda: bool((tmp_path / "log").read_text()), 1)


def test_options_of_python_are_not_for_a_fork() -> None:
    """A command that has some, or is another program, starts by itself."""
    assert can_be_forked([sys.executable, "-m", "x"])
    assert not can_be_forked([sys.executable, "-u", "x.py"])
    assert not can_be_forked([sys.executable])
    assert not can_be_forked(["/bin/sh", "-c", "x"])


def test_it_runs_on_the_cores_of_the_thread_that_starts_it(output: Output) -> None:
    """As what that thread starts by itself."""
    core = max(os.sched_getaffinity(0))
    with running_on([core]):
        assert output(["-c", "import os; print(*os.sched_getaffinity(0))"]) == f"{core}\n"
