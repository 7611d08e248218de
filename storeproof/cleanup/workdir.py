"""The working directory of one launched store, with a marker that names its owner."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from storeproof.disk.ext4 import unmount
from storeproof.errors import MachineFailed, NotAvailable, UsageError
from storeproof.machine.memory_group import MemoryGroup, hierarchy
from storeproof.machine.owner import Owner, this_process
from storeproof.machine.process_tree import read_stat

MARKER = "storeproof.json"
_FRESH = f"{MARKER}.new"
_NAME = re.compile(r"storeproof-(\d+)-[0-9a-f]{8}")


@dataclass
class WorkDir:
    """A directory `storeproof-<pid>-<random>/` with `data/`, `run/`, `log`, and a marker that names its owner."""

    root: Path
    owner: Owner
    keep: bool
    leaders: set[tuple[int, int]] = field(default_factory=set)
    """The processes that were started here, as (pid, start): see `process_tree.Stat`."""
    programs: set[str] = field(default_factory=set)
    """The resolved paths of their programs."""
    group: Path | None = None
    """The control group that limits their memory; None without a limit."""

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def image(self) -> Path:
        """The image file of the file system that is mounted at `data`, if there is one."""
        return self.root / "volume"

    @property
    def run(self) -> Path:
        """The server's current directory: configuration, sockets, and whatever else it writes there."""
        return self.root / "run"

    @property
    def log(self) -> Path:
        """The server's standard output and error, of all its starts."""
        return self.root / "log"

    @classmethod
    def make(cls, base: Path, *, keep: bool) -> Self:
        """Make a new one under `base`.

        Raises:
            UsageError: `base` is not a directory, or cannot be written to.
            NotAvailable: its disk is full.
        """
        if not base.is_dir():
            raise UsageError(f"the data directory {base} does not exist; create it on the disk that is to be measured")
        owner = this_process()
        while True:
            made = cls(base.resolve() / f"storeproof-{owner.pid}-{secrets.token_hex(4)}", owner, keep)
            try:
                # Readable by all users, since a server may run as another one; data/ and run/ are private.
                made.root.mkdir(mode=0o755)
                made.root.chmod(0o755)
                made.write_marker()
            except FileNotFoundError:  # removed by a sweep that cannot see this process: see `remove_unmarked`
                if base.is_dir():
                    continue
                raise UsageError(f"the data directory {base} was removed") from None
            except OSError as reason:
                made.remove()
                if reason.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise NotAvailable(f"{base}: {reason.strerror}", "make room, or name another directory with --data-dir") from None
                raise UsageError(
                    f"the data directory {base} cannot be written to: {reason.strerror}; name another with --data-dir"
                ) from None
            made.data.mkdir(mode=0o700)
            made.run.mkdir(mode=0o700)
            made.log.touch(mode=0o600)
            return made

    @classmethod
    def read(cls, root: Path) -> Self | None:
        """Read the marker of an existing directory; None if it has no valid one."""
        try:
            text = json.loads((root / MARKER).read_text(encoding="utf-8"))
            owner = Owner.parse(text["owner"])
            leaders = {(int(pid), int(start)) for pid, start in text["leaders"]}
            group = Path(text["group"]) if text.get("group") else None
            return cls(root, owner, bool(text["keep"]), leaders, set(text["programs"]), group) if owner else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write_marker(self) -> None:
        """Write owner and processes to the marker, atomically."""
        fresh = self.root / _FRESH
        fresh.write_text(
            json.dumps(
                {
                    "owner": str(self.owner),
                    "keep": self.keep,
                    "leaders": sorted(self.leaders),
                    "programs": sorted(self.programs),
                    "group": str(self.group) if self.group else None,
                }
            ),
            encoding="utf-8",
        )
        fresh.replace(self.root / MARKER)

    def limit_memory(self, limit: int) -> MemoryGroup:
        """Make a control group that limits memory to `limit` bytes; the marker records it first. Raises `NotAvailable`."""
        where = hierarchy()
        self.group = where.parent / self.root.name
        self.write_marker()
        group = MemoryGroup(self.group, limit)
        group.make(where.version)
        return group

    def end_limit(self) -> None:
        """Remove that group after its processes have ended. Only if it has this directory's name, since a marker may contain any path."""
        if self.group is not None and self.group.name == self.root.name:
            MemoryGroup(self.group, 0).remove()

    def empty(self) -> None:
        """Remove the contents of `data`, but not the directory itself, since a file system may be mounted there."""
        for each in self.data.iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()

    def empty_run(self, *, but: Collection[str]) -> None:
        """Remove the contents of `run` but the files of these names."""
        _clear(self.run, but=but)

    def remove(self) -> None:
        """Remove the directory and its contents; may be called twice. The marker goes last, so that a sweep finds the rest if this process
        is killed meanwhile."""
        with suppress(MachineFailed):  # the next run tries again
            unmount(self.data)
        _clear(self.root, but=[MARKER])
        with suppress(OSError):
            if {each.name for each in self.root.iterdir()} <= {MARKER}:
                (self.root / MARKER).unlink(missing_ok=True)
                self.root.rmdir()


def _clear(folder: Path, *, but: Collection[str]) -> None:
    """Remove the contents of a directory except those of the names `but`, as far as possible."""
    try:
        entries = [each for each in folder.iterdir() if each.name not in but]
    except OSError:
        return
    for each in entries:
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each, ignore_errors=True)
        else:
            with suppress(OSError):
                each.unlink()


def default_base() -> Path:
    """The parent of working directories without --data-dir."""
    return Path(tempfile.gettempdir())


def find_marked(base: Path) -> list[WorkDir]:
    """All directories under `base` with a marker, of any owner."""
    return [found for found in map(WorkDir.read, _find_named(base)) if found is not None]


def remove_unmarked(base: Path) -> list[Path]:
    """Remove this user's empty directories under `base` that are named like a `WorkDir` and have no marker; return them.

    Their maker was killed before it wrote the marker, or after it removed it. A maker that cannot be seen from here may be about to write
    it: `WorkDir.make` then makes another directory.
    """
    removed = []
    for root in _find_named(base):
        with suppress(OSError):
            if root.stat().st_uid == os.geteuid() and not _maker_runs(root) and {each.name for each in root.iterdir()} <= {_FRESH}:
                (root / _FRESH).unlink(missing_ok=True)
                root.rmdir()
                removed.append(root)
    return removed


def _maker_runs(root: Path) -> bool:
    name = _NAME.fullmatch(root.name)
    maker = read_stat(int(name[1])) if name else None
    return maker is not None and not maker.ended


def _find_named(base: Path) -> list[Path]:
    try:
        return [entry for entry in base.iterdir() if _NAME.fullmatch(entry.name) and entry.is_dir() and not entry.is_symlink()]
    except OSError:
        return []
