"""A change feed while several clients write: it delivers every change once, and the last change of each record is its final state."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from storeproof.contract import Change, Collection, Layout, Refused, Unsupported, call, supports, why_not
from storeproof.experiments.case_collections import OpenCollection
from storeproof.experiments.client_threads import at_work
from storeproof.machine.deadline import machine_is_busy
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest

_KEYS = 5
"""Few, so that the clients' changes of one record follow each other closely."""
_PATIENCE = 10.0
"""Seconds without another change, after the last write, in which none is awaited any more."""
_BUSY = 3
"""Times as long on a busy machine."""

Written = Counter[tuple[str, str]]
"""By kind and key: how many changes were acknowledged."""


@pytest.mark.parametrize(
    "capability",
    [
        pytest.param(
            "server_side.change-feed",
            id="server_side.change-feed/concurrent",
            marks=pytest.mark.case(
                id="capabilities.server_side.change-feed/concurrent",
                model="single_key",
                operations=("follow", "changes"),
                capability="server_side.change-feed",
            ),
        )
    ],
)
def test_a_feed_tells_every_change_once(
    capability: str,
    sut: StoreUnderTest,
    fresh: OpenCollection,
    case_result: CaseResult,
) -> None:
    """A change feed has every change exactly once, in the order of each key, while clients write."""
    collection, layout = fresh("single_key")
    lacking = Outcome.FAIL if sut.target.claims(capability) else Outcome.UNSUPPORTED
    if not supports(collection, "follow"):
        case_result.settle(lacking, f"follow on single_key: {why_not(collection, 'Feed')}")
    neighbour, beside = fresh("single_key")
    with_records = True
    try:
        call(collection, layout, "follow", True)
    except Unsupported:
        with_records = False
        try:
            call(collection, layout, "follow", False)
        except Unsupported as reason:
            case_result.settle(lacking, str(reason))
    call(neighbour, beside, "put", "stranger", b"")
    clients = sut.scale.correctness.clients
    most = clients * sut.scale.correctness.concurrent_operations
    with at_work(partial(_write, sut, layout, client) for client in range(clients)) as writing:
        told = _listen(collection, layout, lambda: not any(each.is_alive() for each in writing), most)
    written: Written = sum((each.result() for each in writing), Counter())
    call(neighbour, beside, "put", "stranger", b"again")
    _listen_on(collection, layout, told, written.total())
    told += call(collection, layout, "changes", 10, 0.5)

    seen: Written = Counter((change.kind, str(change.key)) for change in told)
    missed, invented = written - seen, seen - written
    assert not missed, f"{missed.total()} of {written.total()} acknowledged changes were not delivered, {next(iter(missed))} among them"
    assert not invented, (
        f"{invented.total()} changes were delivered that were not made, or were delivered twice, {next(iter(invented))} among them"
    )
    last = {str(change.key): change for change in told}
    for key, change in last.items():
        there = call(collection, layout, "get", key)
        assert (there is not None) is (change.kind == "put"), (
            f"the last change delivered for {key} is {change.kind}; the store has {there!r}"
        )
        if with_records:
            assert there == change.record, f"the last change delivered for {key} has the record {change.record!r}; the store has {there!r}"
    case_result.add(
        f"{written.total()} changes of {_KEYS} records by {clients} clients were delivered, {'with' if with_records else 'without'} records"
    )


def _listen(collection: Collection, layout: Layout, enough: Callable[[], bool], most: int) -> list[Change]:
    told: list[Change] = []
    while not enough():
        told += call(collection, layout, "changes", 100, 0.1)
        assert len(told) <= most, f"{len(told)} changes were delivered, of at most {most} that are made; the last is {told[-1]}"
    return told


def _listen_on(collection: Collection, layout: Layout, told: list[Change], wanted: int) -> None:
    """Until all were told, or nothing more comes: as long as something does, the feed is only late."""
    patience = _PATIENCE * (_BUSY if machine_is_busy() else 1)
    last = time.monotonic()
    while len(told) < wanted and time.monotonic() - last < patience:
        if more := call(collection, layout, "changes", 100, 0.1):
            told += more
            last = time.monotonic()


def _write(sut: StoreUnderTest, layout: Layout, client: int) -> Written:
    """Write and delete the same few records as the others; what was acknowledged as done."""
    session = sut.connect(sut.shared())
    choice = random.Random(f"{sut.seed}/{client}")
    done: Written = Counter()
    try:
        own = session.collection(layout)
        for number in range(sut.scale.correctness.concurrent_operations):
            key = f"k{choice.randrange(_KEYS)}"
            try:
                if choice.random() < 0.3:
                    done["delete", key] += call(own, layout, "delete", key)
                else:
                    call(own, layout, "put", key, f"{client}/{number}".encode())
                    done["put", key] += 1
            except Refused:
                continue  # clearly: it did not happen, and must not be told
    finally:
        session.close()
    return +done
