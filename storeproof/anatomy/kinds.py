"""Of which kind a file's I/O by a thread is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import Final, get_args

from storeproof.anatomy.file_names import FileNames
from storeproof.machine.process_tree import process_file, read_stat
from storeproof.spec.store.files import FileKind, FileRule

READ, OTHER, UNNAMED, ELSEWHERE = "read", "other", "unnamed", "elsewhere"
KINDS: Final[tuple[str, ...]] = (*get_args(FileKind), READ, OTHER, UNNAMED, ELSEWHERE)
"""Those of the rules; and `read`: what threads without a rule read from the device; `other`: files of the server that no rule names;
`unnamed`: files or threads whose name is not known; `elsewhere`: I/O of other programs."""


class Kinds:
    """Answers for one server. The compiled part calls `kind`, `reader` and `created`, and keeps the answers."""

    def __init__(self, rules: Sequence[FileRule], names: FileNames, pids: Collection[int]) -> None:
        """`pids`: the server's processes; their children are found."""
        self._rules = rules
        self._names = names
        self._own = dict.fromkeys(pids, True)
        self._threads: dict[int, tuple[str, ...]] = {}
        self.matched: set[int] = set()
        """The places of the rules that named any I/O."""

    def kind(self, inode: int, pid: int, tid: int) -> int:
        """The place in `KINDS`."""
        path = self._names.path(inode)
        if path is not None:
            return KINDS.index(self._of_file(path, pid, tid))
        if not self._is_own(pid):
            return KINDS.index(ELSEWHERE)
        return KINDS.index(UNNAMED if self._names.name(inode) is None else OTHER)

    def reader(self, pid: int, tid: int) -> int:
        """Of what a thread reads from the device, of whatever file."""
        if not self._is_own(pid):
            return KINDS.index(ELSEWHERE)
        names = self._names_of_thread(pid, tid)
        rules = (each for each in self._rules if each.thread is not None and any(fnmatchcase(name, each.thread) for name in names))
        first = next(rules, None)
        return KINDS.index(READ if first is None else first.kind)

    def created(self, inode: int, directory: int) -> None:
        self._names.created(inode, directory)

    def _of_file(self, path: str, pid: int, tid: int) -> str:
        for place, rule in enumerate(self._rules):
            if not any(fnmatchcase(path, pattern) for pattern in rule.paths):
                continue
            if rule.thread is not None:
                names = self._names_of_thread(pid, tid)
                if not names:
                    return UNNAMED
                if not any(fnmatchcase(name, rule.thread) for name in names):
                    continue
            self.matched.add(place)
            return rule.kind
        return OTHER

    def _names_of_thread(self, pid: int, tid: int) -> tuple[str, ...]:
        """Its own, and the title of its process; none where it ended before they could be read."""
        known = self._threads.get(tid)
        return self._threads.setdefault(tid, _names_of(pid, tid)) if known is None else known

    def _is_own(self, pid: int) -> bool:
        """Whether it is one of the server's processes, or descends from one."""
        known = self._own.get(pid)
        if known is None:
            stat = read_stat(pid)
            known = self._own[pid] = stat is not None and stat.parent != pid and stat.parent > 0 and self._is_own(stat.parent)
        return known


def _names_of(pid: int, tid: int) -> tuple[str, ...]:
    """The name of a thread and the title of its process; none where it has ended."""
    thread = process_file(pid, f"task/{tid}/comm").rstrip("\n")
    return (thread, process_file(pid, "cmdline").replace("\0", " ").strip()) if thread else ()
