"""A local server: started, killed, paused, stopped, and never left behind."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from storeproof.cleanup.registry import registry
from storeproof.contract import Address, Refused
from storeproof.errors import MachineFailed, NotAvailable, StoreDied, UsageError
from storeproof.launch.process import ProcessHandle
from storeproof.machine import ports, process_tree
from storeproof.machine.programs import find_program
from storeproof.spec import ProcessLaunch
from tests.launch.small import FAMILY, GREETS, MUTE, as_root, connected, eventually, gone, greeted, python_server
from tests.launch.small import request as requested

Make = Callable[..., ProcessHandle]


@pytest.fixture(params=[False, True], ids=["by-itself", "forked"])
def make(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Make]:
    made: list[ProcessHandle] = []

    def handle(launch: ProcessLaunch, probe: Callable[[Address], None] = greeted, **options: object) -> ProcessHandle:
        base = options.pop("base", tmp_path)
        made.append(ProcessHandle(requested(launch, base, probe=probe, forked=request.param, **options)))  # type: ignore[arg-type]
        return made[-1]

    yield handle
    for each in made:
        each.close()
    assert list(tmp_path.iterdir()) == []


def test_starts_and_answers(make: Make) -> None:
    """A started server runs, answers at its address, and its log can be read."""
    handle = make(python_server(GREETS))
    seconds = handle.start()
    assert 0 < seconds < 20
    assert handle.alive()
    assert handle.address.host == "127.0.0.1"
    greeted(handle.address)
    assert "ready to greet" in handle.log_tail()


def test_same_data_and_port_after_a_kill(make: Make) -> None:
    """A restart after a kill has the same data and the same address."""
    code = "import pathlib, sys; pathlib.Path(sys.argv[2], 'starts').open('a').write('x')\n" + GREETS
    handle = make(python_server(code))
    handle.start()
    before = handle.address
    handle.kill()
    assert not handle.alive()
    handle.start()
    assert handle.address == before
    assert handle.data is not None
    assert (handle.data / "starts").read_text() == "xx"


def test_a_kill_halts_the_server_before_it_looks_for_the_others(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The look takes milliseconds: a server that acknowledged early would have that time to write."""
    handle = make(python_server(GREETS))
    handle.start()
    members, halted = handle._processes.members, []

    def look() -> list[process_tree.Stat]:
        if not halted:  # no kill was sent yet, so that a server that stops has been told to; on a busy machine it takes a moment
            halted.append(eventually(lambda: {each.state for each in members()} == {"T"}))
        return members()

    monkeypatch.setattr(handle._processes, "members", look)
    assert {each.state for each in members()} != {"T"}
    handle.kill()
    assert halted == [True]


def test_kill_takes_children_that_left_the_session(make: Make) -> None:
    """A kill ends children that became leaders of sessions of their own."""
    handle = make(python_server(FAMILY))
    handle.start()
    pids = list(handle.pids)
    assert len(pids) == 4
    handle.kill()
    assert all(gone(pid) for pid in pids)


def test_kill_takes_orphans(make: Make) -> None:
    """The leader has died by itself: its children are init's, and still hold the data."""
    handle = make(python_server(FAMILY))
    handle.start()
    leader, *children = handle._processes.members()
    os.kill(leader.pid, signal.SIGKILL)
    assert eventually(lambda: not handle.alive())
    assert not any(gone(each.pid) for each in children)
    handle.kill()
    assert all(gone(each.pid) for each in children)


def test_paused_server_is_silent_and_goes_on(make: Make) -> None:
    """A paused server accepts connections without answering, and goes on after `resume`."""
    handle = make(python_server(GREETS))
    handle.start()
    handle.pause()
    with socket.create_connection((handle.address.host, handle.address.port)) as connection:
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(5)
    handle.resume()
    greeted(handle.address)


def test_close_after_pause(make: Make) -> None:
    """`close` ends a paused server with its children, and may be called twice."""
    handle = make(python_server(FAMILY))
    handle.start()
    pids = list(handle.pids)
    handle.pause()
    handle.close()
    assert all(gone(pid) for pid in pids)
    handle.close()
    assert handle.log_tail() == ""


def test_stop_asks_with_the_signal_of_the_spec(make: Make) -> None:
    """`stop` sends the signal of the store's file, and waits for the end."""
    code = "import signal, sys; signal.signal(signal.SIGINT, lambda *_: (print('bye', flush=True), sys.exit()))\n" + GREETS
    handle = make(python_server(code, stop="SIGINT"))
    handle.start()
    handle.stop()
    assert not handle.alive()
    assert "bye" in handle.log_tail()


def test_stop_of_a_paused_server(make: Make) -> None:
    """`stop` resumes a paused server first, which could not end otherwise."""
    handle = make(python_server(GREETS))
    handle.start()
    handle.pause()
    handle.stop()
    assert not handle.alive()


def test_deaf_server_does_not_stop_and_is_closed_all_the_same(make: Make) -> None:
    """A server that ignores its stop signal is a `StoreDied`, and `close` kills it."""
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + GREETS
    handle = make(python_server(code, start_seconds=1))
    handle.start()
    with pytest.raises(StoreDied, match=r"small did not end after SIGTERM within 1 s \(it still runs\)"):
        handle.stop()
    handle.close()
    assert not handle.alive()


def test_server_that_exits_at_once(make: Make) -> None:
    """A server that exits during its start is a `StoreDied` with its status and log."""
    handle = make(python_server("import sys; print('no licence'); sys.exit(3)"))
    with pytest.raises(StoreDied, match=r"small ended with exit status 3 before it answered(.|\n)*no licence"):
        handle.start()


def test_server_that_is_ended_by_a_signal(make: Make) -> None:
    """A server that aborts is a `StoreDied` that names the signal."""
    handle = make(python_server("import os; os.abort()"))
    with pytest.raises(StoreDied, match="small was ended by SIGABRT before it answered"):
        handle.start()


def test_server_that_never_listens(make: Make) -> None:
    """A server that opens no port is a time-out that says so."""
    handle = make(python_server("import time; time.sleep(600)", start_seconds=1))
    with pytest.raises(StoreDied, match=r"did not answer within 1 s \(nothing listens on its port\)"):
        handle.start()


def test_server_that_never_answers(make: Make) -> None:
    """A server that accepts connections without answering is a time-out."""
    handle = make(python_server(MUTE, start_seconds=1))
    with pytest.raises(StoreDied, match="small did not answer within 1 s"):
        handle.start()


def test_probe_that_hangs_does_not_hang_us(make: Make) -> None:
    """A client without a time-out against a server that takes the connection and falls silent."""
    forever = threading.Event()
    handle = make(python_server(MUTE, start_seconds=1), lambda address: forever.wait() and None)
    with pytest.raises(StoreDied, match="it accepts connections but does not answer"):
        handle.start()
    forever.set()


def test_refusal_ends_the_wait(make: Make) -> None:
    """A `Refused` of the probe ends the wait at once."""

    def refused(address: Address) -> None:
        raise Refused("wrong password")

    handle = make(python_server(GREETS), refused)
    began = time.monotonic()
    with pytest.raises(StoreDied, match="small answers and refuses access: wrong password"):
        handle.start()
    assert time.monotonic() - began < 10


def test_fault_of_the_probe_is_not_hidden(make: Make) -> None:
    """An unexpected exception of the probe is raised as it is."""

    def broken(address: Address) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make(python_server(GREETS), broken).start()


def test_port_that_is_taken_before_the_first_start_is_given_up(make: Make) -> None:
    """A port that was taken before the first start is replaced by a free one, in the files too."""
    handle = make(python_server(GREETS, files={"server.conf": "${port}"}))
    port = handle.address.port
    with socket.create_server(("127.0.0.1", port)):
        handle.start()
    assert handle.address.port != port
    assert handle.data is not None
    assert (handle.data.parent / "run" / "server.conf").read_text() == str(handle.address.port)


def test_port_that_is_taken_between_two_starts_is_no_fault_of_the_store(make: Make) -> None:
    """A port taken between two starts is a failure of the machine that names the process."""
    handle = make(python_server(GREETS))
    handle.start()
    handle.kill()
    taken = pytest.raises(MachineFailed, match=rf"small: port {handle.address.port} is already in use by pid \d+ \(\w+")
    with socket.create_server(("127.0.0.1", handle.address.port)), taken:
        handle.start()


def test_wrong_server_is_never_measured(make: Make) -> None:
    """Ours runs and does not listen; someone else answers on the port: the probe is content, we are not."""
    handle = make(python_server("import time; time.sleep(600)"), connected)
    handle.start_nowait()
    with socket.create_server(("127.0.0.1", handle.address.port)), pytest.raises(NotAvailable, match="is already in use by pid"):
        handle.wait_ready()


@pytest.mark.parametrize(
    "names",
    [
        {"binary": "no-such-server"},
        {"binary": "sh", "programs": ("no-such-server",)},
        {"binary": "sh", "initialise": (("no-such-server",),)},
        {"binary": "sh", "before_start": (("no-such-server",),)},
    ],
)
def test_missing_program_says_what_installs_it(make: Make, names: dict[str, Any]) -> None:
    """A missing program is `NotAvailable` with the places searched and the line that installs it."""
    launch = ProcessLaunch(**names, search=("/opt/*/no-such-bin",), install="apt-get install no-such-server", command=())
    with pytest.raises(NotAvailable) as caught:
        make(launch)
    assert caught.value.reason == "small: the program no-such-server was not found in PATH, /opt/*/no-such-bin"
    assert caught.value.remedy == "apt-get install no-such-server"


def test_another_product_under_the_same_name(make: Make, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Debian's mysqld is MariaDB's; a real one further down the search is taken."""
    shelves = [tmp_path_factory.mktemp("bin") for _ in range(2)]
    for shelf, product in zip(shelves, ("Elsewhere 10.11", "Small 9.7"), strict=True):
        (shelf / "small-server").write_text(f"#!/bin/sh\necho {product}\n")
        (shelf / "small-server").chmod(0o755)
    launch = python_server(GREETS, binary="small-server", search=[str(shelves[0])], reject_version_containing="Elsewhere")
    with pytest.raises(NotAvailable, match=r"small: .*/small-server is Elsewhere"):
        make(launch)
    both = launch.model_copy(update={"search": tuple(map(str, shelves))})
    assert find_program("small-server", both, "small") == str(shelves[1] / "small-server")


def test_program_that_cannot_be_run(make: Make, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A program for another architecture is `NotAvailable`."""
    program = tmp_path_factory.mktemp("bin") / "server"
    program.write_bytes(b"\x7fELF of another machine")
    program.chmod(0o755)
    with pytest.raises(NotAvailable, match=r"small: .*/server cannot be run: Exec format error; python3 runs the tests"):
        make(python_server(GREETS, binary=str(program))).start()


def test_missing_data_directory_is_not_made(make: Make, tmp_path: Path) -> None:
    """A data directory that does not exist is a usage error, and is not created."""
    with pytest.raises(UsageError, match="does not exist; create it on the disk that is to be measured"):
        make(python_server(GREETS), base=tmp_path / "typo")
    assert not (tmp_path / "typo").exists()


def test_failing_initialisation(make: Make) -> None:
    """A failing initialisation is a `StoreDied` with its status and log."""
    launch = python_server(GREETS, initialise=[["${python}", "-c", "import sys; print('disk is odd'); sys.exit(2)"]])
    with pytest.raises(StoreDied, match=r"small: \$\{python\} ended with exit status 2\n(.|\n)*disk is odd"):
        make(launch).start()


def test_files_settings_and_initialisation(make: Make) -> None:
    """Files and settings are written, and the initialisation runs once over two starts."""
    code = "import sys; print(sys.argv[3:], open('server.conf').read(), open(sys.argv[2] + '/made').read(), flush=True)\n" + GREETS
    launch = python_server(
        code,
        files={"server.conf": "port=${port}\n${settings}\n"},
        setting=["${name}=${value}"],
        initialise=[["${python}", "-c", "import sys; open(sys.argv[1] + '/made', 'a').write('once')", "${data}"]],
    )
    handle = make(launch, settings={"sync": "on"})
    handle.start()
    handle.kill()
    handle.start()
    assert f"['sync=on'] port={handle.address.port}\nsync=on\n once\n" in handle.log_tail()


def test_commands_before_each_start(make: Make) -> None:
    """They run before every start, after the initialisation; the server does not start if one fails."""
    code = "import sys; print(open(sys.argv[2] + '/made').read(), flush=True)\n" + GREETS
    add = "import sys; file = open(sys.argv[1] + '/made', 'a'); file.write(sys.argv[2]); sys.exit(file.tell() > 3)"
    launch = python_server(
        code,
        initialise=[["${python}", "-c", add, "${data}", "i"]],
        before_start=[["${python}", "-c", add, "${data}", "b"]],
    )
    handle = make(launch)
    handle.start()
    handle.kill()
    handle.start()
    assert "ib\nready" in handle.log_tail()
    assert "ibb\nready" in handle.log_tail()
    handle.kill()
    with pytest.raises(StoreDied, match=r"small: \$\{python\} ended with exit status 1"):
        handle.start()


def test_password_is_not_in_the_log(make: Make) -> None:
    """Log tails and addresses show no password."""
    handle = make(python_server("print('password is hunter22', flush=True)\n" + GREETS, user="me", password="hunter22"))
    handle.start()
    assert "password is ***" in handle.log_tail()
    assert "hunter22" not in repr(handle.address)


def test_environment_does_not_configure_the_server(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the user's environment do not reach the server."""
    monkeypatch.setenv("PGDATA", "/somewhere/else")
    handle = make(python_server("import os; print(os.environ.get('PGDATA'), os.environ['HOME'], flush=True)\n" + GREETS))
    handle.start()
    assert handle.data is not None
    assert f"None {handle.data.parent / 'run'}" in handle.log_tail()


def test_keep_leaves_the_data_and_says_where(tmp_path: Path) -> None:
    """`--keep` keeps the directory, ends the server, and prints how to remove it."""
    handle = ProcessHandle(requested(python_server(GREETS), tmp_path, keep=True))
    handle.start()
    assert handle.data is not None
    root = handle.data.parent
    handle.close()
    assert not handle.alive()
    assert (root / "data").is_dir()
    assert registry.kept.pop() == f"small: data and log are in {root}; remove them with: rm -r {root}"


@pytest.mark.skipif(not as_root(), reason="not run as root: every server is unprivileged already")
def test_unprivileged_server_runs_as_nobody() -> None:
    """A server that refuses root runs as `nobody` without further groups."""
    code = "import os, sys; open(sys.argv[2] + '/mine', 'w'); print('uid', os.getuid(), os.getgroups(), flush=True)\n" + GREETS
    launch = python_server(code, binary="/usr/bin/python3", unprivileged=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as base:
        Path(base).chmod(0o755)
        handle = ProcessHandle(requested(launch, Path(base)))
        try:
            handle.start()
            assert "uid 65534 []" in handle.log_tail()
        finally:
            handle.close()
        assert list(Path(base).iterdir()) == []


@pytest.mark.skipif(not as_root(), reason="not run as root: every server is unprivileged already")
def test_unprivileged_server_in_a_closed_directory(make: Make, tmp_path: Path) -> None:
    """A directory that the user `nobody` may not enter is `NotAvailable`, with the `chmod` that helps."""
    tmp_path.chmod(0o700)
    with pytest.raises(NotAvailable, match=r"the user .* has no access to .*; chmod o\+x "):
        make(python_server(GREETS, unprivileged=True))


def test_ports_are_not_those_of_outgoing_connections() -> None:
    """Free ports are below the kernel's range for outgoing connections."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(1024 < ports.free_port() < first for _ in range(20))
