"""One short trial of one store, under way while a nuisance does its work.

A nuisance may change its environment and its arguments before it starts; afterwards it sees its process, its servers and their ports.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.end_to_end.striking import containers_of

SUITES = Path(__file__).parents[2] / "suites"
_MEMORY = Path("/dev/shm")
_PATIENCE = 240.0
"""Seconds until a trial is asked to end; one that is left alone takes 10 to 45."""
_LOOK_SECONDS = 0.05

given_up = threading.Event()
"""Set when the runner itself is told to end: trials under way are ended, and nuisances undone."""


@dataclass(frozen=True)
class Act:
    """Something that a nuisance did, by the clock that never jumps."""

    what: str
    began: float
    ended: float


@dataclass
class ShortTrial:
    """What is tried, and where."""

    store: str
    launch: str
    folder: Path
    """Its own: made by `prepare`, removed by the caller that asked for the trial."""
    selection: str
    seed: int
    suites: Sequence[str] = (str(SUITES),)
    environment: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    store_argument: str = ""
    """What is given as --store, if not the store's name."""
    store_changes: dict[str, Any] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    process: psutil.Popen | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.store} {self.launch} {self.seed}")
        self._started_cpu = 0.0

    @property
    def temporary(self) -> Path:
        """Its TMPDIR, where the stores' data lies too."""
        return self.folder / "temporary"

    @property
    def said(self) -> str:
        """What it printed."""
        return (self.folder / "said").read_text(errors="replace")

    def prepare(self) -> None:
        """Make its folders. Servers run as other users, who must get through."""
        for path in (self.folder, self.temporary):
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(0o755)

    def run(self) -> None:
        """To its end, or until the runner gives up."""
        outer = ("PYTEST_", "COV_", "CI", "BUILD_NUMBER")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(outer)}
        plugin = {"CASE_TIMES": str(self.folder / "times"), "TMPDIR": str(self.temporary), "PYTHONUNBUFFERED": "1"}
        environment = {**inherited, **plugin, **self.environment}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), self.environment.get("PYTHONPATH")]))
        command = [
            *(sys.executable, "-m", "pytest", *self.suites, "-p", "no:cacheprovider", "-p", "case_times", "-q", "-k", self.selection),
            *(f"--store={self.store_argument or self.store}", f"--launch={self.launch}", f"--seed={self.seed}", "--scale=smoke"),
            *(f"--report-dir={self.folder / 'report'}", *self.arguments),
        ]
        if self.launch == "container":
            command.append(f"--image={self.store}=storeproof/{self.store}")
        with (self.folder / "said").open("wb") as said:
            # A session of its own, so that a signal to its group is one to what it started in it, as from a terminal.
            self.process = psutil.Popen(
                command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
        try:
            self._wait()
        finally:
            self.over.set()

    def _wait(self) -> None:
        assert self.process is not None
        deadline = time.monotonic() + _PATIENCE
        for number in (signal.SIGTERM, signal.SIGKILL):
            while self.process.poll() is None and time.monotonic() < deadline and not given_up.is_set():
                time.sleep(_LOOK_SECONDS)
            if self.process.poll() is not None:
                return
            self.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired, psutil.TimeoutExpired):
                self.process.wait(30)

    def running(self) -> psutil.Process | None:
        """The run's process, while it runs."""
        return self.process if self.process is not None and not self.over.is_set() and self.process.is_running() else None

    def servers(self) -> list[psutil.Process]:
        """The servers that it started by process, and runs now: not their children."""
        run = self.running()
        found = []
        with contextlib.suppress(psutil.Error):
            for child in run.children() if run else ():
                with contextlib.suppress(psutil.Error, OSError):
                    if f"/storeproof-{run.pid}-" in f"{child.cwd()}/" and child.status() != psutil.STATUS_ZOMBIE:  # type: ignore[union-attr]
                        found.append(child)
        return found

    def containers(self) -> list[Any]:
        """Its containers that run now, as the engine's client has them."""
        run = self.running()
        if run is None or self.launch != "container":
            return []
        return [each for each in containers_of(run.pid) if each.status == "running"]

    def ports(self) -> set[int]:
        """The ports of 127.0.0.1 that its servers answer at."""
        found = set()
        for server in self.servers():
            with contextlib.suppress(psutil.Error, OSError):
                found.update(each.laddr.port for each in server.net_connections("tcp") if each.status == psutil.CONN_LISTEN)
        for container in self.containers():
            for places in (container.attrs["NetworkSettings"]["Ports"] or {}).values():
                found.update(int(place["HostPort"]) for place in places or ())
        return found

    @contextlib.contextmanager
    def act(self, what: str) -> Iterator[None]:
        """Note what is done inside."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.acts.append(Act(what, began, time.monotonic()))

    def until_over(self, least: float, most: float) -> bool:
        """Pause for a time between; False when there is no more trial to spoil."""
        return not self.over.wait(self.random.uniform(least, most)) and not given_up.is_set()

    def left_behind(self) -> list[str]:
        """What the trial left: directories, mounts, containers."""
        assert self.process is not None
        mark = f"storeproof-{self.process.pid}-"
        found = [str(path) for place in (self.temporary, _MEMORY) if place.is_dir() for path in place.glob(f"{mark}*")]
        found += [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines() if mark in line]
        if self.launch == "container":
            found += [f"container {each.name}" for each in containers_of(self.process.pid)]
        return found

    def result(self) -> dict[str, Any] | None:
        """What it reported; None where there is no report."""
        for name in ("result.json", "unfinished.json"):
            path = self.folder / "report" / name
            if path.is_file():
                found: dict[str, Any] = json.loads(path.read_text())
                return found
        return None

    def remove(self) -> None:
        """Its folders."""
        shutil.rmtree(self.folder, ignore_errors=True)
