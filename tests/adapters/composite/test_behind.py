"""Write-behind: what waits in the front, when the home gets it, and what is lost with the front."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from storeproof.adapters.composite.behind import is_plain
from storeproof.adapters.composite.locks import Locks
from storeproof.contract import Cached, Collection, Key, Layout, Refused, Row, Unknown, Unsupported, WrongReply, call
from storeproof.contract.sessions import Transactions
from storeproof.spec.model import Index
from tests.adapters.composite.memory import LOST, NO, IndexedSession, Layer, TransactionalSession
from tests.shipped import SHIPPED

VALUES = Layout("sp_values", SHIPPED.models["single_key"])
DOCUMENTS = Layout("sp_documents", SHIPPED.models["document10"])
COUNTERS = Layout("sp_counters", SHIPPED.models["counter"])


def behind(tmp_path: Path, layout: Layout = VALUES) -> tuple[Layer, Collection]:
    """A prepared collection."""
    layer = Layer(tmp_path, policy="write-behind")
    made = layer.session().collection(layout)
    made.prepare()
    return layer, made


def waiting(both: Collection) -> int:
    """The number of writes that the home does not have yet."""
    assert isinstance(both, Cached)
    return both.waiting


def put(both: Collection, key: str, value: bytes = b"v") -> None:
    call(both, VALUES, "put", key, value)


def test_a_write_is_read_before_the_home_has_it(tmp_path: Path) -> None:
    """Its copy answers; it waits in the front, until the home is given it."""
    layer, both = behind(tmp_path)
    put(both, "k")
    assert (layer.home.records["sp_values"], waiting(both)) == ({}, 1)
    assert call(both, VALUES, "get", "k") == b"v"
    assert layer.home.asked == []
    assert isinstance(both, Cached)
    both.carry_out()
    assert (layer.home.records["sp_values"], waiting(both)) == ({"k": b"v"}, 0)
    assert layer.front.records["sp_values_behind"] == {}


def test_all_that_the_home_is_asked_comes_after_what_waits(tmp_path: Path) -> None:
    """Reads that have no copy, other reads, and other writes. Of a key the home gets the last write, and all of them in one request."""
    layer, both = behind(tmp_path)
    for value in (b"1", b"2"):
        put(both, "k", value)
    call(both, VALUES, "put_many", {"a": b"3", "k": b"4"})
    layer.front.records["sp_values_copies"].clear()
    assert call(both, VALUES, "get", "k") == b"4"
    assert layer.home.asked == ["put_many k,a", "get k"]
    put(both, "b", b"5")
    assert call(both, VALUES, "exists", "b") is True
    put(both, "b", b"6")
    assert call(both, VALUES, "compare_and_set", "b", b"6", b"7") is True
    put(both, "b", b"8")
    assert call(both, VALUES, "delete", "b") is True
    assert call(both, VALUES, "get", "b") is None
    assert waiting(both) == 0


def test_a_long_queue_is_carried_out_by_one_client(tmp_path: Path) -> None:
    """Fifty writes wait, unless another client carries them out: then its writers go on, until a thousand wait."""
    layer, both = behind(tmp_path)
    for number in range(49):
        put(both, f"k{number}")
    assert (len(layer.home.records["sp_values"]), waiting(both)) == (0, 49)
    put(both, "k49")
    assert (len(layer.home.records["sp_values"]), waiting(both)) == (50, 0)
    written = threading.Event()

    def write() -> None:
        put(both, "last")
        written.set()

    with Locks(str(tmp_path / "locks")).of_keys("sp_values_behind", ["head"]):
        for number in range(999):
            put(both, f"k{number}")
        assert (len(layer.home.records["sp_values"]), waiting(both)) == (50, 999)
        writing = threading.Thread(target=write, daemon=True)
        writing.start()
        assert not written.wait(0.05)
    writing.join()
    assert (len(layer.home.records["sp_values"]), waiting(both)) == (1000, 0)


def test_what_waits_is_carried_out_at_the_end(tmp_path: Path) -> None:
    """By the client that ends, also if others wrote it; one that cannot ends all the same."""
    layer, both = behind(tmp_path)
    put(both, "k")
    for fails, left in ((LOST, 1), (None, 0)):
        session = layer.session()
        session.collection(VALUES)
        layer.home.fails = fails
        session.close()
        assert waiting(both) == left
    assert layer.home.records["sp_values"] == {"k": b"v"}


def test_what_waits_is_lost_with_the_front(tmp_path: Path) -> None:
    """Although it was acknowledged: the policy promises no more. The writes after it are carried out."""
    layer, both = behind(tmp_path)
    put(both, "k")
    for records in layer.front.records.values():
        records.clear()
    assert call(both, VALUES, "get", "k") is None
    put(both, "k", b"after")
    assert call(both, VALUES, "exists", "k") is True


def test_a_home_that_does_not_answer_gets_its_writes_later(tmp_path: Path) -> None:
    """They wait, and none is lost; what needs the home is unknown. The session with it that gave no answer is not used again."""
    layer, both = behind(tmp_path)
    layer.home.fails = LOST
    for number in range(60):
        put(both, f"k{number}")
    assert waiting(both) == 60
    with pytest.raises(Unknown):
        call(both, VALUES, "exists", "k0")
    layer.home.fails = None
    assert call(both, VALUES, "exists", "k59") is True
    assert (len(layer.home.records["sp_values"]), waiting(both)) == (60, 0)


def test_a_write_that_the_home_refuses_holds_up_no_other(tmp_path: Path) -> None:
    """It was acknowledged, and is lost."""
    layer, both = behind(tmp_path)
    put(both, "bad")
    put(both, "good")

    def refuse(operation: str, key: object) -> None:
        if "bad" in str(key) and operation.startswith("put"):
            raise NO

    layer.home.request = refuse  # type: ignore[method-assign, assignment]
    assert call(both, VALUES, "exists", "good") is True
    assert layer.home.records["sp_values"] == {"good": b"v"}


def test_what_cannot_wait_is_written_at_once(tmp_path: Path) -> None:
    """What is large, what a home may refuse, what the front refuses, and records that have no copies; after what waits."""
    layer, both = behind(tmp_path)
    put(both, "k", b"old")
    put(both, "k", b"v" * 100_000)
    assert (len(layer.home.records["sp_values"]["k"]), waiting(both)) == (100_000, 0)
    layer.home.fails = NO
    with pytest.raises(Refused):
        put(both, "\0")
    layer.home.fails = None

    def refuse(operation: str, key: object) -> None:
        if operation == "put" and isinstance(key, int):
            raise NO

    layer.front.request = refuse  # type: ignore[method-assign, assignment]
    put(both, "k", b"new")
    assert layer.home.records["sp_values"] == {"k": b"new"}
    counters = layer.session().collection(COUNTERS)
    counters.prepare()
    call(counters, COUNTERS, "put", "n", 5)
    assert (layer.home.records["sp_counters"], waiting(counters)) == ({"n": 5}, 0)


DEEP: dict[str, Any] = {}
for _ in range(20):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    ("key", "record", "plain"),
    [
        ("k", b"\0\xff", True),
        ("line\nü", {"field0": b"\0"}, True),
        ("k", {"field0": [1, None, True, 1.5, "ü\n", {"a": []}]}, True),
        (7, Row(-(2**31), 1.5), True),
        ("", b"v", False),
        ("k" * 101, b"v", False),
        ("\ud800", b"v", False),
        (2**63, b"v", False),
        (7, Row(2**31, 1.5), False),
        (7, Row(1, math.inf), False),
        ("k", {"\0": None}, False),
        ("k", {"a": {"b.c": 1}}, False),
        ("k", {"a": ["\0"]}, False),
        ("k", {"a": 2**63}, False),
        ("k", {"a": math.nan}, False),
        ("k", DEEP, False),
    ],
)
def test_only_what_every_home_takes_may_wait(key: Key, record: Any, plain: bool) -> None:
    """Of all else the client must hear whether the home takes it."""
    assert is_plain(key, record) is plain


def test_documents_wait_as_they_are(tmp_path: Path) -> None:
    """With a key that is no plain text. What is no queued write is none."""
    layer, both = behind(tmp_path, DOCUMENTS)
    call(both, DOCUMENTS, "put", 'line\n"quote" ü', {"field0": [1, None, "ü"]})
    assert call(both, DOCUMENTS, "exists", 'line\n"quote" ü') is True
    assert layer.home.records["sp_documents"] == {'line\n"quote" ü': {"field0": [1, None, "ü"]}}
    call(both, DOCUMENTS, "put", "k", {"field0": 1})
    waiting_writes = layer.front.records["sp_documents_behind"]
    (number,) = waiting_writes
    for wrong in (b"nonsense", b'"k"\n99\n{}', b"k\n2\n{}"):
        waiting_writes[number] = wrong
        with pytest.raises(WrongReply, match="no queued write"):
            call(both, DOCUMENTS, "exists", "k")


@pytest.mark.parametrize("after", [lambda both: None, lambda both: both.carry_out()], ids=["before it is passed", "after"])
def test_a_write_that_was_given_up_harms_no_other_when_it_arrives(after: Callable[[Collection], None], tmp_path: Path) -> None:
    """It may be carried out or not, as any write without an answer, but never after a newer one."""
    layer, both = behind(tmp_path)
    late: list[Callable[[], None]] = []
    layer.front.late = late
    with pytest.raises(Unknown):
        put(both, "k", b"old")
    layer.front.late = None
    put(both, "k", b"new")
    after(both)
    for arrive in late:
        arrive()
    assert call(both, VALUES, "get", "k") == b"new"
    assert call(both, VALUES, "exists", "k") is True
    assert layer.home.records["sp_values"] == {"k": b"new"}


def test_a_cleared_collection_has_nothing_that_waits(tmp_path: Path) -> None:
    """And takes writes again."""
    layer, both = behind(tmp_path)
    put(both, "k", b"old")
    both.clear()
    both.prepare()
    assert (call(both, VALUES, "get", "k"), waiting(both)) == (None, 0)
    put(both, "k", b"new")
    assert call(both, VALUES, "exists", "k") is True
    assert layer.home.records["sp_values"] == {"k": b"new"}


def test_what_only_a_refusal_could_keep_is_not_offered(tmp_path: Path) -> None:
    """Unique indexes and rules: a write that breaks them was acknowledged before. Other indexes are the home's."""
    layer = Layer(tmp_path, policy="write-behind")
    both = layer.session(IndexedSession(layer.home)).collection(DOCUMENTS)
    call(both, DOCUMENTS, "create_index", Index(name="plain", paths=(("field0",),)))
    with pytest.raises(Unsupported, match="before the home can refuse it"):
        call(both, DOCUMENTS, "create_index", Index(name="single", paths=(("field0",),), unique=True))
    with pytest.raises(Unsupported, match="before the home can refuse it"):
        call(both, DOCUMENTS, "require", ("field0",), "text")
    assert layer.home.asked == ["create_index plain"]


def test_there_are_no_transactions(tmp_path: Path) -> None:
    """The reason says why."""
    layer = Layer(tmp_path, policy="write-behind")
    session = layer.session(TransactionalSession(layer.home))
    assert not isinstance(session, Transactions)
    assert session.unsupported_because["Transactions"].startswith("a transaction in the home would not see")
