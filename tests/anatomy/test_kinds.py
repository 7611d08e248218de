"""The rules of a store's file, applied."""

from __future__ import annotations

import os
import threading
from glob import escape
from pathlib import Path

import pytest

from storeproof.anatomy.file_names import Name
from storeproof.anatomy.kinds import KINDS, Kinds
from storeproof.spec.store.files import FileRule
from tests.shipped import SHIPPED

PID, TID = os.getpid(), threading.get_native_id()


class Files:
    """Names of files, by number."""

    def __init__(self, *paths: str) -> None:
        self._paths = dict(enumerate(paths, 1))

    def path(self, inode: int) -> str | None:
        return self._paths.get(inode)

    def name(self, inode: int) -> Name | None:
        return Name(0, "elsewhere") if inode == 99 else None


def kind(rules: tuple[FileRule, ...], inode: int, *paths: str, pid: int = PID) -> str:
    return KINDS[Kinds(rules, Files(*paths), [PID]).kind(inode, pid, TID)]  # type: ignore[arg-type]


def test_the_first_rule_decides() -> None:
    """A `*` stands for slashes too; what no rule names is `other`."""
    rules = (FileRule(kind="merge", paths=("temp-*", "*.base.*")), FileRule(kind="journal", paths=("*.aof",)))
    assert kind(rules, 1, "appendonlydir/a.1.base.aof") == "merge"
    assert kind(rules, 1, "appendonlydir/a.1.incr.aof") == "journal"
    assert kind(rules, 1, "dump.rdb") == "other"
    assert kind(tuple(reversed(rules)), 1, "appendonlydir/a.1.base.aof") == "journal", "swapped, they are caught by what they say"


def test_threads_of_a_rule() -> None:
    """By their name or the title of their process; for others the next rule decides."""
    save = FileRule(kind="save", paths=("*",))
    for own in (Path("/proc/thread-self/comm"), Path("/proc/self/cmdline")):
        name = own.read_text(encoding="utf-8").replace("\0", " ").strip()
        assert kind((FileRule(kind="merge", paths=("*",), thread=f"*{escape(name[1:])}"), save), 1, "a.run") == "merge"
    assert kind((FileRule(kind="merge", paths=("*",), thread="vinyl.*"), save), 1, "a.run") == "save"


def test_what_is_not_the_servers() -> None:
    """A file without a name is the server's if one of its processes writes it; of one elsewhere the same is `other`."""
    rules = (FileRule(kind="journal", paths=("*",)),)
    assert kind(rules, 7) == "unnamed"
    assert kind(rules, 99) == "other"
    assert kind(rules, 7, pid=1) == "elsewhere"


def test_what_a_thread_reads_is_known_by_the_thread() -> None:
    """The device is asked for blocks, not for files."""
    rules = (FileRule(kind="journal", paths=("*",)), FileRule(kind="merge", paths=("*",), thread="*py*"))
    assert KINDS[Kinds(rules, Files(), [PID]).reader(PID, TID)] == "merge"  # type: ignore[arg-type]
    assert KINDS[Kinds(rules[:1], Files(), [PID]).reader(PID, TID)] == "read"  # type: ignore[arg-type]
    assert KINDS[Kinds(rules, Files(), [PID]).reader(1, 1)] == "elsewhere"  # type: ignore[arg-type]


SEEN = {
    "redis": {"appendonlydir/appendonly.aof.1.incr.aof": "journal", "temp-41.rdb": "save", "temp-rewriteaof-bg-41.aof": "merge"},
    "valkey": {"appendonlydir/appendonly.aof.1.incr.aof": "journal", "appendonlydir/temp-appendonly.aof.manifest": "catalogue"},
    "postgresql": {
        "pg_wal/000000010000000000000001": "journal",
        "base/5/1249": "save",
        "pg_xact/0000": "catalogue",
        "global/1262": "catalogue",
    },
    "mariadb": {"ib_logfile0": "journal", "storeproof/t.ibd": "save", "ibtmp1": "temporary"},
    "mysql": {"#innodb_redo/#ib_redo10": "journal", "storeproof/t.ibd": "save", "#ib_16384_0.dblwr": "save", "mysql.ibd": "catalogue"},
    "mongodb": {"journal/WiredTigerLog.0000000001": "journal", "collection-2-1.wt": "save", "WiredTiger.turtle.set": "catalogue"},
    "sqlite": {"store.db-wal": "journal", "store.db-journal": "journal", ".": "journal", "store.db": "save"},
    "tarantool": {
        "00000000000000000000.xlog": "journal",
        "512/0/00000000000000000004.run": "save",
        "00000000000000000000.vylog": "catalogue",
    },
    "etcd": {"member/member/wal/0000000000000000-0000000000000000.wal": "journal", "member/member/snap/db": "save"},
}
"""Files of real servers."""


@pytest.mark.parametrize("store", SEEN)
def test_files_of_real_servers(store: str) -> None:
    """What was seen in their directories is what its rules say."""
    rules = SHIPPED.store(store)[0].files
    assert {path: kind(rules, 1, path) for path in SEEN[store]} == SEEN[store]
