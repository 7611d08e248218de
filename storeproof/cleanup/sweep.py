"""Removes what dead runs left behind: only what storeproof made, and only if its owner is certainly dead."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from storeproof.cleanup.workdir import WorkDir, default_base, find_marked, remove_unmarked
from storeproof.disk import ext4
from storeproof.errors import NotAvailable
from storeproof.machine import process_tree, shared_memory
from storeproof.network.network import sweep_networks

_SOCKET: Final = "unix:///var/run/docker.sock"
_ANSWER_SECONDS: Final = 0.3
_FILTERS: Final = "%7B%22label%22%3A%5B%22storeproof%3D1%22%5D%7D"
"""`{"label":["storeproof=1"]}`, URL-encoded."""


def any_of_ours() -> bool:
    """Whether the engine has containers or volumes with our label, of any owner; False if no engine on this machine answers at once."""
    where = os.environ.get("DOCKER_HOST", _SOCKET)
    if not where.startswith("unix://"):
        return False
    path = where.removeprefix("unix://")
    try:
        if _query(path, f"/containers/json?all=1&filters={_FILTERS}"):
            return True
        return bool(_query(path, f"/volumes?filters={_FILTERS}")["Volumes"])
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _query(path: str, question: str) -> Any:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as engine:
        engine.settimeout(_ANSWER_SECONDS)
        engine.connect(path)
        engine.sendall(f"GET {question} HTTP/1.0\r\nHost: engine\r\n\r\n".encode())
        answer = b"".join(iter(lambda: engine.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise ValueError("the engine refuses")
    return json.loads(body)


def sweep_all(base: Path | None = None, *, containers: bool = False) -> list[str]:
    """Remove what dead runs left in the default directories and under `base`; return a line for each action.

    If nothing is left this takes some milliseconds: without `containers`, only an engine on this machine that answers at once is swept.
    """
    bases = {each.resolve(): None for each in (base, default_base(), ext4.MEMORY) if each is not None}
    done = [line for each in bases for line in sweep_directories(each)]
    if containers or any_of_ours():
        from storeproof.machine.container_engine import sweep_containers

        with suppress(NotAvailable, OSError):  # the errors of the engine's client are OSErrors
            done += sweep_containers()
    return done + sweep_networks()  # after the processes in them


def sweep_directories(base: Path) -> list[str]:
    """End the processes and remove the directories of dead owners under `base`; return a line for each action. Directories that
    `--keep` kept stay, but their processes are ended."""
    done = []
    for found in find_marked(base):
        if not found.owner.dead() or not _may_touch(found):
            continue
        if os.path.ismount(found.data):  # a model of a device, on which servers of the same run may still be
            done += sweep_directories(found.data)
        orphans = _end_processes(found)
        if orphans:
            done.append(f"ended {orphans} processes of a killed run, in {found.root}")
        found.end_limit()
        if not found.keep:
            found.remove()
        if not found.root.exists():
            done.append(f"removed {found.root}, left by a killed run")
    return done + [f"removed {root}, left by a killed run" for root in remove_unmarked(base)]


def _end_processes(found: WorkDir) -> int:
    def orphans() -> list[process_tree.Stat]:
        return process_tree.members(found.root, found.leaders, found.programs)

    pids = [each.pid for each in orphans()]
    shared_files = shared_memory.mapped_files(pids)
    if pids and process_tree.destroy(orphans):
        shared_memory.remove_files(shared_files)
        shared_memory.remove_segments(pids)
    return len(pids)


def _may_touch(found: WorkDir) -> bool:
    """Whether this user owns the directory. Other users remove theirs, and a marker that another user wrote proves nothing."""
    return found.root.stat().st_uid == os.geteuid()
