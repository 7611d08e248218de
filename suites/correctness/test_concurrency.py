"""Many concurrent clients: no increment is lost, no compare-and-set is wrong, no half-written record is read."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pytest

from storeproof.contract import OPERATIONS, Collection, Layout, Refused, Session, call, supports, why_not
from storeproof.experiments.client_threads import together
from storeproof.outcome import Outcome
from storeproof.plugin.suite import suite_run
from storeproof.records.self_verifying import identify, record
from storeproof.result.running_case import CaseResult, WrongAnswer
from storeproof.store_under_test import StoreUnderTest

T = TypeVar("T")
Fresh = Callable[..., tuple[Collection, Layout]]
_KEYS = 3
"""Few, so that a read meets a write."""
_STALE = 1000
"""Times as often as a true answer can, a store whose reads may be stale may say no to an exchange."""
_REFUSABLE = 0.05
"""Share of different records that a store may refuse for what is in them, and with which readers still meet writes enough."""


@pytest.mark.case(id="concurrency.increment", model="counter", operations=("increment",))
def test_no_increment_is_lost(sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """The sum after concurrent increments is the sum of all of them."""
    collection, layout = _needs("increment", "counter", fresh, case_result)
    each = sut.scale.correctness.concurrent_operations

    def add(own: Collection, _client: int) -> list[int]:
        return [_patiently(own, layout, "increment", "shared", 1) for _ in range(each)]

    sums = [answer for answers in _together(sut, layout, add) for answer in answers]
    wanted = sut.scale.correctness.clients * each
    found = call(collection, layout, "get", "shared")
    assert found == wanted, f"{wanted} increments by 1 were acknowledged; the counter is {found}"
    assert sorted(sums) == list(range(1, wanted + 1)), "two clients got the same sum"
    case_result.add(f"{wanted} increments by {sut.scale.correctness.clients} clients")


@pytest.mark.case(id="concurrency.compare-and-set", model="single_key", operations=("compare_and_set",))
def test_no_comparison_is_fooled(sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """Clients that add one by compare-and-set lose no increment: every exchange that succeeded counts.

    Each "no" means that another client's exchange came between the read and it, and that is another exchange for each "no" of a client.
    """
    collection, layout = _needs("compare_and_set", "single_key", fresh, case_result)
    each = max(1, sut.scale.correctness.concurrent_operations // 4)
    wanted = sut.scale.correctness.clients * each
    # A read that may be stale is of a value that changed long before.
    most_noes = (wanted - each) * (_STALE if sut.target.stale_reads else 1)
    call(collection, layout, "put", "shared", b"0")

    def add(own: Collection, _client: int) -> int:
        done = noes = 0
        while done < each:
            before = call(own, layout, "get", "shared")
            assert before in counted, f"the value was counted up from 0, at most to {wanted}; a read returned {before!r}"
            if _patiently(own, layout, "compare_and_set", "shared", before, b"%d" % (int(before) + 1)):
                done += 1
            else:
                noes += 1
                assert noes <= most_noes, (
                    f"compare_and_set said no {noes} times to the value just read, which the other clients change {wanted - each} times"
                )
        return done + noes

    counted = {b"%d" % number for number in range(wanted + 1)}
    tries = sum(_together(sut, layout, add))
    found = call(collection, layout, "get", "shared")
    if found != b"%d" % wanted:
        raise WrongAnswer([f"{wanted} exchanges succeeded; the value is {found!r}"], "compare_and_set", found, repr(b"%d" % wanted))
    case_result.add(f"{wanted} exchanges by {sut.scale.correctness.clients} clients took {tries} tries")


@pytest.mark.case(id="concurrency.put-if-absent", model="single_key", operations=("put_if_absent",))
def test_one_wins(sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """Of clients that put a key if it is absent, exactly one succeeds."""
    collection, layout = _needs("put_if_absent", "single_key", fresh, case_result)
    keys = [f"key{number}" for number in range(sut.scale.correctness.concurrent_operations)]

    def claim(own: Collection, client: int) -> list[str]:
        return [key for key in keys if _patiently(own, layout, "put_if_absent", key, b"%d" % client)]

    won = _together(sut, layout, claim)
    for key in keys:
        winners = [client for client, mine in enumerate(won) if key in mine]
        found = call(collection, layout, "get", key)
        assert [b"%d" % client for client in winners] == [found], (
            f"{key}: put_if_absent succeeded for clients {winners}; the store has the value of client {found!r}"
        )


@pytest.mark.case(id="concurrency.insert-many", model="single_key", operations=("insert_many",))
def test_one_batch_wins(sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """Of clients that insert the same keys at most one is told that they were new, and then all records are its own."""
    collection, layout = _needs("insert_many", "single_key", fresh, case_result)
    batches = [[f"{letter}{number}" for letter in "abc"] for number in range(sut.scale.correctness.concurrent_operations // 4)]

    def claim(own: Collection, client: int) -> list[bool]:
        return [_patiently(own, layout, "insert_many", dict.fromkeys(keys, b"%d" % client)) for keys in batches]

    won = _together(sut, layout, claim)
    for keys, answers in zip(batches, zip(*won, strict=True), strict=True):
        winners = [client for client, new in enumerate(answers) if new]
        found = [call(collection, layout, "get", key) for key in keys]
        assert all(found == [b"%d" % client] * len(keys) for client in winners), (
            f"{keys}: insert_many succeeded for clients {winners}; the store has the values of clients {found!r}"
        )


@pytest.mark.case(id="concurrency.get-and-set", model="single_key", operations=("get_and_set",))
def test_each_value_is_answered_to_one(sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """An atomic exchange hands every value to exactly one client."""
    collection, layout = _needs("get_and_set", "single_key", fresh, case_result)
    each = sut.scale.correctness.concurrent_operations
    call(collection, layout, "put", "shared", b"first")

    def exchange(own: Collection, client: int) -> list[bytes]:
        return [_patiently(own, layout, "get_and_set", "shared", b"%d:%d" % (client, number)) for number in range(each)]

    answered = [answer for answers in _together(sut, layout, exchange) for answer in answers]
    written = [b"first", *(b"%d:%d" % (client, number) for client in range(sut.scale.correctness.clients) for number in range(each))]
    last = call(collection, layout, "get", "shared")
    if sorted([*answered, last]) != sorted(written):
        raise WrongAnswer(["a value was returned to two clients, or to none"], "get_and_set", sorted(answered), repr(sorted(written)))
    case_result.add(f"{len(answered)} exchanges by {sut.scale.correctness.clients} clients")


@pytest.mark.case(id="concurrency.append", model="single_key", operations=("append",))
def test_nothing_appended_is_lost(sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """Concurrent appends are all there afterwards."""
    collection, layout = _needs("append", "single_key", fresh, case_result)
    each = sut.scale.correctness.concurrent_operations

    def add(own: Collection, client: int) -> None:
        for number in range(each):
            _patiently(own, layout, "append", "shared", b"%d:%d " % (client, number))

    _together(sut, layout, add)
    written = [b"%d:%d" % (client, number) for client in range(sut.scale.correctness.clients) for number in range(each)]
    found = (call(collection, layout, "get", "shared") or b"").split()
    assert sorted(found) == sorted(written), f"{len(written)} pieces were appended; {len(found)} were found"
    case_result.add(f"{len(written)} pieces by {sut.scale.correctness.clients} clients")


@pytest.mark.case(id="concurrency.queue", model="queue", operations=("push_back", "pop_front"))
def test_each_item_is_taken_once(sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """Half of the clients put items in, the others take them out; what is left is taken at the end."""
    collection, layout = _needs("pop_front", "queue", fresh, case_result)
    each = sut.scale.correctness.concurrent_operations

    def work(own: Collection, client: int) -> list[bytes]:
        if client % 2:
            for number in range(each):
                _patiently(own, layout, "push_back", "shared", b"%d:%d" % (client, number))
            return []
        return [item for _ in range(each) if (item := _patiently(own, layout, "pop_front", "shared")) is not None]

    taken = _together(sut, layout, work)
    written = [b"%d:%d" % (client, number) for client in range(1, sut.scale.correctness.clients, 2) for number in range(each)]
    rest: list[bytes] = []
    while (item := call(collection, layout, "pop_front", "shared")) is not None:
        rest.append(item)
        assert len(rest) <= len(written), f"{len(written)} items were put in, and more were taken out: {item!r} is the last"
    assert sorted([*(item for items in taken for item in items), *rest]) == sorted(written), "an item was taken twice, or lost"
    for items in [*taken, rest]:  # of one producer's items every consumer sees a later one later
        for client in range(1, sut.scale.correctness.clients, 2):
            numbers = [int(item.split(b":")[1]) for item in items if item.startswith(b"%d:" % client)]
            assert numbers == sorted(numbers), f"the items of client {client} were not taken in insertion order"
    case_result.add(f"{len(written)} items, {len(written) - len(rest)} taken while others were added")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "model" in metafunc.fixturenames:
        models = suite_run(metafunc.config).spec.models
        aggregates = [name for name, model in models.items() if model.record.kind in ("hash", "document", "row")]
        case = pytest.mark.case
        metafunc.parametrize(
            "model",
            [pytest.param(name, marks=case(id=f"concurrency.whole/{name}", model=name, operations=("put", "get"))) for name in aggregates],
        )


def test_no_record_is_seen_half_written(model: str, sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """A concurrent reader sees a whole record of one write. A record that is refused each time was not written, and is not seen."""
    _, layout = _needs("put", model, fresh, case_result)
    each = sut.scale.correctness.concurrent_operations
    keys = [number if layout.model.key == "integer" else f"key{number}" for number in range(_KEYS)]
    writing = set(range(1, sut.scale.correctness.clients, 2))
    most = int(each * len(writing) * _REFUSABLE)
    refused: list[str] = []

    def write(own: Collection, client: int) -> int:
        choice = random.Random(f"{sut.seed}/{client}")
        try:
            for number in range(each):
                key, write_id = choice.choice(keys), f"{client}:{number}"
                try:
                    _patiently(own, layout, "put", key, record(layout.model, key, write_id))
                except Refused as reason:
                    refused.append(write_id)
                    if len(refused) > most:
                        raise
                    case_result.add(f"{key!r} of write {write_id} was refused: {reason}" if len(refused) == 1 else "")
        finally:
            writing.discard(client)
        return 0

    def read(own: Collection, client: int) -> int:
        choice = random.Random(f"{sut.seed}/{client}")
        seen = 0
        while writing:  # a write may take a hundred times as long as a read: as many of each would hardly meet
            key = choice.choice(keys)
            if (found := call(own, layout, "get", key)) is not None:
                identity = identify(layout.model, key, found)
                assert identity.kind == "whole", f"{key!r} was read {identity.kind}: {identity}"
                assert identity.write_id not in refused, f"{key!r} is of write {identity.write_id}, which was refused"
                seen += 1
        return seen

    seen = sum(_together(sut, layout, lambda own, client: (write if client % 2 else read)(own, client)))
    case_result.add(f"{seen} records were read while they were overwritten, all whole")
    case_result.add(f"{len(refused)} of {each * (sut.scale.correctness.clients // 2)} writes were refused" if refused else "")


@pytest.mark.parametrize(
    ("updated", "update", "look", "place"),
    [
        pytest.param(
            *("hash10", "set_fields", "get_fields", lambda name: name),
            id="hash10",
            marks=pytest.mark.case(id="concurrency.set-fields", model="hash10", operations=("set_fields", "get_fields")),
        ),
        pytest.param(
            *("document10", "set_paths", "get_paths", lambda name: (name,)),
            id="document10",
            marks=pytest.mark.case(id="concurrency.set-paths", model="document10", operations=("set_paths", "get_paths")),
        ),
    ],
)
def test_no_update_is_seen_half_done(
    updated: str, update: str, look: str, place: Callable[[str], Any], sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult
) -> None:
    """Each request sets one half of a record. A reader sees all of it or nothing, and who wrote it finds it: an update of the other half
    does not undo it."""
    collection, layout = _needs(update, updated, fresh, case_result)
    each = sut.scale.correctness.concurrent_operations
    names = [f"field{number}" for number in range(10)]
    halves = (names[:5], names[5:])
    writers = range(1, sut.scale.correctness.clients, 2)
    writing = set(writers)
    keys = [f"key{number}" for number in range(max(_KEYS, len(writers)))]
    places = [(key, half) for key in keys for half in halves]
    for key in keys:
        call(collection, layout, "put", key, record(layout.model, key, "0:0"))

    def ask(own: Collection, key: str, asked: list[str]) -> dict[str, Any]:
        return dict(zip(asked, call(own, layout, look, key, list(map(place, asked))), strict=True))

    def write(own: Collection, client: int) -> int:
        choice = random.Random(f"{sut.seed}/{client}")
        mine = places[client // 2 :: len(writers)]  # each half is written by one client, and the two of a record by different ones
        try:
            for number in range(each):
                (key, half), write_id = choice.choice(mine), f"{client}:{number}"
                whole: Any = record(layout.model, key, write_id)
                _patiently(own, layout, update, key, {place(name): whole[name] for name in choice.sample(half, len(half))})
                if sut.target.session_guarantees:
                    found = _update_of(layout, key, half, ask(own, key, half))
                    if found != write_id:
                        told = f"{key!r}: {half[0]} to {half[-1]} are of write {found}; {write_id} was acknowledged"
                        raise WrongAnswer([told], update, found, write_id)
        finally:
            writing.discard(client)
        return 0

    def read(own: Collection, client: int) -> int:
        choice = random.Random(f"{sut.seed}/{client}")
        seen = 0
        while writing:
            key, half = choice.choice(places)
            found = ask(own, key, choice.sample(half, len(half))) if seen % 2 else call(own, layout, "get", key)
            _update_of(layout, key, half, found)
            seen += 1
        return seen

    seen = sum(_together(sut, layout, lambda own, client: (write if client % 2 else read)(own, client)))
    case_result.add(f"{seen} times a half was read while it was updated, each time whole")


def _update_of(layout: Layout, key: str, half: list[str], found: Any) -> str:
    """The id of the write that all fields of a half are of."""
    parts = identify(layout.model, key, {name: found.get(name) for name in half} if found else {}).parts
    ids = {name: parts.get((name,)) for name in half}
    whole = {write_id for write_id in ids.values() if write_id is not None}
    assert len(whole) == 1, f"{key!r}: the fields of one update were read as of several writes, or of none: {ids}"
    assert None not in ids.values(), f"{key!r}: fields of one update were missing, or had other values: {ids}"
    return whole.pop()


def _needs(operation: str, model: str, fresh: Fresh, case_result: CaseResult) -> tuple[Collection, Layout]:
    collection, layout = fresh(model)
    if not supports(collection, operation):
        case_result.settle(Outcome.UNSUPPORTED, f"{operation} on {model}: {why_not(collection, OPERATIONS[operation].family.__name__)}")
    return collection, layout


def _together(sut: StoreUnderTest, layout: Layout, work: Callable[[Collection, int], T]) -> list[T]:
    """Run `work(collection, client)` in as many clients as the scale says, each with its own session; they begin when all are connected."""
    handle = sut.shared()
    sessions: list[Session] = []
    try:
        sessions.extend(sut.connect(handle) for _ in range(sut.scale.correctness.clients))
        collections = [session.collection(layout) for session in sessions]
        return together(partial(work, own, client) for client, own in enumerate(collections))
    finally:
        for session in sessions:
            session.close()


def _patiently(collection: Collection, layout: Layout, operation: str, *args: object) -> Any:
    """Refused means that nothing happened (a deadlock, a conflict): under contention that is an answer, and one tries again."""
    for _ in range(100):
        try:
            return call(collection, layout, operation, *args)
        except Refused as reason:
            refusal = reason
    raise type(refusal)(f"{operation} was refused a hundred times in a row: {refusal}")
