"""Removes what dead runs left behind: only what storeproof made, and only if its owner is certainly dead."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from storeproof.cleanup.containers import any_of_ours
from storeproof.cleanup.workdir import WorkDir, default_base, find_marked, remove_unmarked
from storeproof.disk import ext4
from storeproof.errors import NotAvailable
from storeproof.machine import process_tree, shared_memory
from storeproof.network.sweep import sweep_networks


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
