"""A process beside a run that ends the run's servers at once when the run is killed with SIGKILL.

PR_SET_PDEATHSIG does not do: the kernel sends it when the *thread* that started the server ends, it is cleared by a change of
user and by fork (PostgreSQL's backends), and setting it between fork and exec is not safe beside other threads.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from storeproof.cleanup.sweep import sweep_directories
from storeproof.errors import NotAvailable
from storeproof.machine.owner import Owner, this_process

_CONTAINERS = "containers"

_reaper: subprocess.Popen[str] | None = None
_owner = 0
_named: set[str] = set()
"""What the reaper has been asked to sweep."""


def reap_at_exit(base: Path, *, containers: bool = False) -> None:
    """Have what this process leaves under `base` ended and removed when it has ended, in whatever way; `containers`: in the engine too."""
    global _reaper, _owner
    if _owner != os.getpid():  # a forked worker needs one of its own
        _owner = os.getpid()
        _named.clear()
        _reaper = subprocess.Popen(
            [sys.executable, "-m", "storeproof.cleanup.reaper", str(this_process())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            text=True,
        )
    assert _reaper is not None
    assert _reaper.stdin is not None
    for word in [str(base), *([_CONTAINERS] if containers else [])]:
        if word not in _named:
            _named.add(word)
            _reaper.stdin.write(f"{word}\n")
            _reaper.stdin.flush()


def main(owner_text: str) -> None:
    """Wait until the owner has ended, then sweep what it named."""
    owner = Owner.parse(owner_text)
    if owner is None:
        raise SystemExit(f"not an owner: {owner_text}")
    # The end of our input does not tell: a forked worker may hold the pipe open, and the owner may close it and live on.
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(owner.pid)
        while not owner.dead():
            select.select([descriptor], [], [])
    os.set_blocking(0, False)
    words = b"".join(iter(_read, b"")).decode().splitlines()
    for word in words:
        if word == _CONTAINERS:
            from storeproof.machine.container_engine import sweep_containers

            with suppress(NotAvailable):
                sweep_containers()
        else:
            sweep_directories(Path(word))


def _read() -> bytes:
    try:
        return os.read(0, 65536)
    except BlockingIOError:  # the other end is still open
        return b""


if __name__ == "__main__":
    main(*sys.argv[1:])
