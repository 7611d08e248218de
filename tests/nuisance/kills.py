"""Kills of running trials at random moments: what is left of each, and whether what it had found can be read.

Not collected by pytest, since it takes minutes: `nox -s kills`, or `python tests/nuisance/kills.py --kills 50 --seed 7`. It needs
redis-server; as root it cuts the power and kills clusters too (etcd, MongoDB, MariaDB with Galera, where they are installed), and with an
engine that has the image storeproof/redis trials and a cluster in containers. `--target cluster` kills clusters alone.

A trial is killed by INT, TERM, HUP or KILL, once or twice. Then another command of ours is run, as a user would, and what is left
after that counts. A kill before the first case has nothing to report, nor has one of the doctor: they come on top of the wanted number.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from storeproof.errors import NotAvailable, UsageError
from storeproof.machine import container_engine
from storeproof.network.namespaces import find_marks
from storeproof.result.json_file import read_result

_SUITES = Path(__file__).parents[2] / "suites"
_COMMAND = str(Path(sys.executable).with_name("storeproof"))
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
_LONGEST = 20.0
"""Seconds: no kill comes later."""
_LONGEST_OF_CLUSTERS = 45.0
"""The same: a cluster is formed and struck by then, and some are whole again."""
_MOST = 4
"""Times as many kills as are wanted, at most, until that number of trials were killed that had begun."""
_SWEEP_SECONDS = 20.0
"""Seconds in which what is left must vanish: the reaper waits for a server's end, and the engine for a container's."""
_SHARED_MEMORY = Path("/dev/shm")
_BEGAN = re.compile(r"/test_\w+\.py [.FEun+?kx]")
"""A case is over."""
_INTERFACE = re.compile(r"sp[0-9a-f]{8}")
_ROUTE = re.compile(r"198\.1[89]\..* metric (\d+)")
_COLLECTING = "test session starts"
_IMAGE = "storeproof/redis"
_IN_CONTAINERS = ("--launch=container", f"--image=redis={_IMAGE}")
_ON_NODES = "test_guarantee and (node_loss or partition)"


@dataclass(frozen=True)
class Target:
    """What is killed."""

    name: str
    command: tuple[str, ...]
    seconds: float
    """No kill comes later than that."""
    binary: str = ""
    """Of the server, without which there is no trial."""
    image: str = ""
    """That of its containers, without which there is none."""
    reports: bool = True


def _trial(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pytest", str(_SUITES), "-p", "no:cacheprovider", "--report-dir=report", *arguments)


TARGETS = (
    Target(
        "redis, a process",
        _trial("--store=redis:aof-always", "--launch=process", "-k", "key_access or stateful or guarantee"),
        _LONGEST,
        "redis-server",
    ),
    Target("sqlite, power cuts", _trial("--store=sqlite", "-k", "key_access or power_loss or full_disk"), _LONGEST),
    Target(
        "redis, a container",
        _trial("--store=redis:aof-always", *_IN_CONTAINERS, "-k", "key_access or guarantee"),
        _LONGEST,
        image=_IMAGE,
    ),
    Target(
        "redis, a cluster in containers",
        _trial("--store=redis:sentinel-wait-1", *_IN_CONTAINERS, "-k", _ON_NODES),
        _LONGEST_OF_CLUSTERS,
        image=_IMAGE,
    ),
    *(
        Target(
            f"{store}, a cluster",
            _trial(f"--store={store}", "--launch=process", "-k", _ON_NODES),
            _LONGEST_OF_CLUSTERS,
            binary,
        )
        for store, binary in (
            ("redis:sentinel-wait-1", "redis-server"),
            ("etcd:three-members", "etcd"),
            ("mongodb:three-members-majority", "mongod"),
            ("mariadb:galera", "mariadbd"),
        )
    ),
    Target("storeproof doctor", (_COMMAND, "doctor"), 3.0, reports=False),
)


@dataclass
class Kill:
    """One kill: what was drawn for it, and what came of it."""

    number: int
    target: Target
    signal: signal.Signals
    at: float
    """Seconds from the start of the process."""
    gap: float | None
    """Seconds until the second signal; None where there is only one."""
    code: int | None = None
    left: list[str] = field(default_factory=list)
    report: str = "none: no case had begun"
    readable: bool | None = None
    """None where there was nothing to report."""
    complaint: str = ""

    def __str__(self) -> str:
        twice = f" twice, {self.gap:.2f} s apart," if self.gap is not None else ""
        left = f"LEFT: {'; '.join(self.left)}" if self.left else "nothing left"
        bad = f", {self.complaint}" if self.complaint else ""
        struck = f"{self.signal.name.removeprefix('SIG')}{twice} after {self.at:.2f} s of {self.target.name}"
        return f"#{self.number:02} {struck}: exit {self.code}, {left}, report {self.report}{bad}"


def drawn(number: int, targets: tuple[Target, ...], rng: random.Random) -> Kill:
    """Every fifth kill falls into the first second; the others into all of the time."""
    target = targets[number % len(targets)]
    at = rng.uniform(0, 1.0 if number % 5 == 0 else target.seconds)
    return Kill(number, target, rng.choice(_SIGNALS), at, rng.uniform(0.05, 0.5) if rng.random() < 0.5 else None)


def strike(kill: Kill, base: Path) -> Kill:
    """Start it, kill it, clear up as a user would, and look."""
    folder = base / f"{kill.number:02}"
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            kill.target.command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )
    time.sleep(kill.at)
    process.send_signal(kill.signal)  # where it has ended already, Popen sends nothing
    if kill.gap is not None:
        time.sleep(kill.gap)
        process.send_signal(kill.signal)
    try:
        kill.code = process.wait(120)
    except subprocess.TimeoutExpired:
        process.kill()
        kill.code, kill.complaint = process.wait(), "IT DID NOT END within 120 s"
    subprocess.run([_COMMAND, ("stores", "doctor")[kill.number % 2]], cwd=folder, env=environment, capture_output=True, check=False)
    deadline = time.monotonic() + _SWEEP_SECONDS
    kill.left = left_by(process.pid, folder)
    while kill.left and time.monotonic() < deadline:
        time.sleep(0.2)
        kill.left = left_by(process.pid, folder)
    _read_report(kill, folder)
    return kill


def _read_report(kill: Kill, folder: Path) -> None:
    """Whether what was found can be read, and whether the end was told in few words."""
    said = (folder / "said").read_text(errors="replace")
    if "INTERNALERROR" in said or ("Traceback (most recent call last)" in said and (_COLLECTING in said or not kill.target.reports)):
        kill.complaint = "A TRACEBACK"
    if not kill.target.reports:
        kill.report = "none is written"
        return
    result, unfinished = folder / "report" / "result.json", folder / "report" / "unfinished.json"
    if result.exists():
        kill.report, kill.readable = _readable(result)
        if kill.signal is not signal.SIGKILL and kill.code not in (0, 1, 2):
            kill.complaint = kill.complaint or f"EXIT CODE {kill.code}"
    elif unfinished.exists():
        done = subprocess.run(
            [_COMMAND, "report", str(unfinished), "--report-dir", str(folder / "again")], capture_output=True, text=True, check=False
        )
        kill.readable = done.returncode == 0 and (folder / "again" / "report.html").is_file()
        kill.report = "unfinished.json" if kill.readable else f"UNREADABLE: {done.stderr}"
        if kill.signal is not signal.SIGKILL:
            kill.complaint = kill.complaint or "NO result.json"
    elif _BEGAN.search(said):
        kill.report, kill.readable = "MISSING", False


def _readable(file: Path) -> tuple[str, bool]:
    try:
        result = read_result(file)
    except UsageError as reason:
        return f"UNREADABLE: {reason}", False
    return f"{file.name} with {sum(len(store.outcomes) for store in result.stores)} outcomes", (file.with_name("report.html")).is_file()


def left_by(pid: int, folder: Path) -> list[str]:
    """Processes, directories, mounts, loop devices, containers and volumes of a process that has ended, one line each."""
    names = (f"{folder}/tmp/", f"storeproof-{pid}-")
    found = [f"process {line}" for line in _processes(pid, folder)]
    found += [f"directory {each}" for each in (folder / "tmp").glob("storeproof-*")]
    found += [f"directory {each}" for each in _SHARED_MEMORY.glob(f"storeproof-{pid}-*")]
    mounts = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
    found += [f"mount {line.split()[4]}" for line in mounts if any(name in line for name in names)]
    loops = subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=False).stdout.splitlines()
    found += [f"loop device {line}" for line in loops if any(name in line for name in names)]
    return found + _of_networks(pid) + _in_engine(pid)


def _processes(pid: int, folder: Path) -> list[str]:
    """Those that were started by it: by their environment, their directory, or their command line."""
    marks = (f"TMPDIR={folder}/tmp", f"{folder}/", f"storeproof-{pid}-")
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                continue
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            known = f"{command}\n{(entry / 'cwd').readlink()}/\n{(entry / 'environ').read_bytes().decode(errors='replace')}"
        except OSError:  # it has ended meanwhile
            continue
        if any(mark in known for mark in marks):
            found.append(f"{entry.name} {command.strip()}")
    return found


def _of_networks(pid: int) -> list[str]:
    """Namespaces of that process; interfaces and routes of no network: a network's are made after its namespaces, and removed before."""
    marks = find_marks()
    found = [f"namespace {name}" for mark, names in marks.items() if mark.owner.pid == pid for name in names]
    interfaces, metrics = {mark.interface for mark in marks}, {mark.metric for mark in marks}
    found += [f"interface {name}" for _, name in socket.if_nameindex() if _INTERFACE.fullmatch(name) and name not in interfaces]
    routes = subprocess.run(["ip", "-4", "route", "show", "type", "unreachable"], capture_output=True, text=True, check=False).stdout
    return found + [f"route {line}" for line in routes.splitlines() if (ours := _ROUTE.match(line)) and int(ours[1]) not in metrics]


def _in_engine(pid: int) -> list[str]:
    try:
        client = container_engine.client()
    except NotAvailable:
        return []
    ours = {"label": f"{container_engine.LABEL}=1"}
    owner = f"{pid}:"
    containers = client.containers.list(all=True, filters=ours, ignore_removed=True)
    volumes = client.volumes.list(filters=ours)
    found = [f"container {each.name}" for each in containers if each.labels.get(container_engine.OWNER_LABEL, "").startswith(owner)]
    return found + [
        f"volume {each.name}"
        for each in volumes
        if (each.attrs.get("Labels") or {}).get(container_engine.OWNER_LABEL, "").startswith(owner)
    ]


def here() -> tuple[Target, ...]:
    """The targets that this machine can run."""
    lacking = {each.name for each in TARGETS if each.binary and shutil.which(each.binary) is None}
    if container_engine.unavailable() is not None or not container_engine.has_image(_IMAGE):
        lacking |= {each.name for each in TARGETS if each.image}
    for name in sorted(lacking):
        print(f"not here: {name}")
    return tuple(each for each in TARGETS if each.name not in lacking)


def main() -> int:
    """The exit code: 0 if nothing was left of any, and all there was to report can be read."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1_000_000))
    options.add_argument("--at-once", type=int, default=3, help="trials at a time (default: 3)")
    options.add_argument("--only", type=int, action="append", metavar="NUMBER", help="only this kill of the series; may be repeated")
    options.add_argument("--target", default="", metavar="TEXT", help="only targets with this in their name")
    given = options.parse_args()
    rng, targets = random.Random(given.seed), tuple(each for each in here() if given.target in each.name)
    series = [drawn(number, targets, rng) for number in range(_MOST * given.kills)]
    base = Path(tempfile.mkdtemp(prefix="kills-"))
    base.chmod(0o755)  # servers that do not run as root have their data in it
    print(
        f"seed {given.seed}, {given.kills} kills of trials that had begun, others on top; in {base}",
        flush=True,
    )
    kills: list[Kill] = []
    due: list[Kill] = []
    waiting = [each for each in series if not given.only or each.number in given.only]
    with ThreadPoolExecutor(given.at_once) as pool:
        while waiting and len(due) < given.kills:
            some, waiting = waiting[: given.at_once], waiting[given.at_once :]
            for kill in pool.map(lambda each: strike(each, base), some):
                print(kill, flush=True)
                kills.append(kill)
            due = [each for each in kills if each.readable is not None]
    clean = sum(not each.left for each in kills)
    readable = sum(bool(each.readable) for each in due)
    apart = [(each for each in kills if each.readable is None and each.target.reports), (each for each in kills if not each.target.reports)]
    early, doctor = (len(list(each)) for each in apart)
    wrong = sum(bool(each.complaint) for each in kills)
    good = clean == len(kills) and readable == len(due) and not wrong and (bool(given.only) or len(due) >= given.kills)
    if good:
        shutil.rmtree(base)
    print(f"beside those: {early} came before the first case, {doctor} struck storeproof doctor; {wrong} did not end as they should")
    print(f"{len(kills)} kills: {clean} left nothing; {readable} of {len(due)} reports readable")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
