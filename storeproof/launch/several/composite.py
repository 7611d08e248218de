"""Launches a composite store: each of its two servers by the launcher of its own, as if it were alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from storeproof.cleanup.reaper import reap_at_exit
from storeproof.cleanup.registry import registry
from storeproof.cleanup.workdir import WorkDir, default_base
from storeproof.contract.address import Address, PartAddress
from storeproof.disk.recording import RecordingDisk
from storeproof.errors import NotAvailable, StoreDied
from storeproof.launch.data_written import AllWritten
from storeproof.launch.handle import DataWritten, FaultMeans, Handle, LaunchKind
from storeproof.launch.request import LaunchRequest, PartRequest
from storeproof.launch.several.together import Servers
from storeproof.machine.program_origin import ProgramOrigin
from storeproof.machine.usage import UsageMeter
from storeproof.outcome import Lack
from storeproof.spec.store import FRONT, HOME, Role


class CompositeHandle(Servers):
    """Two servers as one store. A fault strikes both at the same moment; the servers are its nodes, so that one can be killed alone."""

    image_digest: str | None = None
    cluster: None = None

    def __init__(self, request: LaunchRequest, make: Callable[[LaunchRequest], Handle]) -> None:
        """Make the handles of both servers. Nothing is started yet.
        `make`: makes the handle of one server; raises `NotAvailable` or `UsageError`, as `launcher.make` does."""
        self._name = request.store
        self._requests: Mapping[str, PartRequest] = {part.role: part for part in request.parts}
        self._parts: dict[str, Handle] = {}
        self._starting = threading.Lock()
        self._strikes = 0
        self._meter: UsageMeter | None = None
        self._dir: WorkDir | None = None
        registry.add(self)
        try:
            self._dir = WorkDir.make(default_base(), keep=False)
            reap_at_exit(self._dir.root.parent)
            self._locks = self._dir.run / "locks"
            self._locks.touch(mode=0o600)
            for role in (HOME, FRONT):
                self._parts[role] = make(self._requests[role].request)
        except BaseException:
            self.close()
            raise
        kinds = {part.kind for part in self._parts.values()}
        self.kind: LaunchKind = kinds.pop() if len(kinds) == 1 else "composite"
        self.data: Path | None = self._parts[HOME].data

    @property
    def members(self) -> Collection[Handle]:
        return self._parts.values()

    @property
    def initialised(self) -> bool | None:
        known = [part.initialised for part in self._parts.values()]
        return None if None in known else all(known)

    @property
    def binary_digest(self) -> str | None:
        """The digests of both programs or images, as `FRONT over HOME`; None if one of them has none."""
        digests = [self._parts[role].binary_digest or self._parts[role].image_digest for role in (FRONT, HOME)]
        return f"{digests[0]} over {digests[1]}" if all(digests) else None

    @property
    def origins(self) -> Sequence[ProgramOrigin]:
        return [replace(each, role=role) for role in (FRONT, HOME) for each in self._parts[role].origins]

    @property
    def pids(self) -> Sequence[int]:
        """Empty if those of one server cannot be inspected."""
        found = [part.pids for part in self._parts.values()]
        return [pid for pids in found for pid in pids] if all(found) else ()

    @property
    def power_cut_method(self) -> str | None:
        return self._parts[HOME].power_cut_method

    @property
    def address(self) -> Address:
        home = self._parts[HOME].address
        parts = tuple(
            PartAddress(role=role, adapter=part.adapter, address=self._parts[role].address, options=part.options)
            for role, part in self._requests.items()
        )
        return Address(home.host, home.port, ours=home.ours, parts=parts, locks=str(self._locks))

    def part(self, role: Role) -> Handle:
        return self._parts[role]

    def cannot(self, capability: FaultMeans) -> NotAvailable | None:
        """It has what both servers have; to kill its nodes is to kill one of them."""
        needed = FaultMeans.KILL if capability is FaultMeans.KILL_NODES else capability
        lacking = ((role, found) for role, part in self._parts.items() if (found := part.cannot(needed)))
        return next((NotAvailable(f"its {role}: {found}", lack=Lack.PARTS) for role, found in lacking), None)

    def start(self) -> float:
        """Start what does not run, and wait until both answer; return the seconds taken. Raises as `Handle.start`."""
        began = time.monotonic()
        self.start_nowait()
        self.wait_ready()
        return time.monotonic() - began

    def start_nowait(self) -> None:
        """Start what does not run, without waiting. Raises `StoreDied` if it is killed meanwhile."""
        with self._starting:
            strikes = self._strikes
            stopped = [part for part in self._parts.values() if not part.alive()]
            if not stopped:
                raise RuntimeError(f"{self._name} runs already")
            self._meter = None
            for part in stopped:
                if self._strikes == strikes:
                    part.start_nowait()
                if self._strikes != strikes:
                    part.kill()  # it may have been started after the strike
                    raise StoreDied(f"{self._name} was killed while it was started", self.log_tail())

    def wait_ready(self) -> None:
        for part in self._parts.values():
            part.wait_ready()

    def empty(self) -> None:
        for part in self._parts.values():
            part.empty()

    def stop(self) -> None:
        """Stop the front first, so that the home has the last word."""
        self._strikes += 1
        for role in (FRONT, HOME):
            self._parts[role].stop()

    def kill(self) -> None:
        self._strike(lambda part: part.kill())

    @property
    def nodes(self) -> Sequence[str]:
        return tuple(self._parts)

    def kill_nodes(self, names: Sequence[str]) -> None:
        """Send SIGKILL to these servers and wait until they are gone. The next `start` starts them again.
        Raises `StoreDied` or `MachineFailed`: one of them was not running."""
        for name in names:
            self._parts[name].check_alive()
        for name in names:
            self._parts[name].kill()

    def wait_whole(self) -> None:
        """Return at once: nothing restarts a server but `start`."""

    def quiesce(self) -> None:
        for part in self._parts.values():
            part.quiesce()

    def cut_power(self) -> None:
        self._strike(lambda part: part.cut_power())

    def _strike(self, fault: Callable[[Handle], None]) -> None:
        """Strike both at the same moment, so that neither does anything more after the end of the other."""
        self._strikes += 1
        with ThreadPoolExecutor(len(self._parts)) as threads:
            struck = [threads.submit(fault, part) for part in self._parts.values()]
        for each in struck:
            each.result()
        with self._starting:  # a start in another thread notices, and ends what it has started
            pass

    def recording_disk(self) -> RecordingDisk:
        raise NotAvailable("it is several servers, and the disk of one is recorded", lack=Lack.DISK)

    def data_written(self) -> DataWritten:
        return AllWritten([part.data_written() for part in self._parts.values()])

    def watched(self) -> tuple[Path, Sequence[int]]:
        raise NotAvailable("it is several servers, and the I/O of one is watched")

    def files_elsewhere(self) -> Sequence[str]:
        return [file for part in self._parts.values() for file in part.files_elsewhere()]

    def meter(self) -> UsageMeter:
        """The meter of both servers together; files and syncs are the home's."""
        if self._meter is None:
            for part in self._parts.values():
                part.meter()  # each is first held in its limits, or says why it cannot be looked at
            self._meter = UsageMeter(self.pids, self.data)
        return self._meter

    def log_tail(self) -> str:
        """The last lines of both logs, each after a line that says whose they are."""
        tails = ((role, self._parts[role].log_tail()) for role in self._parts)
        return "\n".join(f"{self._name}, {role}:\n{tail}" for role, tail in tails if tail)

    def close(self) -> None:
        with registry.deferring_signals():
            for part in self._parts.values():
                part.close()
            if self._dir is not None:
                self._dir.remove()
                self._dir = None
            registry.discard(self)
