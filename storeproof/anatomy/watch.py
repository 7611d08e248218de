"""Watches the I/O of a server for the time of one round, by records of the kernel's tracepoints."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from storeproof.anatomy.file_names import FileNames
from storeproof.anatomy.kinds import KINDS, Kinds
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.machine.mounts import mount_of
from storeproof.machine.tracepoints import SUPPORTED, WITH_DATA, WITH_PROCESS, WITH_TIME, Ring, cores, format_of, id_of
from storeproof.native_support import require
from storeproof.spec.store.files import FileRule

if TYPE_CHECKING:
    from storeproof.native import DeviceIo, KindIo

PAGES: Final = 4096
"""Of the ring of each core: 16 MiB, for about 200,000 records between two looks."""
_EVERY: Final = 0.01
"""Seconds between two looks at the rings."""
_SETTLED_NS: Final = 1_000_000
"""A record is in its ring long before so much time has passed since what it records."""
_PATIENCE: Final = 30.0
"""Seconds in which the last look must be done, also on a machine that is very busy."""


@dataclass(frozen=True)
class WatchedIo:
    """What was seen in one round."""

    nanoseconds: int
    kinds: Mapping[str, KindIo]
    """Those that occurred, of `KINDS`."""
    device: DeviceIo
    """Requests that reached it, from whatever program."""
    lost: int
    """Records that the kernel dropped, and names that it did not tell."""
    matched: frozenset[int]
    """The places of the rules that named any I/O."""


class IoWatch:
    """From `begin` to `end`. Nothing is left behind, whatever ends the process: rings and messages are descriptors of its own."""

    def __init__(self, folder: Path, pids: Collection[int], rules: Sequence[FileRule], pages: int = PAGES) -> None:
        """
        Args:
            folder: the server's data directory.
            pids: its processes.
            rules: what its files are for.
            pages: of the ring of each core, a power of two.

        Raises:
            NotAvailable: its I/O cannot be watched here; with the reason.
        """
        from storeproof.native import IoTrace  # optional: see `check_available`

        self._until = threading.Event()
        self._wrong: BaseException | None = None
        self._lost = 0
        self._begins = 0
        device = folder.stat().st_dev
        with ExitStack() as stack:
            try:
                self._names = FileNames(folder)
                stack.callback(self._names.close)
                self._kinds = Kinds(rules, self._names, pids)
                points = IoTrace.points()
                self._trace = IoTrace({point: format_of(point) for point in points}, self._kinds)
                self._rings = [Ring(core, pages) for core in cores()]
                for ring in self._rings:
                    stack.callback(ring.close)
                    for point in points:
                        number = _disk_of(device) if point.startswith("block/") else device
                        condition = f"dev == {os.major(number) << 20 | os.minor(number)}"
                        ring.record(id_of(point), WITH_PROCESS | WITH_TIME | WITH_DATA, condition=condition)
            except (OSError, ValueError) as reason:
                raise NotAvailable(f"the kernel's records of I/O cannot be read: {reason}", "run as root") from None
            self._open = stack.pop_all()
        self._thread = threading.Thread(target=self._look, name="storeproof-io-watch", daemon=True)

    def begin(self) -> None:
        self._begins = time.monotonic_ns()
        for ring in self._rings:
            ring.enable()
        self._thread.start()

    def end(self) -> WatchedIo:
        """What was seen since `begin`. Raises `MachineFailed`: it could not be looked at to the end."""
        try:
            ends = self._stop()
            found, device = self._trace.end(ends), self._trace.device()
        finally:
            self._open.close()
        return WatchedIo(
            nanoseconds=ends - self._begins,
            kinds={KINDS[place]: io for place, io in found.items()},
            device=device,
            lost=self._trace.lost + self._lost + self._names.overflowed,
            matched=frozenset(self._kinds.matched),
        )

    def close(self) -> None:
        """End without a result."""
        try:
            self._stop()
        finally:
            self._open.close()

    def _stop(self) -> int:
        """The time until which was watched."""
        for ring in self._rings:
            ring.disable()
        ends = time.monotonic_ns()
        self._until.set()
        if self._thread.ident is not None:
            self._thread.join(_PATIENCE)
        if self._thread.is_alive():
            raise MachineFailed(f"the records of I/O were not read within {_PATIENCE:g} s", "repeat the run on a machine that is not busy")
        if self._wrong is not None:
            raise self._wrong
        return ends

    def _look(self) -> None:
        try:
            while not self._until.wait(_EVERY):
                self._drain(time.monotonic_ns() - _SETTLED_NS)
            self._drain(2**63)
        except BaseException as wrong:  # noqa: BLE001 - raised by `end`
            self._wrong = wrong

    def _drain(self, until: int) -> None:
        """Read what was recorded up to a time. The rings first, and then names: a file's name is told before it is written to."""
        taken = [ring.take() for ring in self._rings]
        self._lost += sum(full for _, full in taken)
        for inode in self._names.read():
            self._trace.forget(inode)
        self._trace.feed([text for text, _ in taken], until)


def check_available(folder: Path, rules: Sequence[FileRule]) -> None:
    """Raises `NotAvailable`: the I/O of a server with this data directory cannot be watched, or not here; with the reason."""
    require("the anatomy of a workload")
    if not rules:
        raise NotAvailable("its file does not say what its files are for", "add `files:`, see docs/STORE_FILE.md")
    filesystem = mount_of(folder).filesystem
    if filesystem != "ext4":
        raise NotAvailable(f"its data is on {filesystem}, and I/O is watched on ext4 alone", "give a directory on ext4 with --data-dir")
    if platform.machine() not in SUPPORTED:
        raise NotAvailable(f"I/O is not watched on {platform.machine()}")


def _disk_of(device: int) -> int:
    """The number of the disk that a partition is on; that of the device itself where it is no partition."""
    entry = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not (entry / "partition").exists():
        return device
    major, _, minor = (entry.resolve().parent / "dev").read_text(encoding="ascii").strip().partition(":")
    return os.makedev(int(major), int(minor))
