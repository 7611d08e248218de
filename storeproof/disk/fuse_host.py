"""The process that serves a FUSE disk. It reads a command per line, writes an answer per line, and exits at the end of its input.

The commands are mount, sync, cut, cut-at-sync N, syncs, written and off; record BYTES, recorded, mapped, dump, load FILE, states MODEL
LIMIT and restore INDEX; fail ERROR N LASTING and failures. The answer is `ok`, with a value if any, a list as JSON, or `error` and a
reason.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from storeproof.disk.ext4 import unmount_lazily
from storeproof.disk.recording import packed
from storeproof.errors import MachineFailed

if TYPE_CHECKING:
    from storeproof.native import MemoryDisk

_LOOK_SECONDS: Final = 1.0
_GONE_SECONDS: Final = 60.0
_GONE_LOOK_SECONDS: Final = 0.002


def main(at: str, strict: str, torn: str, seed: str, capacity: str) -> None:
    """Serve until the input ends, or until another process has unmounted the disk and removed its directory."""
    from storeproof.native import MemoryDisk

    everybody = os.geteuid() == 0  # without root this would need user_allow_other in /etc/fuse.conf, and the store runs as the same user
    disk = MemoryDisk(at, strict=strict == "1", torn=float(torn), seed=int(seed), capacity=int(capacity), everybody=everybody)
    waiting = b""
    while True:
        readable, _, _ = select.select([0], [], [], _LOOK_SECONDS)
        if not readable:
            if Path(at).exists() or not disk.unmounted:
                continue
            break  # a sweep removed the directory: the parent is dead, and another process keeps the input open
        read = os.read(0, 4096)
        if not read:
            break
        *lines, waiting = (waiting + read).split(b"\n")
        for line in lines:
            print(_answer(disk, at, *line.decode().split()), flush=True)
    unmount_lazily(Path(at))


def _answer(disk: MemoryDisk, at: str, command: str, *arguments: str) -> str:
    try:
        match command:
            case "mount":
                _wait_until_unmounted(disk, at)
                disk.mount()
            case "sync":
                disk.settle()
            case "cut":
                disk.cut()
            case "cut-at-sync" | "record" | "restore":
                getattr(disk, command.replace("-", "_"))(int(arguments[0]))
            case "recorded" | "mapped" | "failures":
                return f"ok {json.dumps(getattr(disk, command)())}"
            case "dump":
                return f"ok {packed(disk.dump())}"
            case "load":
                disk.load(Path(arguments[0]).read_bytes())
            case "states":
                return f"ok {json.dumps(disk.states(arguments[0], int(arguments[1])))}"
            case "fail":
                disk.fail(arguments[0], int(arguments[1]), arguments[2] == "1")
            case "syncs" | "written" | "off":
                return f"ok {getattr(disk, command)}"
            case _:
                return f"error no such command: {command}"
    except (OSError, ValueError, MachineFailed) as reason:
        return f"error {' '.join(str(reason).split())}"
    return "ok"


def _wait_until_unmounted(disk: MemoryDisk, at: str) -> None:
    """Wait for copies of the mount. If this user may not abort the connection, a container that is starting may hold one for some time."""
    deadline = time.monotonic() + _GONE_SECONDS
    while not disk.unmounted:
        if time.monotonic() > deadline:
            raise MachineFailed(f"the volume at {at} is still mounted in another mount namespace after {_GONE_SECONDS:g} s")
        time.sleep(_GONE_LOOK_SECONDS)
    disk.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
