"""Each nuisance does what it says, for real, and undoes it on every way out; some of them over true stores and mutants."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.end_to_end.running import wait_for
from tests.nuisance import (
    busy_processors,
    few_descriptors,
    full_tmpdir,
    jumping_clock,
    killed_server,
    mount_copies,
    network_rules,
    signals,
    spoiled_round,
    taken_ports,
)
from tests.nuisance.nuisance import Nuisance
from tests.nuisance.short_trial import Act, ShortTrial

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount, and set rules of the packet filter")

_SERVER = """
import os, socket, sys, time
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    time.sleep(60)
"""


class Pretended(ShortTrial):
    """A trial whose run is any program: what a nuisance does to it can be seen by itself."""

    def begin(self, *command: str) -> None:
        self.process = psutil.Popen(command, cwd=self.temporary, env={**os.environ, **self.environment}, start_new_session=True)


@pytest.fixture
def sut(tmp_path: Path) -> Pretended:
    made = Pretended("redis", "process", tmp_path / "trial", "", 1)
    made.prepare()
    return made


def had(nuisance: Nuisance, sut: ShortTrial) -> Nuisance:
    """The nuisance, where it can be had."""
    if reason := nuisance.cannot(sut):
        pytest.skip(reason)
    return nuisance


class Interrupted(Exception):
    """What ends a trial from within."""


def under(nuisance: Nuisance, sut: Pretended, condition: Callable[[], object], *command: str) -> None:
    """Begin the program under the nuisance, wait for the condition, and leave by an exception: the hardest way out."""
    with pytest.raises(Interrupted), had(nuisance, sut).around(sut):
        sut.begin(*(command or ("sleep", "60")))
        assert sut.process is not None
        try:
            wait_for(condition)
        finally:
            sut.process.kill()
            sut.process.wait()
        raise Interrupted


@root
def test_mount_copies_hold_a_mount_and_end(sut: Pretended) -> None:
    """A file system that was mounted before the copy is still known in the copy's namespace after it was unmounted here."""
    at = sut.folder / "held"
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "storeproof-test", str(at)], check=True)
    mine = {child.pid for child in psutil.Process().children()}

    def held() -> list[psutil.Process]:
        others = [child for child in psutil.Process().children() if child.pid not in mine and child.name() == "sleep"]
        return [each for each in others if each != sut.process and f" {at} " in Path(f"/proc/{each.pid}/mountinfo").read_text()]

    try:
        under(mount_copies.NUISANCE, sut, held)
        assert not held()
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


def test_busy_processors_end(sut: Pretended) -> None:
    """The processes that keep the processors busy end with the nuisance."""

    def spinning() -> list[psutil.Process]:
        return [each for each in psutil.Process().children() if each.name() == "sh"]

    under(busy_processors.NUISANCE, sut, lambda: len(spinning()) >= 2 * (os.cpu_count() or 1))
    assert not spinning()


@root
def test_a_full_tmpdir_fills_and_is_unmounted(sut: Pretended) -> None:
    """The temporary directory is full for a while, and no mount is left."""
    under(full_tmpdir.NUISANCE, sut, lambda: sut.temporary.is_mount() and shutil.disk_usage(sut.temporary).free == 0)
    assert not sut.temporary.is_mount()


def test_few_descriptors_are_inherited(sut: Pretended) -> None:
    """By what the run starts after its first moments."""

    def limited() -> bool:
        assert sut.process is not None
        sleeping = [each for each in sut.process.children() if each.name() == "sleep"]
        return any(each.rlimit(resource.RLIMIT_NOFILE)[1] <= 256 for each in sleeping)

    under(few_descriptors.NUISANCE, sut, limited, "sh", "-c", "sleep 0.5; sleep 60; true")
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 256


def test_a_clock_jumps_and_the_monotonic_one_does_not(sut: Pretended) -> None:
    """The trial's wall clock jumps; its monotonic clock goes on."""
    said = sut.folder / "clocks"
    script = "import sys, time\nwhile True: print(time.time(), time.monotonic(), file=open(sys.argv[1], 'a')); time.sleep(0.01)"

    def read() -> list[tuple[float, float]]:
        lines = said.read_text().splitlines() if said.exists() else []
        return [(float(line.split()[0]), float(line.split()[1])) for line in lines if line.count(" ") == 1]

    def jumped() -> bool:
        found = read()
        return any(abs(after[0] - before[0]) > 3000 for before, after in itertools.pairwise(found))

    under(jumping_clock.NUISANCE, sut, jumped, sys.executable, "-c", script, str(said))
    steady = [at for _, at in read()[:-1]]
    assert steady == sorted(steady)
    assert steady[-1] - steady[0] < 60
    assert "LD_PRELOAD" not in os.environ


@pytest.mark.parametrize("seed", range(3))
def test_two_signals_within_a_second(sut: Pretended, seed: int) -> None:
    """The run gets two signals in quick succession."""
    sut.random.seed(seed)
    (sut.folder / "times").touch()  # a case has begun
    said = sut.folder / "signals"
    script = "import signal, sys, time\nfor each in (1, 2, 15): signal.signal(each, lambda *s: print(s[0], file=open(sys.argv[1], 'a')))\n"
    script += "import os; os.chdir(sys.argv[2])\nwhile True: time.sleep(0.01)"
    server = "/storeproof-{}-x"  # what a server's directory is called; the signals may wait for one

    def twice() -> bool:
        assert sut.process is not None
        return len(sut.acts) == 2

    home = sut.temporary / "home"
    home.mkdir()
    shell = f'mkdir -p "$0{server.format("$$")}"; (cd "$0{server.format("$$")}"; exec sleep 60) & exec "$@"'
    under(signals.NUISANCE, sut, twice, "sh", "-c", shell, str(home), sys.executable, "-c", script, str(said), str(home))
    first, second = sut.acts
    assert first.what == second.what in ("SIGINT", "SIGTERM", "SIGHUP")
    assert second.began - first.began < 3


def _serving(sut: Pretended, script: str = _SERVER) -> tuple[str, ...]:
    """The command of a run that starts one server, in a directory as ours are called."""
    shell = 'mkdir "storeproof-$$-1"; cd "storeproof-$$-1"; "$@" >port & wait; cd ..; sleep 60'
    return ("sh", "-c", shell, "sh", sys.executable, "-c", script)


def _port(sut: Pretended) -> int:
    return wait_for(lambda: next((int(each.read_text() or 0) for each in sut.temporary.glob("*/port")), 0))


def test_a_server_is_killed_by_somebody_else(sut: Pretended) -> None:
    """The server of a trial is killed from outside."""
    under(killed_server.NUISANCE, sut, lambda: sut.acts and not sut.servers(), *_serving(sut))
    assert "is killed" in sut.acts[0].what


def test_a_port_is_taken_when_its_server_has_gone_and_given_back(sut: Pretended) -> None:
    """The port of a stopped server is taken, and released afterwards."""
    taken = []

    def gone() -> bool:
        port = _port(sut)
        if not taken:
            wait_for(lambda: port in sut.ports())
            time.sleep(1)  # it was seen by the nuisance too
            for server in sut.servers():
                if server.name().startswith("python"):
                    server.send_signal(signal.SIGKILL)
            taken.append(port)
        return taken_ports._take(port) is None and not sut.ports()

    under(taken_ports.NUISANCE, sut, gone, *_serving(sut))
    after = taken_ports._take(taken[0])
    assert after is not None
    after.close()


@root
def test_network_rules_are_for_the_ports_of_the_trial_alone_and_go(sut: Pretended) -> None:
    """Rules name only the trial's ports, and are removed."""
    ours = f"{network_rules._COMMENT}:{os.getpid()}"

    def rules() -> list[str]:
        return [line for line in network_rules._iptables("-S", "INPUT").stdout.splitlines() if ours in line]

    def ruled() -> bool:
        found = rules()
        assert all(f"--dport {_port(sut)} " in line and "-i lo " in line for line in found)
        return bool(found)

    under(network_rules.NUISANCE, sut, ruled, *_serving(sut))
    assert rules() == []


@root
def test_rules_and_mounts_of_a_killed_runner_are_swept(sut: Pretended) -> None:
    """SIGKILL is the one way out on which nothing can be undone: the next runner does it."""
    if reason := network_rules.NUISANCE.cannot(sut):
        pytest.skip(reason)
    ended = subprocess.Popen(["true"])
    ended.wait()
    comment = f"{network_rules._COMMENT}:{ended.pid}"
    network_rules._iptables("-I", "INPUT", "-i", "lo", "-p", "tcp", "--dport", "1", "-m", "comment", "--comment", comment, "-j", "DROP")
    subprocess.run(["mount", "-t", "tmpfs", f"{full_tmpdir._SOURCE}-{ended.pid}", str(sut.temporary)], check=True)
    network_rules.sweep()
    full_tmpdir.sweep()
    assert comment not in network_rules._iptables("-S", "INPUT").stdout
    assert not sut.temporary.is_mount()


def test_a_round_counts_only_where_the_nuisance_was_at_work(sut: Pretended) -> None:
    """By the times of the cases and of what was done."""
    outcomes = [{"id": name, "outcome": "pass", "detail": None} for name in ("before", "during", "after", "unended")]
    outcomes.append({"id": "left-out", "outcome": "excluded", "detail": None})
    (sut.folder / "report").mkdir()
    (sut.folder / "report" / "result.json").write_text(
        f'{{"stores": [{{"outcomes": {str(outcomes).replace("None", "null")}}}]}}'.replace("'", '"')
    )
    lines = ["before begin 1", "before end 2", "during begin 2", "during end 4", "after begin 6", "after end 7", "unended begin 7"]
    (sut.folder / "times").write_text("\n".join(lines))
    sut.acts += [Act("it", 3.0, 5.0), Act("it", 9.0, 9.1)]
    rounds = spoiled_round._rounds(sut, killed_server.NUISANCE)
    assert [each.case for each in rounds] == ["during", "unended"]


@pytest.mark.slow
@pytest.mark.servers
@root
def test_true_stores_raise_no_alarm_and_liars_are_caught(tmp_path: Path) -> None:
    """Three trials and two mutants, as `nox -s nuisance` runs many more."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    command = [sys.executable, "-m", "tests.nuisance.runner", "--quick", "--keep", str(tmp_path / "trials")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(": 0 false fail; 2 of 2 mutants caught")
