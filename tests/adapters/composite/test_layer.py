"""The layer of a composite store: what goes to the front, what to the home, and in which order."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from storeproof.adapters import composite
from storeproof.contract import Address, Cached, Collection, Layout, Refused, Unknown, Unsupported, call, supports
from storeproof.contract.sessions import Transactions
from tests.adapters.composite.memory import LOST, NO, Layer, TransactionalSession
from tests.shipped import SHIPPED

VALUES = Layout("sp_values", SHIPPED.models["single_key"])
DOCUMENTS = Layout("sp_documents", SHIPPED.models["document10"])
COUNTERS = Layout("sp_counters", SHIPPED.models["counter"])
POLICIES = ("cache-aside", "read-through", "write-through")
"""Those that write to the home first."""


def collection(layer: Layer, layout: Layout = VALUES) -> Collection:
    """A prepared collection of a new session."""
    made = layer.session().collection(layout)
    made.prepare()
    return made


@pytest.mark.parametrize("policy", POLICIES)
def test_a_read_fills_the_front_and_the_next_one_finds_it_there(policy: str, tmp_path: Path) -> None:
    """The home is asked once."""
    layer = Layer(tmp_path, policy=policy)
    layer.home.records["sp_values"] = {"k": b"v"}
    read = collection(layer)
    assert [call(read, VALUES, "get", "k") for _ in range(3)] == [b"v"] * 3
    assert layer.home.asked == ["get k"]
    assert layer.front.records["sp_values_copies"] == {"k": b"v"}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("invalidate", ["delete", "update"])
def test_a_write_goes_to_the_home_and_then_changes_the_copy(policy: str, invalidate: str, tmp_path: Path) -> None:
    """The copy is gone, or is the new record."""
    layer = Layer(tmp_path, policy=policy, invalidate=invalidate)
    both = collection(layer)
    layer.front.records["sp_values_copies"]["k"] = b"old"
    call(both, VALUES, "put", "k", b"new")
    assert layer.home.records["sp_values"] == {"k": b"new"}
    assert layer.front.records["sp_values_copies"] == ({"k": b"new"} if invalidate == "update" else {})
    assert call(both, VALUES, "get", "k") == b"new"


def test_copies_expire_where_the_variant_says_so(tmp_path: Path) -> None:
    """With `ttl` a copy is put with that time to live, and without it with none."""
    layer = Layer(tmp_path, policy="write-through", ttl="60")
    call(collection(layer), VALUES, "put", "k", b"v")
    assert layer.front.asked == ["put_expiring 60 k"]


@pytest.mark.parametrize("invalidate", ["delete", "update"])
def test_every_write_of_a_key_removes_or_replaces_its_copy(invalidate: str, tmp_path: Path) -> None:
    """Batches, comparisons and conditional writes too. A comparison that failed removes the copy: what the client expected came from it."""
    layer = Layer(tmp_path, policy="write-through", invalidate=invalidate)
    both = collection(layer)
    copies = layer.front.records["sp_values_copies"]
    call(both, VALUES, "put_many", {"a": b"1", "b": b"2"})
    assert copies == ({"a": b"1", "b": b"2"} if invalidate == "update" else {})
    copies["a"] = b"stale"
    assert call(both, VALUES, "compare_and_set", "a", b"stale", b"3") is False
    assert "a" not in copies
    assert call(both, VALUES, "get", "a") == b"1"
    assert call(both, VALUES, "compare_and_set", "a", b"1", b"3") is True
    assert copies.get("a", b"3") == b"3"
    assert call(both, VALUES, "put_if_absent", "c", b"4") is True
    assert call(both, VALUES, "put_if_absent", "c", b"5") is False
    assert call(both, VALUES, "get", "c") == b"4"
    assert call(both, VALUES, "insert_many", {"d": b"6", "e": b"7"}) is True
    assert {"d": b"6", "e": b"7"}.items() <= copies.items() if invalidate == "update" else "d" not in copies
    copies["e"] = b"stale"
    assert call(both, VALUES, "insert_many", {"e": b"8", "f": b"9"}) is False
    assert copies.keys().isdisjoint("ef")
    copies["c"] = b"4"
    assert call(both, VALUES, "delete", "c") is True
    assert "c" not in copies


def test_a_write_to_all_that_match_removes_all_copies(tmp_path: Path) -> None:
    """Its keys are not known."""
    layer = Layer(tmp_path, policy="write-through")
    both = collection(layer, DOCUMENTS)
    for key in ("a", "b"):
        call(both, DOCUMENTS, "put", key, {"field0": "old"})
    assert len(layer.front.records["sp_documents_copies"]) == 2
    where: Any = None
    assert call(both, DOCUMENTS, "update_where", where, ("field0",), "new") == 2
    assert layer.front.records["sp_documents_copies"] == {}
    assert call(both, DOCUMENTS, "get", "a") == {"field0": "new"}


def test_other_reads_and_other_records_go_to_the_home_alone(tmp_path: Path) -> None:
    """`exists` asks the home; records that change by their items have no copies."""
    layer = Layer(tmp_path)
    layer.home.records["sp_counters"] = {"n": 5}
    assert call(collection(layer), VALUES, "exists", "k") is False
    assert call(collection(layer, COUNTERS), COUNTERS, "get", "n") == 5
    assert layer.front.asked == []


def test_it_has_what_the_home_has_except_expiry(tmp_path: Path) -> None:
    """A family that the home lacks has the home's reason, and expiring records, which a copy would outlive, are refused."""
    both = collection(Layer(tmp_path))
    assert supports(both, "compare_and_set")
    with pytest.raises(Unsupported, match="it keeps no order"):
        call(both, VALUES, "scan", None, 1, False)
    with pytest.raises(Unsupported, match="a copy in the front would outlive"):
        call(both, VALUES, "put_expiring", "k", b"v", 1)
    assert supports(collection(Layer(tmp_path), COUNTERS), "put_expiring")


def test_what_the_home_refuses_leaves_the_copy_as_it_is(tmp_path: Path) -> None:
    """Nothing was written."""
    layer = Layer(tmp_path)
    both = collection(layer)
    layer.front.records["sp_values_copies"]["k"] = b"v"
    layer.home.fails = NO
    with pytest.raises(Refused):
        call(both, VALUES, "put", "k", b"new")
    assert layer.front.records["sp_values_copies"] == {"k": b"v"}


def test_what_the_home_may_have_written_removes_the_copy(tmp_path: Path) -> None:
    """The outcome of the write stays unknown."""
    layer = Layer(tmp_path, policy="write-through")
    both = collection(layer)
    layer.front.records["sp_values_copies"]["k"] = b"v"
    layer.home.fails = LOST
    with pytest.raises(Unknown):
        call(both, VALUES, "put", "k", b"new")
    assert layer.front.records["sp_values_copies"] == {}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_write_whose_copy_may_be_old_is_unknown(policy: str, tmp_path: Path) -> None:
    """The home has it, but the front did not answer."""
    layer = Layer(tmp_path, policy=policy)
    both = collection(layer)
    layer.front.fails = LOST
    with pytest.raises(Unknown, match="the home has the write, but the front may have an older copy"):
        call(both, VALUES, "put", "k", b"new")
    assert layer.home.records["sp_values"] == {"k": b"new"}


@pytest.mark.parametrize("policy", POLICIES)
def test_reads_go_round_a_front_that_does_not_answer_unless_they_must_agree_with_writes(policy: str, tmp_path: Path) -> None:
    """With write-through a read from the home could be newer than the copies that other clients still see."""
    layer = Layer(tmp_path, policy=policy)
    layer.home.records["sp_values"] = {"k": b"v"}
    both = collection(layer)
    layer.front.fails = LOST
    if policy == "write-through":
        with pytest.raises(Unknown):
            call(both, VALUES, "get", "k")
    else:
        assert call(both, VALUES, "get", "k") == b"v"


def test_a_record_that_the_front_refuses_has_no_copy(tmp_path: Path) -> None:
    """A key or a size that the front cannot have: the composite works as the home alone."""
    layer = Layer(tmp_path, policy="write-through")
    both = collection(layer)
    layer.front.fails = NO
    call(both, VALUES, "put", "k", b"v")
    assert call(both, VALUES, "get", "k") == b"v"


def test_a_copy_that_the_front_refuses_to_remove_is_not_passed_over(tmp_path: Path) -> None:
    """A front that refuses to delete, and still answers the copy, would serve it."""
    layer = Layer(tmp_path)
    both = collection(layer)
    layer.front.records["sp_values_copies"]["k"] = b"old"

    def refuse(operation: str, key: object) -> None:
        if operation == "delete":
            raise NO

    layer.front.request = refuse  # type: ignore[method-assign, assignment]
    with pytest.raises(Unknown, match="the front refuses to remove a copy"):
        call(both, VALUES, "put", "k", b"new")


def test_without_a_lock_a_fill_overtaken_by_a_write_leaves_an_old_copy(tmp_path: Path) -> None:
    """The race of cache-aside: a reader has the old value from the home, a writer writes and invalidates, and then the reader fills."""
    for policy in ("cache-aside", "read-through"):
        layer = Layer(tmp_path, policy=policy)
        layer.home.records["sp_values"] = {"k": b"old"}
        reader, writer = collection(layer), collection(layer)
        layer.home.after_get = lambda writer=writer: call(writer, VALUES, "put", "k", b"new")
        assert call(reader, VALUES, "get", "k") == b"old"
        assert call(reader, VALUES, "get", "k") == b"old", f"{policy}: stale, though the write was acknowledged"


def test_under_one_lock_a_write_waits_for_a_fill(tmp_path: Path) -> None:
    """The same moment with write-through: the writer, in a thread of its own, cannot invalidate before the fill."""
    layer = Layer(tmp_path, policy="write-through")
    layer.home.records["sp_values"] = {"k": b"old"}
    reader, writer = collection(layer), collection(layer)
    writing = threading.Thread(target=lambda: call(writer, VALUES, "put", "k", b"new"))
    layer.home.after_get = writing.start
    assert call(reader, VALUES, "get", "k") == b"old"
    writing.join()
    assert call(reader, VALUES, "get", "k") == b"new"
    assert layer.home.asked == ["get k", "put k"]


def test_one_client_fills_for_all_that_wait(tmp_path: Path) -> None:
    """With read-through a second reader that missed waits for the first, and finds its copy: the home is asked once."""
    layer = Layer(tmp_path, policy="read-through")
    layer.home.records["sp_values"] = {"k": b"v"}
    first, second = collection(layer), collection(layer)
    found: list[object] = []
    reading = threading.Thread(target=lambda: found.append(call(second, VALUES, "get", "k")))
    layer.home.after_get = reading.start
    assert call(first, VALUES, "get", "k") == b"v"
    reading.join()
    assert found == [b"v"]
    assert layer.home.asked == ["get k"]


@pytest.mark.parametrize(("fails", "left"), [(None, {}), (LOST, {}), (NO, {"k": b"old"})])
def test_a_transaction_removes_copies_when_it_commits(fails: Exception | None, left: dict[str, bytes], tmp_path: Path) -> None:
    """Until then others see the old value, and the session reads its own writes from the home. What was rolled back changed nothing."""
    layer = Layer(tmp_path, policy="write-through")
    home = TransactionalSession(layer.home)
    home.commit_fails = fails
    session = layer.session(home)
    assert isinstance(session, Transactions)
    both = session.collection(VALUES)
    both.prepare()
    copies = layer.front.records["sp_values_copies"]
    copies["k"] = b"old"
    session.begin("read_committed")
    call(both, VALUES, "put", "k", b"new")
    assert call(both, VALUES, "get", "k") == b"new"
    assert copies == {"k": b"old"}
    if fails is None:
        session.commit()
    else:
        with pytest.raises(type(fails)):
            session.commit()
    assert copies == left


def test_a_rollback_leaves_the_copies(tmp_path: Path) -> None:
    """And the next write is outside of any transaction."""
    layer = Layer(tmp_path, policy="cache-aside")
    session = layer.session(TransactionalSession(layer.home))
    assert isinstance(session, Transactions)
    both = session.collection(VALUES)
    both.prepare()
    layer.front.records["sp_values_copies"]["k"] = b"old"
    session.begin("read_committed")
    call(both, VALUES, "put", "k", b"new")
    session.rollback()
    assert layer.front.records["sp_values_copies"] == {"k": b"old"}
    call(both, VALUES, "put", "k", b"newer")
    assert layer.front.records["sp_values_copies"] == {}


def test_a_session_without_transactions_has_none(tmp_path: Path) -> None:
    """The families of the session are those of the home's."""
    assert not isinstance(Layer(tmp_path).session(), Transactions)


def test_both_servers_are_read_back(tmp_path: Path) -> None:
    """Product and version, settings and options of each under its role, and the options of the layer."""
    layer = Layer(tmp_path, policy="read-through", ttl="9")
    session = layer.session()
    assert session.version().product == "front over home"
    assert session.read_settings(("front.x", "home.x")) == {"front.x": "front x", "home.x": "home x"}
    described = session.collection(VALUES).describe()
    assert described == {
        "front.engine": "front", "home.engine": "home", "indexes": "0", "policy": "read-through", "invalidate": "delete", "ttl": "9",
    }  # fmt: skip


def test_an_address_without_parts_is_refused() -> None:
    """There is no endpoint of a composite store."""
    with pytest.raises(Refused, match="a composite store is started by storeproof"):
        composite.connect(Address("127.0.0.1", 1), {"policy": "cache-aside"})


@pytest.mark.parametrize("policy", POLICIES)
def test_reads_of_the_home_are_counted_and_a_copy_can_be_dropped(policy: str, tmp_path: Path) -> None:
    """Each read that found no copy counts, and no write; a copy that was dropped is filled again by the next read."""
    layer = Layer(tmp_path, policy=policy)
    both = collection(layer)
    assert isinstance(both, Cached)
    call(both, VALUES, "put", "k", b"v")
    both.drop_copy("k")
    both.drop_copy("never there")
    assert both.home_reads == 0
    assert [call(both, VALUES, "get", key) for key in ("k", "k", "absent", "absent")] == [b"v", b"v", None, None]
    assert both.home_reads == 3, "what is absent has no copy"
    both.drop_copy("k")
    assert call(both, VALUES, "get", "k") == b"v"
    assert both.home_reads == 4
