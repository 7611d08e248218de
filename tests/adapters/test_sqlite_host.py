"""The host of the embedded store: what becomes of a transaction whose client goes away, or whose host does."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.adapters.sqlite.link import Link
from storeproof.contract import Address, Refused, Unknown
from storeproof.machine.ports import free_port


class Host:
    """The process, and links to it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "data.db"
        self._port = free_port()
        command = [sys.executable, "-m", "storeproof.adapters.sqlite.host", "--database", str(self.file), "--port", str(self._port)]
        self.process = subprocess.Popen([*command, "--pragma", "journal_mode=WAL"])
        self._links: list[Link] = []
        end = time.monotonic() + 10
        while True:
            try:
                self.link().write("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")
                return
            except Unknown:
                assert time.monotonic() < end, "the host does not answer"
                time.sleep(0.02)

    def link(self) -> Link:
        self._links.append(Link(Address("127.0.0.1", self._port)))
        return self._links[-1]

    def stop(self) -> None:
        for link in self._links:
            link.close()
        self.process.kill()
        self.process.wait()

    def left(self) -> list[int]:
        """The keys in the file, once the host has ended."""
        connection = sqlite3.connect(self.file)
        try:
            return [key for (key,) in connection.execute("SELECT k FROM t ORDER BY k")]
        finally:
            connection.close()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    started = Host(tmp_path)
    yield started
    started.stop()


def test_lost_client_is_rolled_back_and_does_not_block(host: Host) -> None:
    """A client that disconnects inside a transaction is rolled back, and the next writer goes on at once."""
    gone, other = host.link(), host.link()
    gone.lead("begin")
    gone.write("INSERT INTO t VALUES (1, 'undone')")
    gone.close()
    began = time.monotonic()
    other.write("INSERT INTO t VALUES (2, 'kept')")
    assert time.monotonic() - began < 4, "a writer that is in the way is waited for longer"
    assert other.read("SELECT k FROM t") == [[2]]


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGKILL])
def test_an_open_transaction_does_not_outlive_its_host(host: Host, asked: signal.Signals) -> None:
    """What was not committed when the host is stopped or killed is rolled back."""
    one, other = host.link(), host.link()
    other.write("INSERT INTO t VALUES (1, 'kept')")
    one.lead("begin")
    one.write("INSERT INTO t VALUES (2, 'undone')")
    os.kill(host.process.pid, asked)
    assert host.process.wait(5) == (0 if asked == signal.SIGTERM else -signal.SIGKILL)
    assert host.left() == [1]


def test_what_was_asked_before_a_clean_stop_is_answered(host: Host) -> None:
    """A clean stop keeps what was committed; a request after it is Unknown."""
    link = host.link()
    link.lead("begin")
    link.write("INSERT INTO t VALUES (1, 'kept')")
    link.lead("commit")
    os.kill(host.process.pid, signal.SIGTERM)
    assert host.process.wait(5) == 0
    assert host.left() == [1]
    with pytest.raises(Unknown, match="connection lost"):
        link.write("INSERT INTO t VALUES (2, 'too late')")


def test_stale_read_transaction_cannot_write_and_does_not_block(host: Host) -> None:
    """A transaction that has read an outdated state is refused its write, and other writers go on."""
    late, other = host.link(), host.link()
    late.lead("begin")
    late.read("SELECT k FROM t")
    other.write("INSERT INTO t VALUES (1, 'first')")
    with pytest.raises(Refused, match="SQLITE_BUSY"):
        late.write("INSERT INTO t VALUES (2, 'late')")
    other.write("INSERT INTO t VALUES (3, 'goes on')")
    late.lead("rollback")
    late.write("INSERT INTO t VALUES (4, 'again')")
    assert other.read("SELECT k FROM t ORDER BY k") == [[1], [3], [4]]


def test_a_request_that_fails_within_a_transaction_is_undone_alone(host: Host) -> None:
    """A failed request of several statements is rolled back to its savepoint; the transaction goes on."""
    link = host.link()
    link.lead("begin")
    link.write("INSERT INTO t VALUES (1, 'kept')")
    with pytest.raises(Refused, match="UNIQUE"):
        link.write_all([("INSERT INTO t VALUES (2, 'undone')", ()), ("INSERT INTO t VALUES (1, 'twice')", ())])
    link.write("INSERT INTO t VALUES (3, 'kept')")
    link.lead("commit")
    assert link.read("SELECT k FROM t ORDER BY k") == [[1], [3]]


def test_a_second_writer_waits_for_the_first_and_is_refused_in_the_end(host: Host) -> None:
    """A writer waits for its turn, and is refused when the time is up."""
    first, second = host.link(), host.link()
    first.lead("begin")
    first.write("INSERT INTO t VALUES (1, 'first')")
    with pytest.raises(Refused, match="another transaction has held the write lock"):
        second.write("INSERT INTO t VALUES (2, 'second')")
    first.lead("commit")
    second.write("INSERT INTO t VALUES (2, 'second')")
    assert second.read("SELECT k FROM t ORDER BY k") == [[1], [2]]


def test_tables_that_take_long_to_drop_are_waited_for(host: Host) -> None:
    """Longer than for anything else, which is asked with the usual patience again afterwards."""
    writer, dropping, usual = host.link(), host.link(), host.link()
    for link in (dropping, usual):
        link._host._socket.settimeout(0.3)
    writer.lead("begin")
    writer.write("INSERT INTO t VALUES (1, 'in the way')")
    with pytest.raises(Unknown, match="timed out"):
        usual.write("INSERT INTO t VALUES (2, 'gives up')")
    threading.Timer(0.6, writer.lead, ("commit",)).start()
    dropping.drop(["DROP TABLE t"])
    assert dropping.read("SELECT count(*) FROM sqlite_master") == [[0]]
    assert dropping._host._socket.gettimeout() == 0.3


def test_many_that_read_do_not_keep_each_other_from_it(host: Host) -> None:
    """All scans together may take a few times as long as from one client; where all went from row to row it was seven to twelve."""
    host.link().write("INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, 'v' FROM n")

    def scan(link: Link, times: int) -> None:
        for _ in range(times):
            assert len(link.read("SELECT k, v FROM t ORDER BY k")) == 300

    def seconds(clients: int) -> float:
        threads = [threading.Thread(target=scan, args=(host.link(), 320 // clients)) for _ in range(clients)]
        began = time.monotonic()
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return time.monotonic() - began

    assert any(seconds(32) < 4 * seconds(1) for _ in range(3)), "a busy machine spoils one pair, and not all"
