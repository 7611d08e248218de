"""The directory that one launched store lives in, marked with its owner."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import tempfile
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
    """`storeproof-<pid>-<random>/` with `data/`, `run/` and `log`, and a marker that says whose it is."""

    root: Path
    owner: Owner
    keep: bool
    leaders: set[tuple[int, int]] = field(default_factory=set)
    """The processes that were started here, as (pid, start)."""
    programs: set[str] = field(default_factory=set)
    """The resolved paths of what they run."""
    group: Path | None = None
    """The control group that limits their memory."""

    @property
    def data(self) -> Path:
        """The store's own files."""
        return self.root / "data"

    @property
    def image(self) -> Path:
        """The file of the volume that `data` is, where it is one."""
        return self.root / "volume"

    @property
    def run(self) -> Path:
        """Configuration, sockets, and whatever a server drops where it is started."""
        return self.root / "run"

    @property
    def log(self) -> Path:
        """What the server wrote to its standard output and error, over all starts."""
        return self.root / "log"

    @classmethod
    def make(cls, base: Path, *, keep: bool) -> Self:
        """A new one under `base`.

        Raises:
            UsageError: `base` is no directory that can be written to.
            NotAvailable: it is full.
        """
        if not base.is_dir():
            raise UsageError(f"the data directory {base} does not exist; create it on the disk that is to be measured")
        owner = this_process()
        while True:
            made = cls(base.resolve() / f"storeproof-{owner.pid}-{secrets.token_hex(4)}", owner, keep)
            try:
                # Readable for all, since a server may run as another user; what it keeps in data/ and run/ is not.
                made.root.mkdir(mode=0o755)
                made.root.chmod(0o755)
                made.write_marker()
            except FileNotFoundError:  # a sweep that cannot see our process took it for a dead one's: see `remove_unmarked`
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
        """An earlier one, or None where the directory carries no mark of ours."""
        try:
            text = json.loads((root / MARKER).read_text(encoding="utf-8"))
            owner = Owner.parse(text["owner"])
            leaders = {(int(pid), int(start)) for pid, start in text["leaders"]}
            group = Path(text["group"]) if text.get("group") else None
            return cls(root, owner, bool(text["keep"]), leaders, set(text["programs"]), group) if owner else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write_marker(self) -> None:
        """Note owner and processes, whole or not at all."""
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
        """A group that limits memory to that many bytes, noted before it is made. Raises `NotAvailable`."""
        where = hierarchy()
        self.group = where.parent / self.root.name
        self.write_marker()
        group = MemoryGroup(self.group, limit)
        group.make(where.version)
        return group

    def end_limit(self) -> None:
        """Remove that group, when its processes have ended. Only one of our name: whatever else the mark says is not ours to remove."""
        if self.group is not None and self.group.name == self.root.name:
            MemoryGroup(self.group, 0).remove()

    def empty(self) -> None:
        """Remove what is in `data`; the directory stays, since a file system may be mounted there."""
        for each in self.data.iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()

    def remove(self) -> None:
        """Remove it with everything inside; a second time is fine. The mark goes last: who is killed meanwhile leaves it to be found."""
        with suppress(MachineFailed):  # the next run tries again
            unmount(self.data)
        _clear(self.root, but=MARKER)
        with suppress(OSError):
            if {each.name for each in self.root.iterdir()} <= {MARKER}:
                (self.root / MARKER).unlink(missing_ok=True)
                self.root.rmdir()


def _clear(folder: Path, *, but: str) -> None:
    """Remove what is in it, as far as that can be done."""
    try:
        entries = [each for each in folder.iterdir() if each.name != but]
    except OSError:
        return
    for each in entries:
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each, ignore_errors=True)
        else:
            with suppress(OSError):
                each.unlink()


def default_base() -> Path:
    """Where data goes without --data-dir."""
    return Path(tempfile.gettempdir())


def find_marked(base: Path) -> list[WorkDir]:
    """All directories under `base` that carry our mark, of any owner."""
    return [found for found in map(WorkDir.read, _find_named(base)) if found is not None]


def remove_unmarked(base: Path) -> list[Path]:
    """Remove the empty directories of this user under `base` that bear our name and no mark, and return them: their maker was killed
    before it wrote the mark, or after it removed it. A maker that cannot be seen from here may be about to write it: it makes another then.
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
