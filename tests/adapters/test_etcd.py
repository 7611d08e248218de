"""etcd: what its errors mean, and what of a transaction's changes a feed has told when it is left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from storeproof.adapters import etcd
from storeproof.contract import Address, Layout, Refused, Unknown, Unsupported, Version, WrongReply
from storeproof.launch.handle import Handle
from tests.adapters.real_clusters import under_test
from tests.adapters.test_failures import answering
from tests.shipped import SHIPPED

LAYOUT = Layout("sp_1", SHIPPED.models["single_key"])
real = pytest.mark.skipif(shutil.which("etcd") is None, reason="etcd is not installed: apt-get install etcd-server")


@pytest.fixture(scope="module")
def server() -> Iterator[Handle]:
    """A server; its settings were read back."""
    handle = under_test("etcd:one-member").launch("a test")
    yield handle
    handle.close()


@pytest.fixture
def collection(server: Handle) -> Iterator[Any]:
    """A collection of values, which is then emptied."""
    session = etcd.connect(server.address, {})
    made = session.collection(LAYOUT)
    yield made
    made.clear()
    session.close()


@real
@pytest.mark.servers
def test_what_a_server_refuses_did_not_happen(collection: Any) -> None:
    """It says so by a code of gRPC; a batch that it refuses is refused as a whole."""
    with pytest.raises(Refused, match="request is too large"):
        collection.put("k", b"v" * 1_600_000)
    with pytest.raises(Refused, match="received message larger than max"):
        collection.put("k", b"v" * 3_000_000)
    with pytest.raises(Refused, match="too many operations"):
        collection.put_many({f"k{number}": b"v" for number in range(129)})
    with pytest.raises(Refused, match="too many operations"):
        collection.insert_many({f"k{number}": b"v" for number in range(129)})
    assert collection.insert_many({f"k{number}": b"v" for number in range(128)})
    collection.clear()
    with pytest.raises(Refused, match="surrogates not allowed"):
        collection.put("\ud800", b"v")
    assert collection.count() == 0


@real
@pytest.mark.servers
def test_a_whole_transaction_reads_before_it_writes(collection: Any) -> None:
    """Absent records too; what it reads is what was there before."""
    collection.put("a", b"1")
    assert collection.run_whole(["a", "b"], {"b": b"2", "a": b"3"}) == [b"1", None]
    assert collection.run_whole(["b", "a"], {}) == [b"2", b"3"]


@real
@pytest.mark.servers
def test_a_feed_goes_on_in_the_middle_of_a_transaction(collection: Any) -> None:
    """All changes of a transaction have one revision, from which etcd tells all of them again."""
    collection.follow(True)
    collection.put_many({"a": b"1", "b": b"2", "c": b"3"})
    told = [each.key for each in collection.changes(2, 60)]
    collection.leave_feed()
    collection.delete("a")
    collection.resume_feed()
    rest = [(each.kind, each.key, each.record) for each in collection.changes(2, 60)]
    assert (told, rest) == (["a", "b"], [("put", "c", b"3"), ("delete", "a", None)])


def answer(status: str, body: bytes) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def said(status: str, code: int, message: str) -> bytes:
    return answer(status, json.dumps({"error": message, "message": message, "code": code}).encode())


@pytest.mark.parametrize(
    ("reply", "meaning"),
    [
        (said("503 Service Unavailable", 14, "etcdserver: request timed out"), Unknown),
        (said("503 Service Unavailable", 14, "etcdserver: leader changed"), Unknown),
        (said("504 Gateway Timeout", 4, "context deadline exceeded"), Unknown),
        (said("429 Too Many Requests", 8, "etcdserver: mvcc: database space exceeded"), Refused),
        (said("501 Not Implemented", 12, "unknown method"), Unsupported),
        (answer("404 Not Found", b"404 page not found"), Unsupported),
        (answer("502 Bad Gateway", b"<html>"), Unknown),
        (answer("200 OK", b"<html>"), WrongReply),
        (answer("200 OK", b"[]"), WrongReply),
        (b"\x00\xff\r\n", WrongReply),
    ],
)
def test_an_error_leaves_a_write_open_unless_its_code_says_that_nothing_was_done(reply: bytes, meaning: type[Exception]) -> None:
    """A proposal that timed out may be committed later. One that a proxy answered may have arrived."""
    status = answer("200 OK", b'{"leader": "1"}')
    with answering(lambda request: (status if b"maintenance/status" in request else reply) or b"\r\n") as address:
        session = etcd.connect(address, {})
        with pytest.raises(meaning):
            session.collection(LAYOUT).put("k", b"v")  # type: ignore[attr-defined]
        session.close()


def test_a_member_without_a_leader_is_not_connected_to_and_options_are_checked() -> None:
    """It would answer no request."""
    with answering(lambda _: answer("200 OK", b"{}")) as address, pytest.raises(Unknown, match="no leader"):
        etcd.connect(address, {})
    with pytest.raises(Refused, match="`reads` is linearizable or serializable; found fast"):
        etcd.connect(Address("127.0.0.1", 1), {"reads": "fast"})


def test_another_server_that_has_the_gateway_is_no_etcd() -> None:
    """It does not say `etcdserver`."""
    with answering(lambda _: answer("200 OK", b'{"leader": "1"}')) as address:
        session = etcd.connect(address, {})
        assert session.version() == Version("a relative of etcd", "(no version)")
        session.close()
