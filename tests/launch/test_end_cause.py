"""Who is to blame when a server ends or is silent: itself, another process that killed it, or what the machine is short of."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storeproof.cleanup.registry import registry
from storeproof.contract import Address, Unknown
from storeproof.contract.failures import WrongReply
from storeproof.disk.ext4 import unmount
from storeproof.disk.methods import PowerCutMethod
from storeproof.errors import MachineFailed, NotAvailable, StoreDied
from storeproof.launch.process import ProcessHandle
from storeproof.machine import deadline, shortage
from storeproof.machine.shortage import ShortageWatch
from storeproof.spec import ProcessLaunch
from tests.launch.small import FAMILY, GREETS, MUTE, as_root, eventually, greeted, python_server, request

Make = Callable[..., ProcessHandle]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[ProcessHandle] = []

    def handle(launch: ProcessLaunch, probe: Callable[[Address], None] = greeted, base: Path = tmp_path) -> ProcessHandle:
        made.append(ProcessHandle(request(launch, base, probe=probe)))
        return made[-1]

    yield handle
    for each in made:
        each.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB."""
    if not as_root():
        pytest.skip("only root may mount one")
    at = tmp_path / "small"
    at.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "small", at], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    at.chmod(0o755)
    yield at
    unmount(at)


def fill(at: Path) -> None:
    """Take all room that there is."""
    ballast = os.open(at / "ballast", os.O_CREAT | os.O_WRONLY)
    with pytest.raises(OSError, match="No space left"):
        while True:
            os.write(ballast, bytes(65536))
    os.close(ballast)


def initialised_by(code: str) -> ProcessLaunch:
    return python_server(GREETS, initialise=[["${python}", "-c", code.replace("$", "$$"), "${data}"]])


# What a server does that asks for more than there is, and says so long before its end.
ASKS = """
import sys
print('preallocating 100663296 bytes for file ./log failed with error 28')
for line in range(100): print('please check all of the above')
sys.exit(1)
"""

# What a server does that finds its disk full: some take away what they had written before they end.
FILLS = """
import os, sys
try:
    with open(sys.argv[1] + '/big', 'wb') as big:
        while True:
            os.write(big.fileno(), bytes(65536))
except OSError as reason:
    {clears}
    sys.exit(str(reason))
"""


@pytest.mark.parametrize("clears", ["pass", "os.remove(sys.argv[1] + '/big')"], ids=["leaves", "clears"])
def test_a_disk_that_is_full_is_not_the_stores_fault(make: Make, small_disk: Path, clears: str) -> None:
    """A server that ends on a full disk is `NotAvailable`, also if it removed what filled the disk."""
    with pytest.raises(
        NotAvailable, match=r"small: \$\{python\} ended with exit status \d+: .* full; make room there, or name another"
    ) as seen:
        make(initialised_by(FILLS.format(clears=clears)), base=small_disk).start()
    assert str(small_disk) in seen.value.reason


def test_a_disk_that_has_less_than_is_asked_for(make: Make, small_disk: Path) -> None:
    """A server that reports a full disk is believed where little is free."""
    with pytest.raises(NotAvailable, match=r"had only [67] MiB free, and the server reported it full; make room there"):
        make(initialised_by(ASKS), base=small_disk).start()


def test_a_disk_that_becomes_full_later_spoils_the_round(make: Make, small_disk: Path) -> None:
    """A disk that fills up after the first start is a failure of the machine."""
    handle = make(python_server(GREETS), base=small_disk)
    handle.start()
    handle.kill()
    fill(small_disk)
    with pytest.raises(MachineFailed, match=f"small cannot be started in {small_disk}/.*: No space left on device; make room there"):
        handle.start()


def test_a_disk_with_no_room_for_us_is_not_available(small_disk: Path) -> None:
    """A full data directory is `NotAvailable`, and nothing is left there."""
    fill(small_disk)
    with pytest.raises(NotAvailable, match=f"{small_disk}.*No space left on device; make room"):
        ProcessHandle(request(python_server(GREETS), small_disk)).start()
    assert [each.name for each in small_disk.iterdir()] == ["ballast"]


def test_the_words_alone_are_no_evidence(make: Make) -> None:
    """A server that reports a shortage on a machine without one is a `StoreDied`."""
    says = "import sys; print('No space left on device, too many open files, out of memory, could not fork'); sys.exit(3)"
    with pytest.raises(StoreDied, match="small ended with exit status 3 before it answered"):
        make(python_server(says)).start()


def test_words_of_an_earlier_start_are_not_heard(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the server wrote since its last start counts."""
    monkeypatch.setattr(shortage, "_LITTLE", 2**62)
    code = "import os, sys\nif os.path.exists(sys.argv[2] + '/again'): sys.exit(3)\nprint('No space left', flush=True)\n"
    handle = make(python_server(code + "open(sys.argv[2] + '/again', 'w')\n" + GREETS))
    handle.start()
    handle.kill()
    with pytest.raises(StoreDied, match="small ended with exit status 3"):
        handle.start()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_server_that_somebody_kills_is_not_to_blame(make: Make, number: signal.Signals) -> None:
    """A kill from outside is a failure of the machine, with the signal's name."""
    handle = make(python_server(GREETS))
    handle.start()
    handle.check_alive()
    os.kill(handle.pids[0], number)
    assert eventually(lambda: not handle.alive())
    with pytest.raises(MachineFailed, match=f"small was killed from outside: {number.name}, not sent by storeproof"):
        handle.check_alive()
    handle.kill()
    handle.start()
    handle.check_alive()


def test_a_server_that_is_killed_while_it_starts_is_not_to_blame(make: Make) -> None:
    """The probe does it: the first moment at which the server is there."""
    handle: ProcessHandle

    def shot(address: Address) -> None:
        for pid in handle.pids:  # none are left where it is asked again before its end was seen
            os.kill(pid, signal.SIGKILL)
        raise Unknown("not yet")

    handle = make(python_server(GREETS), shot)
    with pytest.raises(MachineFailed, match="killed from outside: SIGKILL"):
        handle.start()


@pytest.mark.parametrize("end", ["os.abort()", "os.kill(os.getpid(), signal.SIGSEGV)", "os._exit(4)"], ids=["abort", "fault", "exit"])
def test_a_server_that_ends_by_itself_is_to_blame(make: Make, end: str) -> None:
    """A crash or an exit is a `StoreDied`."""
    code = f"import os, signal, threading, sys; signal.signal(signal.SIGUSR1, lambda *_: {end})\n" + GREETS
    handle = make(python_server(code))
    handle.start()
    os.kill(handle.pids[0], signal.SIGUSR1)
    assert eventually(lambda: not handle.alive())
    with pytest.raises(StoreDied, match=r"small (was ended by SIG(ABRT|SEGV)|ended with exit status 4)"):
        handle.check_alive()


def test_a_server_that_we_have_ended_is_nobody_elses_work(make: Make) -> None:
    """After our own kill the error says only that it does not run."""
    handle = make(python_server(FAMILY))
    handle.start()
    handle.kill()
    with pytest.raises(StoreDied, match="small does not run"):
        handle.check_alive()


def test_the_out_of_memory_killer_is_named(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SIGKILL together with a count of the out-of-memory killer is reported as that."""
    handle = make(python_server(GREETS))
    handle.start()
    os.kill(handle.pids[0], signal.SIGKILL)
    assert eventually(lambda: not handle.alive())
    before = shortage.oom_kills()
    monkeypatch.setattr(shortage, "oom_kills", lambda: before + 1)
    with pytest.raises(MachineFailed, match=r"out-of-memory killer .*; give the machine, or the control group"):
        handle.check_alive()


def limited(limit: str, code: str) -> str:
    """What a run says that has a lower limit."""
    program = f"""
        import resource, sys
        from pathlib import Path
        from storeproof.errors import StoreproofError
        from storeproof.launch.process import ProcessHandle
        from tests.launch.small import GREETS, python_server, request
        {limit}
        import tempfile
        with tempfile.TemporaryDirectory() as base:
            handle = ProcessHandle(request(python_server({code!r} + GREETS, start_seconds=2), Path(base)))
            held = []
            try:
                handle.start()
                while len(held) < 5000:
                    held.append(open("/dev/null"))
            except OSError:
                pass
            except StoreproofError as reason:
                print(type(reason).__name__, reason)
                sys.exit()
            try:
                handle.kill()
                handle.start()
            except (OSError, StoreproofError) as reason:
                print(type(reason).__name__, reason)
            for each in held:
                each.close()
            handle.close()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    return done.stdout + done.stderr


def test_too_few_descriptors_for_the_server() -> None:
    """A server that fails under a low descriptor limit is `NotAvailable`, with the `ulimit` that helps."""
    limit = "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))"
    said = limited(limit, "import socket, sys\nheld = [socket.socket() for _ in range(100)]\n")
    assert said.startswith(
        "NotAvailable small ended with exit status 1 before it answered: the server reports too many open files, and its limit is 64"
    ), said
    assert said.endswith("; ulimit -n 65536\n")


def test_too_few_processes_or_too_little_memory_for_the_server() -> None:
    """A server that fails under a memory limit is `NotAvailable`, with the `ulimit` that helps."""
    limit = "resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))"
    said = limited(limit, "import sys\ntry: x = bytearray(2 * 10**9)\nexcept MemoryError: sys.exit('cannot allocate memory')\n")
    assert "NotAvailable small ended with exit status 1" in said
    assert "a process may take no more than 953 MiB of memory, and the server needs more; ulimit -v unlimited" in said


def test_our_own_descriptors_used_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exhausted descriptors of storeproof itself are found, also when looking needs one."""
    watch = ShortageWatch([tmp_path])
    assert watch.find("") is None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (sum(1 for _ in Path("/proc/self/fd").iterdir()) + 20, hard))
        with pytest.raises(OSError, match="Too many open files") as full:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        lacking = watch.find("")
    finally:
        for each in held:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert lacking is not None
    assert lacking.what == f"storeproof (pid {os.getpid()}) has reached its limit of open files"
    assert shortage.shortage_of(full.value) == shortage.Shortage("/dev/null: Too many open files", "ulimit -n 65536")


def test_an_answer_that_can_never_become_right_ends_the_wait(make: Make) -> None:
    """A `WrongReply` ends the wait at once."""

    def wrong(address: Address) -> None:
        raise WrongReply("found 'hello', where a length is due")

    asked = []
    handle = make(python_server(GREETS), lambda address: (asked.append(address), wrong(address))[1])
    with pytest.raises(StoreDied, match="small answers, but not in its protocol: found 'hello', where a length is due"):
        handle.start()
    assert len(asked) == 1


def test_a_silent_server_on_a_busy_machine_says_nothing_of_the_store(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time-out on a busy machine is a failure of the machine."""
    monkeypatch.setattr(deadline, "machine_is_busy", lambda: "load 99.0 on 4 cores")
    busy = r"load 99.0 on 4 cores; it accepts connections but does not answer"
    said = rf"small did not answer within \d+ s on a busy machine \({busy}\); run it on"
    with pytest.raises(MachineFailed, match=said):
        make(python_server(MUTE, start_seconds=1), probe=lambda _address: time.sleep(60)).start()


def test_no_handle_stays_where_no_volume_can_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no disk can be mounted, neither a registered handle nor a directory remains."""
    monkeypatch.setattr("storeproof.disk.fuse.DEVICE", "/dev/no-such-device")
    before = list(registry._open)
    with pytest.raises(NotAvailable, match="needs FUSE"):
        ProcessHandle(request(python_server(GREETS), tmp_path, power_cut=PowerCutMethod("fuse")))
    assert registry._open == before
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_place_of_a_file_is_not_followed(make: Make, tmp_path: Path) -> None:
    """A symbolic link that a server put in place of its configuration is replaced, not written through."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    handle = make(python_server(GREETS, files={"server.conf": "ours"}))
    handle.start()
    handle.kill()
    assert handle.data is not None
    file = handle.data.parent / "run" / "server.conf"
    file.unlink()
    file.symlink_to(victim)
    handle.empty()
    handle.start()
    assert victim.read_text() == "mine"
    assert file.read_text() == "ours"
    assert not file.is_symlink()


def test_a_path_that_is_too_long_for_a_socket_is_not_the_stores_fault(tmp_path: Path) -> None:
    """What the server says counts only where the path is long."""
    said = "[ERROR] The socket file path is too long (> 107): /x/s"
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    found = ShortageWatch([deep]).find(said)
    assert found is not None
    assert "is too long for the server's socket" in found.what
    assert "--data-dir" in found.remedy
    assert ShortageWatch([deep]).find("ready to accept connections") is None
    assert ShortageWatch([Path("/")]).find(said) is None
