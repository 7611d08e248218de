"""What the kernel's records say of real servers is what the servers say of themselves."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
import pytest
import redis

from storeproof.anatomy.watch import IoWatch, WatchedIo
from storeproof.launch.handle import Handle
from storeproof.spec.store.files import FileRule
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

pytestmark = [pytest.mark.servers, pytest.mark.serial, pytest.mark.usefixtures("watched")]


def launched(name: str) -> Iterator[Handle]:
    (target,) = SHIPPED.targets([name])
    options = Options(SHIPPED.scales["smoke"], seed=1, launch="process")
    sut = StoreUnderTest(SHIPPED, target, options, lambda _text: None)
    handle = sut.launch("a test")
    try:
        yield handle
    finally:
        handle.close()


@pytest.fixture
def postgresql() -> Iterator[psycopg.Connection[tuple[float, ...]]]:
    """A session with a table, whose syncs of the write-ahead log are timed; and its server in `handle`."""
    if shutil.which("postgres") is None:
        pytest.skip("postgres is not installed")
    for handle in launched("postgresql"):
        at = handle.address
        with psycopg.connect(host=at.host, port=at.port, user=at.user, password=at.password, dbname="postgres", autocommit=True) as session:
            session.execute("SET track_wal_io_timing = on")
            session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
            session.handle = handle  # type: ignore[attr-defined]
            yield session


def counted(session: psycopg.Connection[tuple[float, ...]]) -> tuple[int, float]:
    """Syncs of the write-ahead log, and their milliseconds, with those of this session until now."""
    session.execute("SELECT pg_stat_force_next_flush()")
    found = session.execute("SELECT wal_sync, wal_sync_time FROM pg_stat_wal").fetchone()
    assert found is not None
    return int(found[0]), found[1]


def round_of(session: psycopg.Connection[tuple[float, ...]], rules: Sequence[FileRule], number: int) -> tuple[WatchedIo, int, float]:
    """A hundred commits: as the kernel saw them; and their syncs and milliseconds, as the server did."""
    handle: Handle = session.handle  # type: ignore[attr-defined]
    assert handle.data is not None
    before = counted(session)
    watch = IoWatch(handle.data, handle.pids, rules)
    watch.begin()
    for key in range(100):
        session.execute("INSERT INTO t VALUES (%s, repeat('x', 600))", (100 * number + key,))
    found = watch.end()
    after = counted(session)
    return found, after[0] - before[0], after[1] - before[1]


def test_postgresql_counts_the_same_syncs_and_the_same_time(postgresql: psycopg.Connection[tuple[float, ...]]) -> None:
    """Each sync of the write-ahead log. The server's time contains that of the kernel, and is longer by the way into the call and back,
    with the record of it, and by what a busy machine does meanwhile: in the round with the least of that by 4 to 6 µs a sync, 1 to 2 %."""
    rules = SHIPPED.store("postgresql")[0].files
    over = []
    for number in range(10):
        found, syncs, milliseconds = round_of(postgresql, rules, number)
        journal = found.kinds["journal"]
        assert found.lost == 0
        assert journal.syncs == syncs >= 100
        over.append((1000 * milliseconds - journal.wait_ns / 1000) / syncs)
    assert all(each > -1 for each in over), over  # the server's clock is read to the microsecond
    assert min(over) < 15, over


def test_swapped_rules_do_not_agree_with_postgresql(postgresql: psycopg.Connection[tuple[float, ...]]) -> None:
    """The check above would find them."""
    swap = {"journal": "save", "save": "journal"}
    swapped = [rule.model_copy(update={"kind": swap.get(rule.kind, rule.kind)}) for rule in SHIPPED.store("postgresql")[0].files]
    found, syncs, _ = round_of(postgresql, swapped, 0)
    assert syncs >= 100
    assert "journal" not in found.kinds or found.kinds["journal"].syncs == 0


@pytest.mark.parametrize(("variant", "syncs"), [("aof-always", 50), ("volatile", 0)])
def test_redis_syncs_each_write_or_none(variant: str, syncs: int) -> None:
    """With `appendfsync always` each write of one client has its own sync, and the bytes are those by which the log grew; without a log
    there is nothing that a client could wait for."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    for handle in launched(f"redis:{variant}"):
        assert handle.data is not None
        client = redis.Redis(handle.address.host, handle.address.port)
        client.set("first", "value")  # selects the database in the log
        before = size(handle.data)
        watch = IoWatch(handle.data, handle.pids, SHIPPED.store("redis")[0].files)
        watch.begin()
        for number in range(50):
            client.set(f"k{number}", "v" * 600)
        found = watch.end()
        journal = found.kinds.get("journal")
        assert (journal.syncs if journal is not None else 0) == syncs
        assert (journal.written_bytes if journal is not None else 0) == size(handle.data) - before
        assert not {"other", "unnamed"} & found.kinds.keys()


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.aof"))
