"""A process beside a run that ends the run's servers at once when the run is killed with SIGKILL.

PR_SET_PDEATHSIG is not sufficient: the kernel sends it when the *thread* that started the server ends, it is cleared by a change of user
and by fork (PostgreSQL's backends), and setting it between fork and exec is not safe in a process with several threads.
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
from storeproof.network.network import sweep_networks

_CONTAINERS = "containers"
_NETWORKS = "networks"

_reaper: subprocess.Popen[str] | None = None
_owner = 0
_named: set[str] = set()
"""What the reaper has been told to sweep: directories, and the words for the engine and for networks."""


def reap_at_exit(base: Path, *, containers: bool = False, networks: bool = False) -> None:
    """Start a reaper, if there is none yet, and have it sweep `base` after this process has ended in any way.

    `containers`: it sweeps the container engine too; `networks`: also networks, after all directories.
    """
    global _reaper, _owner
    if _owner != os.getpid():  # a forked worker needs its own reaper
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
    for word in [str(base), *([_CONTAINERS] if containers else []), *([_NETWORKS] if networks else [])]:
        if word not in _named:
            _named.add(word)
            _reaper.stdin.write(f"{word}\n")
            _reaper.stdin.flush()


def main(owner_text: str) -> None:
    owner = Owner.parse(owner_text)
    if owner is None:
        raise SystemExit(f"not an owner: {owner_text}")
    # End of input does not show the owner's end: a forked worker may keep the pipe open, and the owner may close it and go on.
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
        elif word != _NETWORKS:
            sweep_directories(Path(word))
    if _NETWORKS in words:  # after the processes in them
        sweep_networks()


def _read() -> bytes:
    try:
        return os.read(0, 65536)
    except BlockingIOError:  # the other end is still open
        return b""


if __name__ == "__main__":
    main(*sys.argv[1:])
