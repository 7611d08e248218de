"""A host and its links: what is asked is answered, and what fails is sorted as the host says."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest

from storeproof.contract import Address, Breach, Maintenance, Refused, Unknown, Unsupported, WrongReply
from storeproof.embedded import connect, host, session
from storeproof.embedded.forwarding import ForwardingSession
from storeproof.embedded.link import HostLink
from storeproof.machine.ports import free_port
from tests.shipped import SHIPPED

SHELF = Path(__file__).with_name("shelf_host.py")


class Running:
    """The process, and links to it."""

    def __init__(self, folder: Path) -> None:
        self.address = Address("127.0.0.1", free_port())
        command = [sys.executable, str(SHELF), "--data", str(folder), "--port", str(self.address.port), "--set", "colour=a=b"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.links: list[HostLink] = []

    def link(self) -> HostLink:
        end = time.monotonic() + 20
        while True:
            try:
                self.links.append(connect(self.address))
                return self.links[-1]
            except Unknown:
                assert time.monotonic() < end, "the host does not answer"
                time.sleep(0.02)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    started = Running(tmp_path)
    yield started
    for link in started.links:
        link.close()
    started.process.kill()
    started.process.communicate()


def test_values_come_back_as_they_went(running: Running) -> None:
    """Values of all MessagePack types survive the round trip, and settings reach the database."""
    link = running.link()
    for value in (None, True, -(2**63), 1.5, "a\0b", b"\xff", [1, [b""]], {"k": b"v"}):
        link.call("put", "k", value)
        assert link.call("get", "k") == value
    assert link.call("get", "colour") == "a=b", "settings reach open_database"


def test_failures_are_sorted_as_the_host_says(running: Running) -> None:
    """Exceptions become the kinds that `serve` names; all others are errors of the adapter, and the host goes on."""
    link = running.link()
    with pytest.raises(Refused, match="Full: no room"):
        link.call("fail", "full")
    with pytest.raises(Refused, match="Fuller: no room at all"):
        link.call("fail", "fuller")
    with pytest.raises(Unsupported, match="not here"):
        link.call("fail", "own")
    for name, arguments in (("fail", ("bug",)), ("no such function", ()), ("put", ()), ("strange", ())):
        with pytest.raises(Breach, match=f"`{name}` failed"):
            link.call(name, *arguments)
    with pytest.raises(Refused, match="cannot be sent"):
        link.call("put", "k", object())
    assert link.call("get", "none") is None, "it serves on"


def test_writes_take_turns(running: Running) -> None:
    """Functions named in `writes` never run at the same time."""
    failed: list[Exception] = []

    def write(link: HostLink) -> None:
        try:
            for number in range(10):
                link.call("put", str(number), number)
        except Breach as reason:
            failed.append(reason)

    threads = [threading.Thread(target=write, args=(running.link(),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failed == []


def test_a_clean_stop_answers_what_was_asked_and_closes_the_database(running: Running) -> None:
    """SIGTERM answers requests in flight, closes the database, and exits with 0."""
    link, answers = running.link(), list[Any]()
    asking = threading.Thread(target=lambda: answers.append(link.call("slowly", 0.5)))
    asking.start()
    running.link().call("get", "x")
    time.sleep(0.2)
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(10) == 0
    asking.join(10)
    assert answers == ["done"]
    assert running.process.stdout is not None
    assert running.process.stdout.read() == "closed\n"


def test_a_killed_host_leaves_it_open_what_was_done(running: Running) -> None:
    """A lost connection is `Unknown`."""
    link = running.link()
    link.call("get", "x")
    running.process.kill()
    with pytest.raises(Unknown, match="connection lost"):
        link.call("put", "k", 1)


def test_no_host_is_unknown() -> None:
    """A refused connection is `Unknown`."""
    with pytest.raises(Unknown, match="does not answer"):
        connect(Address("127.0.0.1", free_port()))


def replies(*bodies: bytes) -> HostLink:
    """A link to something that answers this, whatever it is asked."""
    server = socket.create_server(("127.0.0.1", 0))
    link = connect(Address(*server.getsockname()))
    client, _ = server.accept()
    client.sendall(b"".join(bodies))
    link.closing = (client, server)  # type: ignore[attr-defined] - open as long as the link is
    return link


def framed(value: object) -> bytes:
    body = msgpack.packb(value)
    return struct.pack(">I", len(body)) + body


@pytest.mark.parametrize(
    "reply", [framed([0, 1]), framed([0, None, 1]), framed([2, 0, 0]), framed([1, "maybe", "x"]), framed("x"), b"\0\0\0\1\xc1", b"\xff" * 8]
)
def test_an_answer_of_another_form_is_a_wrong_reply(reply: bytes) -> None:
    """Malformed replies are a `WrongReply`."""
    link = replies(reply)
    with pytest.raises(WrongReply):
        link.call("get", "k")
    link.close()


@pytest.mark.parametrize(
    ("value", "count"),
    [(None, 0), (False, 0), (True, 1), (-3, -3), (2**63, 1), ([], 0), ([1, 2], 2), ({"a": 1}, 1), (b"", 1), (0.0, 1)],
)
def test_a_reply_counts_the_records_it_tells_of(value: object, count: int) -> None:
    """How many records each type of value stands for."""
    assert host.count_of(value) == count


def test_a_function_may_count_itself(running: Running) -> None:
    """`Counted` sets the count of a reply."""
    running.link()
    with socket.create_connection(("127.0.0.1", running.address.port)) as raw:
        raw.sendall(framed(["count"]))
        assert raw.recv(100) == framed([0, 7, ["rows"]])


def test_a_session_has_the_families_whose_functions_there_are() -> None:
    """A ready-made session implements exactly the families whose functions are given."""
    from storeproof.contract import KeyValue, Layout, Ordered

    functions = dict.fromkeys(("get", "put", "delete", "exists", "prepare", "clear", "version"), len)
    link = replies(framed([0, 2, ["Shelf", "1"]]), framed([0, 1, b"x"]))
    opened = ForwardingSession(link, functions, ("value",))
    assert opened.version().product == "Shelf"
    models = SHIPPED.models
    collection = opened.collection(Layout("c", models["single_key"]))
    assert isinstance(collection, KeyValue)
    assert not isinstance(collection, Ordered)
    assert collection.get("k") == b"x"
    with pytest.raises(Unsupported, match="it supports records of the kinds value"):
        opened.collection(Layout("c", models["hash10"]))
    opened.close()


def test_a_session_refuses_what_it_cannot_do() -> None:
    """Options and unsupported kinds of records are refused."""
    with pytest.raises(Refused, match="has no options; found engine"):
        session(Address("127.0.0.1", 1), {"engine": "x"}, {})
    with pytest.raises(Refused, match="keeps: found document; allowed: value, hash"):
        session(Address("127.0.0.1", 1), {}, {}, keeps=("document",))
    allowed = "version, read_settings, prepare, clear, compact, and the operations get, "
    with pytest.raises(Refused, match=f"functions: found conpact, putt; allowed: {allowed}"):
        session(Address("127.0.0.1", 1), {}, dict.fromkeys(("get", "conpact", "putt"), len))


def test_a_session_rewrites_the_files_where_the_host_can(running: Running) -> None:
    """And a host that cannot is not asked."""
    link = running.link()
    link.call("put", "k", "v")
    assert not isinstance(session(running.address, {}, {"get": len}), Maintenance)
    compacting = session(running.address, {}, {"get": len, "compact": len})
    assert isinstance(compacting, Maintenance)
    assert compacting.compact() == "REWRITE 2"
    link.call("put", "command", None)
    with pytest.raises(Breach, match="returns the command as an administrator would write it, a str; found None"):
        compacting.compact()
