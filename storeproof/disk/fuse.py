"""A FUSE file system in memory whose power can be cut without root: the launcher's side.

The file system itself is served by another process (`fuse_host`), which unmounts it and exits when the pipe from this process is closed.
So a crash or SIGKILL of storeproof leaves no mount behind.
"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import psutil

from storeproof import native_support
from storeproof.disk.ext4 import abort, unmount, write_out
from storeproof.disk.recording import MOST_STATES, DiskState, Failures, RecordedChanges, mapped_writes, states_of
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.outcome import Lack
from storeproof.spec.guarantee import CrashModel, IoError

_LARGEST: Final = 4 * 2**30
"""Bytes of the volatile and the durable image together."""
_LARGEST_RECORDING: Final = 2**29
"""Bytes that are written while it is recorded."""
_END_SECONDS: Final = 10.0
DEVICE: Final = "/dev/fuse"
_SYNCS: Final = 8
"""The cut replaces one of the next eight syncs: a store under load, or its checkpoint, makes several in a row."""
_SYNC_SECONDS: Final = 0.5
"""How long to wait for that sync: a store without load may not sync again."""
_LOOK_SECONDS: Final = 0.002


class FuseDisk:
    """One mounted FUSE file system: see `Disk`."""

    def __init__(self, at: Path, *, strict: bool = False, torn: float = 0.0, at_sync: bool = False, seed: int = 0) -> None:
        """Mount it on the empty directory `at`. For the other arguments see `storeproof.native.MemoryDisk`.

        Args:
            at_sync: a cut replaces one of the next syncs, chosen by the seed; that sync fails.

        Raises:
            NotAvailable: this machine or this user cannot mount one.
        """
        hard = {
            "strict: a sync covers no other file": strict,
            "torn: half of the unsynced sectors survive": torn > 0,
            "cut in place of a sync": at_sync,
        }
        self.method = f"a file system in memory ({', '.join(['FUSE', *(words for words, is_so in hard.items() if is_so)])})"
        self._dice = random.Random(seed) if at_sync else None
        native_support.require("a power cut without a loop device")
        check_device("a power cut without a loop device")
        if os.geteuid() != 0 and shutil.which("fusermount3") is None:
            raise NotAvailable("a power cut without root needs the program fusermount3", "apt-get install fuse3")
        self._at = at
        self._records = False
        capacity = min(_LARGEST, psutil.virtual_memory().available // 2)
        self._host = subprocess.Popen(
            [sys.executable, "-m", "storeproof.disk.fuse_host", str(at), str(int(strict)), str(torn), str(seed), str(capacity)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # Ctrl-C must not end it: the disk must outlive the store
            text=True,
        )
        try:
            self._say("mount")
        except MachineFailed as reason:
            self.close()
            raise NotAvailable(f"a power cut needs a separate file system for the data, which cannot be mounted: {reason}") from None
        except BaseException:
            self.close()
            raise

    @property
    def syncs(self) -> int:
        """Number of syncs requested so far."""
        return int(self._say("syncs"))

    @property
    def off(self) -> bool:
        """Whether its power was cut, by `cut` or at a sync, and it has not been remounted since."""
        return self._say("off") == "True"

    def written(self) -> int:
        return int(self._say("written"))

    def sync(self) -> None:
        write_out(self._at)  # changes through mmap are still in the kernel's page cache
        self._say("sync")

    def cut(self) -> None:
        if self._dice is not None:
            self.cut_at_sync(self._dice.randint(1, _SYNCS))
            deadline = monotonic() + _SYNC_SECONDS
            while not self.off and monotonic() < deadline:
                sleep(_LOOK_SECONDS)
        self._say("cut")

    def cut_at_sync(self, nth: int) -> None:
        """Cut the power in place of the n-th sync from now on, which fails; 0 cancels this."""
        self._say(f"cut-at-sync {nth}")

    def record(self) -> None:
        """Write down from now on what is done to it."""
        write_out(self._at)
        self._say(f"record {_LARGEST_RECORDING}")
        self._records = True

    def mark(self, number: int) -> None:
        """Write down that this moment has come, among the changes; nothing while it is not recorded."""
        if not self._records:
            return
        with suppress(FileNotFoundError):
            (self._at / f".storeproof-mark-{number}").stat()

    def recorded(self) -> RecordedChanges:
        """End the recording. Raises `NotAvailable`: more was written than is kept, or as `mapped` says."""
        self._records = False
        changes, written, overflowed, marks = json.loads(self._say("recorded"))
        if overflowed:
            raise NotAvailable(f"it wrote more than {_LARGEST_RECORDING:,} bytes, which are kept to build each state", lack=Lack.DISK)
        return RecordedChanges.of(changes, written, marks, self.mapped())

    def mapped(self) -> int:
        """Pages written through memory mappings since the recording began, or since `restore`, in files that were not synced.

        Raises:
            NotAvailable: some were in files that were synced: what has to survive a power cut may be in them.
        """
        try:
            write_out(self._at)
        except OSError as reason:
            if reason.errno != errno.EROFS:  # its journal is aborted: what is still in mappings does not reach it any more
                raise
        synced, others = json.loads(self._say("mapped"))
        if synced:
            raise mapped_writes(synced)
        return int(others)

    def packed_recording(self) -> str:
        """What was recorded, as `unpacked` reads it; empty if it is too large to be kept."""
        return self._say("dump")

    def load_recording(self, file: Path) -> None:
        """Go on as if the recording in this file had been recorded. Raises `MachineFailed`: it is none."""
        self._say(f"load {file}")

    def states(self, model: CrashModel) -> tuple[list[DiskState], int]:
        """The different states that a crash at any moment of the recording may have left, in order of their tiers; and how many more
        there are than can be listed."""
        found, more = json.loads(self._say(f"states {model} {MOST_STATES}"))
        return states_of(found), more

    def restore(self, state: DiskState) -> None:
        """Cut the power; after the next `remount` the disk is in this state."""
        self._say(f"restore {state.index}")

    def fail(self, error: IoError, nth: int, *, lasting: bool) -> None:
        """Have the n-th call from now on fail that can fail so, alone or with all later ones."""
        self._say(f"fail {error} {nth} {int(lasting)}")

    def failures(self) -> Failures:
        """What became of the calls since then; it works again."""
        return Failures(*json.loads(self._say("failures")))

    def remount(self) -> None:
        abort(self._at)
        unmount(self._at)
        self._say("mount")

    def close(self) -> None:
        assert self._host.stdin is not None
        assert self._host.stdout is not None
        with suppress(BrokenPipeError):  # it has ended by itself
            self._host.stdin.close()
        wait_for_end(self._host, _END_SECONDS)
        self._host.stdout.close()
        unmount(self._at)

    def _say(self, command: str) -> str:
        """Send a command to the process of the file system; return the value of its answer. Raises `MachineFailed`."""
        assert self._host.stdin is not None
        assert self._host.stdout is not None
        try:
            self._host.stdin.write(f"{command}\n")
            self._host.stdin.flush()
            answer = self._host.stdout.readline().rstrip("\n")
        except (BrokenPipeError, ValueError):  # ValueError: the pipe is closed on this side
            answer = ""
        word, _, rest = answer.partition(" ")
        if word != "ok":
            raise MachineFailed(rest or f"the process of the file system at {self._at} has ended")
        return rest


def wait_for_end(host: subprocess.Popen[str], seconds: float) -> None:
    """Wait until the process of a file system has ended, whose input was closed; after that time it is killed."""
    try:
        host.wait(seconds)
    except subprocess.TimeoutExpired:
        host.kill()
        host.wait()


def check_device(what: str) -> None:
    """Check that this user may use FUSE; `what` needs it, for the message. Raises `NotAvailable`."""
    try:
        os.close(os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC))
    except OSError as reason:
        remedy = "modprobe fuse  # in a container: start it with --device /dev/fuse --cap-add SYS_ADMIN"
        raise NotAvailable(f"{what} needs FUSE: {DEVICE}: {reason.strerror}", remedy) from None
