"""Stores that rewrite their files on demand: each by its own command, which changes no record and comes back when it is done."""

from __future__ import annotations

import random

import pytest

from storeproof.contract import Maintenance, Session, why_not
from storeproof.errors import NotAvailable
from storeproof.launch.handle import Handle
from storeproof.records.self_verifying import recipe, write_id
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

SPEC = SHIPPED
BY_COMMAND = {
    "sqlite:wal-full": "PRAGMA wal_checkpoint(TRUNCATE)",
    "sqlite:delete-extra": "VACUUM",
    "redis:aof-always": "BGREWRITEAOF",
    "redis:rdb": "BGSAVE",
    "valkey:aof-always": "BGREWRITEAOF",
    "tarantool:memtx-tree-fsync": "box.snapshot()",
    "tarantool:vinyl-fsync": "box.snapshot()",
    "mongodb:journaled": "fsync",
    "postgresql:synchronous-commit-on": "CHECKPOINT",
    "etcd:one-member": "etcdctl compaction --physical, etcdctl defrag",
    "mariadb:innodb-flush-1": "SET GLOBAL innodb_log_checkpoint_now = ON",
    "mariadb:aria": "OPTIMIZE TABLE",
    "mariadb:myisam": "OPTIMIZE TABLE",
}


def launched(name: str) -> tuple[StoreUnderTest, Handle]:
    """A store of that variant."""
    sut = StoreUnderTest(SPEC, SPEC.targets([name])[0], Options(SPEC.scales["smoke"], seed=1, launch="process"), lambda _: None)
    try:
        return sut, sut.launch("its maintenance")
    except NotAvailable as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize(
    ("name", "command"),
    [pytest.param(*each, id=each[0], marks=() if each[0].startswith("sqlite") else pytest.mark.servers) for each in BY_COMMAND.items()],
)
def test_the_command_is_run_and_the_records_stay(name: str, command: str) -> None:
    """`compact` names the command that the server ran, and every record can be read afterwards."""
    sut, handle = launched(name)
    try:
        session: Session = sut.connect(handle)
        assert isinstance(session, Maintenance)
        layout = sut.layout("single_key")
        collection = session.collection(layout)
        collection.prepare()
        records = {f"k{number}": recipe(layout.model).make(f"k{number}", write_id(0, number + 1)) for number in range(200)}
        for key, record in records.items():
            collection.put(key, record)  # type: ignore[attr-defined]
        for _ in range(2):
            assert session.compact() == command
        some = random.Random(1).sample(sorted(records), 20)
        assert [collection.get(key) for key in some] == [records[key] for key in some]  # type: ignore[attr-defined]
        session.close()
    finally:
        handle.close()


@pytest.mark.servers
def test_memcached_says_why_it_has_none() -> None:
    """Memcached gives a reason for not supporting Maintenance."""
    sut, handle = launched("memcached:volatile")
    try:
        session: Session = sut.connect(handle)
        assert not isinstance(session, Maintenance)
        assert why_not(session, "Maintenance") == "Memcached has no data files to compact"
        session.close()
    finally:
        handle.close()
