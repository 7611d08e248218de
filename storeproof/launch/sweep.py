"""Removes what dead runs left: only what carries our mark, and only when its owner surely has ended."""

from __future__ import annotations

import os
from pathlib import Path

from storeproof.launch import process_tree, shared_memory
from storeproof.launch.workdir import WorkDir, marked


def sweep_directories(base: Path) -> list[str]:
    """End the processes and remove the directories of dead owners under `base`; what was done, one line each.
    What `--keep` kept stays; its processes do not."""
    done = []
    for found in marked(base):
        if not found.owner.dead() or not _may_touch(found):
            continue
        orphans = _end_processes(found)
        if orphans:
            done.append(f"ended {orphans} processes of a run that had died, in {found.root}")
        if not found.keep:
            found.remove()
        if not found.root.exists():
            done.append(f"removed {found.root}, left by a run that had died")
    return done


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
    """Another user's leftovers are that user's to remove, and a mark that another user wrote proves nothing."""
    return found.root.stat().st_uid == os.geteuid()
