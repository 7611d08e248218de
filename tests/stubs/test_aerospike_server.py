"""The Aerospike adapter on a stub of the vendor's client, which answers as a server was seen to answer, once, outside of these tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from tests.shipped import SHIPPED

pytest.importorskip("aerospike")

import aerospike as client_package
from aerospike import exception as failures
from aerospike_helpers import expressions as exp

from storeproof.adapters.aerospike import truncation
from storeproof.adapters.aerospike.models import Counters, Documents, Hashes, Rows, Values
from storeproof.contract import Layout, Refused, Row, Unknown

MODELS = SHIPPED.models
UPDATED, BIN, VALUE = exp.LastUpdateTime()._op, exp.IntBin("n")._op, 200


class Stub:
    """One node with one set."""

    def __init__(self) -> None:
        self.bins: dict[Any, dict[str, Any]] = {}
        self.generations: dict[Any, int] = {}
        self.updated: dict[Any, int] = {}
        self.asked: list[str] = []
        self.sent: list[dict[str, Any]] = []
        """The metadata and policies of all writes."""
        self.meanwhile: list[Callable[[], None]] = []
        """What others do just before the next conditional write."""
        self.looks = 0
        self.survivors = 0
        """Records that the next truncation leaves, since they were written in its last moment."""
        self.refusal = ""
        self._clock = 0

    def put(self, key: Any, bins: dict[str, Any], meta: dict[str, Any] | None = None, policy: dict[str, Any] | None = None) -> None:
        policy = policy or {}
        self.sent.append({"meta": meta, "policy": policy})
        if "expressions" in policy and self.meanwhile:
            self.meanwhile.pop(0)()
        if policy.get("exists") == client_package.POLICY_EXISTS_REPLACE and key not in self.bins:
            raise failures.RecordNotFound
        if policy.get("gen") == client_package.POLICY_GEN_EQ and (meta or {})["gen"] != self.generations.get(key):
            raise failures.RecordGenerationError
        if "expressions" in policy and not self._holds(key, policy["expressions"]):
            raise failures.FilteredOut
        self._clock += 1
        self.bins[key], self.updated[key] = dict(bins), self._clock
        self.generations[key] = self.generations.get(key, 0) + 1

    def remove(self, key: Any) -> None:
        del self.bins[key], self.generations[key], self.updated[key]

    def operate_ordered(self, key: Any, steps: Sequence[Mapping[str, Any]], meta: Any = None, policy: Any = None) -> Any:
        if policy is not None:
            self.sent.append({"meta": meta, "policy": policy})
            return key, {}, [(step["bin"], None) for step in steps]
        if key not in self.bins:
            raise failures.RecordNotFound
        found = self.bins[key] | {"lut": self.updated[key]}
        return key, {"gen": self.generations[key]}, [(step["bin"], found[step["bin"]]) for step in steps]

    def info_random_node(self, command: str) -> str:
        self.asked.append(command)
        self.looks = 2
        return f"{command}\t{self.refusal or 'ok'}\n"

    def info_all(self, command: str) -> dict[str, tuple[None, str]]:
        truncating, self.looks = self.looks > 0, self.looks - 1
        if self.looks == 0:
            left, self.survivors = self.survivors, 0
            self.bins = dict(list(self.bins.items())[:left])
        said = f"objects={len(self.bins)}:tombstones=0:index_populating=false:truncating={str(truncating).lower()}:default-ttl=0;"
        return {"A1": (None, f"{command}\t{said}\n"), "A2": (None, f"{command}\t\n")}

    def _holds(self, key: Any, expression: Sequence[tuple[Any, ...]]) -> bool:
        """Of an expression that is equalities only."""
        for left, right in pairwise(expression):
            if right[0] == VALUE and left[0] in (UPDATED, BIN):
                found = self.updated[key] if left[0] == UPDATED else self.bins[key][left[2]["bin"]]
                if found != right[2]["val"]:
                    return False
        return True


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Without pauses between looks."""
    monkeypatch.setattr(truncation, "_PAUSE", 0.0)
    return Stub()


def made(kind: Any, stub: Stub, model: str) -> Any:
    return kind(stub, "ns", Layout("sp_1", MODELS[model]))


def test_a_set_is_truncated_until_it_is_empty(stub: Stub) -> None:
    """The server answers before it is done, and leaves what was written in its last moment."""
    values = made(Values, stub, "single_key")
    for number in range(5):
        values.put(f"k{number}", b"v")
    stub.survivors = 2
    values.clear()
    assert stub.bins == {}
    assert stub.asked == ["truncate:namespace=ns;set=sp_1"] * 2


def test_a_set_that_cannot_be_truncated_is_said(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is one, and a set that never is empty is Unknown with what is left."""
    values = made(Values, stub, "single_key")
    stub.refusal = "ERROR:81:role violation"
    with pytest.raises(Refused, match="does not truncate the set sp_1: ERROR:81:role violation"):
        values.clear()
    stub.refusal = ""
    values.put("k", b"v")
    monkeypatch.setattr(truncation, "_SECONDS", -1.0)
    with pytest.raises(Unknown, match=r"the set sp_1 is not empty after -1 s: [01] records are left"):
        values.clear()


@pytest.mark.parametrize(
    ("kind", "model", "old", "new", "other"),
    [
        (Values, "single_key", b"old", b"new", b"other"),
        (Counters, "counter", 1, 2, 3),
        (Rows, "row", Row(1, 0.5), Row(2, 0.5), Row(1, 1.5)),
        (Hashes, "hash10", {"field0": b"old"}, {"field0": b"new"}, {"field0": b"other"}),
        (Documents, "nested", {"a": 1}, {"a": 2}, {"a": 3}),
    ],
)
def test_a_generation_that_begins_again_does_not_fool_a_condition(
    stub: Stub, kind: Any, model: str, old: Any, new: Any, other: Any
) -> None:
    """A record that was deleted and created meanwhile has the generation that was read, and another value."""
    records = made(kind, stub, model)
    records.put("k", old)
    key = records.name("k")

    def replace(value: Any) -> Callable[[], None]:
        def done_by_another() -> None:
            stub.remove(key)
            records.put("k", value)

        return done_by_another

    stub.meanwhile.append(replace(other))
    assert not records.compare_and_set("k", old, new)
    assert records.decode(stub.bins[key]) == other
    stub.meanwhile.append(replace(old))
    records.put("k", old)
    assert records.compare_and_set("k", old, new), "the same value again is found again"
    assert records.decode(stub.bins[key]) == new
    assert not records.compare_and_set("none", old, new)


def test_a_condition_that_the_server_never_finds_true_is_refused(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that compares in another way than it returns would be asked forever."""
    rows = made(Rows, stub, "row")
    rows.put("k", Row(1, -0.0))
    monkeypatch.setattr(stub, "_holds", lambda *_: False)
    with pytest.raises(Refused, match="differs from what it returns"):
        rows.compare_and_set("k", Row(1, 0.0), Row(2, 0.0))


def test_a_time_to_live_is_in_the_policy(stub: Stub) -> None:
    """The client's next major version has no other place for it, and this one warns of each."""
    values, hashes = made(Values, stub, "single_key"), made(Hashes, stub, "hash10")
    values.put("k", b"v")
    values.put_expiring("k", b"v", 5)
    values.append("k", b"v")
    hashes.set_field("h", "field0", b"v")
    never, kept = client_package.TTL_NEVER_EXPIRE, client_package.TTL_DONT_UPDATE
    assert [each["policy"]["ttl"] for each in stub.sent] == [never, 5, kept, kept]
    assert all("ttl" not in (each["meta"] or {}) for each in stub.sent)


@pytest.mark.parametrize(
    "write",
    [
        lambda stub: made(Hashes, stub, "hash10").put("k", {"a\0b": b""}),
        lambda stub: made(Hashes, stub, "hash10").set_field("k", "\0", b""),
        lambda stub: made(Hashes, stub, "hash10").get_field("k", "\0"),
        lambda stub: made(Documents, stub, "nested").put("k", {"a": [{"b\0": 1}]}),
        lambda stub: made(Documents, stub, "nested").set_path("k", ("a",), {"\0": 1}),
        lambda stub: made(Documents, stub, "nested").set_path("k", ("a", "\0", "b"), 1),
        lambda stub: made(Documents, stub, "nested").get_path("k", ("\0",)),
    ],
)
def test_a_name_with_a_nul_is_refused(stub: Stub, write: Callable[[Stub], None]) -> None:
    """The client ends the key of a map there: it would be written under another name, or read from one."""
    with pytest.raises(Refused, match="at a NUL"):
        write(stub)
    assert stub.bins == {}
    assert stub.sent == []


def test_a_part_of_the_bin_itself_has_no_way(stub: Stub) -> None:
    """The server refuses a way of no steps: where there is none, none is sent."""
    documents = made(Documents, stub, "nested")
    steps: list[Any] = []
    documents.operate = lambda key, given, *_: steps.extend(given) or [None]
    documents.set_path("k", ("a",), 1)
    documents.unset_path("k", ("a",))
    documents.set_path("k", ("a", 0), 1)
    assert ["ctx" in each for each in steps] == [False, False, True]


def test_several_fields_are_one_request(stub: Stub) -> None:
    """A step for each field that is read, and one for all that are set; a record that is not there has none."""
    hashes = made(Hashes, stub, "hash10")
    steps: list[Any] = []
    hashes.operate = lambda key, given, *_: steps.append(given) or [b"b", None][: len(given)]
    assert hashes.get_fields("k", ["field1", "field0"]) == [b"b", None]
    hashes.set_fields("k", {"field1": b"x", "field0": b"y"})
    assert [len(given) for given in steps] == [2, 1]
    assert [each["key"] for each in steps[0]] == ["field1", "field0"]
    assert hashes.get_fields("k", []) == []
    hashes.set_fields("k", {})
    assert len(steps) == 2
    assert made(Hashes, stub, "hash10").get_fields("none", ["field0", "field1"]) == [None, None]
