"""The recorder: nothing that a client did may be missing from the history, whatever interrupts it."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Iterator

import pytest

from storeproof.history import Recorder
from tests.check.histories import operation


def ticking() -> Recorder:
    """A recorder whose clock counts 1, 2, 3 ..."""
    return Recorder(clock=itertools.count(1).__next__)


def test_an_acknowledged_operation_has_both_its_times() -> None:
    """Invoked and completed are taken when they happen, in that order."""
    recorder = ticking()
    log = recorder.client()
    log.invoke("put", ("single_key", "a"), write_id="0:1")
    log.end("ok")
    assert recorder.operations() == [operation(0, "put", "single_key", "a", "0:1", 0, 1, 2, "ok")]


def test_an_unknown_operation_never_completed() -> None:
    """A write without a reply has no latest moment: it may yet be carried out."""
    recorder = ticking()
    log = recorder.client()
    log.invoke("delete", ("single_key", "a"))
    log.end("unknown")
    log.invoke("delete", ("single_key", "b"))
    first, second = recorder.operations()
    assert first.completed is None
    assert second.invoked == 2, "no moment is taken that no operation has: a recorded disk would be marked with it"


def test_what_is_in_flight_is_unknown() -> None:
    """A client that was interrupted between request and note has still sent its request."""
    recorder = ticking()
    log = recorder.client()
    log.invoke("increment", ("counter", "n"), amount=-3)
    found = recorder.operations()
    assert [(each.outcome, each.amount, each.completed) for each in found] == [("unknown", -3, None)]


def test_only_acknowledged_operations_are_at_risk() -> None:
    """Refused and unknown ones are not counted as acknowledged."""
    recorder = ticking()
    for outcome in ("ok", "refused", "unknown", "ok"):
        log = recorder.client()
        log.invoke("put", ("single_key", "a"), write_id=outcome)
        log.end(outcome)  # type: ignore[arg-type]
    assert recorder.acknowledged == 2


def test_operations_are_ordered_by_invocation_over_all_clients() -> None:
    """The history is one, though every client has a log of its own."""
    recorder = ticking()
    first, second = recorder.client(), recorder.client()
    first.invoke("put", ("single_key", "a"), write_id="0:1")
    second.invoke("put", ("single_key", "a"), write_id="1:1")
    second.end("ok")
    first.end("ok")
    assert [each.write_id for each in recorder.operations()] == ["0:1", "1:1"]


def test_the_operations_of_later_clients_can_be_had_alone() -> None:
    """From the number on that the next client had: those before may have ended long ago."""
    recorder = Recorder()
    for key in ("a", "b"):
        first = recorder.clients
        log = recorder.client()
        assert log.client == first
        log.invoke("delete", ("m", key))
        log.end("ok")
    assert [each.key for each in recorder.operations(first)] == ["b"]
    assert [each.key for each in recorder.operations()] == ["a", "b"]
    assert recorder.operations(recorder.clients) == []


def test_a_client_has_one_operation_at_a_time() -> None:
    """A log that is used by two threads would mix up their times: it says so instead."""
    log = ticking().client()
    log.invoke("put", ("single_key", "a"), write_id="0:1")
    with pytest.raises(RuntimeError, match="one operation at a time"):
        log.invoke("put", ("single_key", "b"), write_id="0:2")


def test_an_end_without_a_beginning_is_an_error() -> None:
    """An end that belongs to no request would be noted with wrong times."""
    with pytest.raises(RuntimeError, match="never invoked"):
        ticking().client().end("ok")


def test_an_operation_completes_exactly_if_its_outcome_is_known() -> None:
    """An `ok` without an end, or an `unknown` with one, could not be judged."""
    with pytest.raises(ValueError, match="found ok completed at None"):
        operation(0, "put", "single_key", "a", "0:1", 0, 1, None, "ok")
    with pytest.raises(ValueError, match="found unknown completed at 2"):
        operation(0, "put", "single_key", "a", "0:1", 0, 1, 2, "unknown")


@pytest.fixture
def _restless() -> Iterator[None]:
    """Threads take turns a thousand times as often as they would."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_restless")
def test_many_clients_lose_no_note_while_the_history_is_read() -> None:
    """Eight threads note 2 000 operations each; every reading in between is a consistent part of them."""
    recorder = Recorder()
    go = threading.Event()

    def work() -> None:
        log = recorder.client()
        go.wait()
        for number in range(2000):
            log.invoke("put", ("single_key", number), write_id=f"{log.client}:{number}")
            log.end("ok")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    go.set()
    while any(thread.is_alive() for thread in threads):
        found = recorder.operations()
        assert len({each.write_id for each in found}) == len(found), "an operation was told twice"
    for thread in threads:
        thread.join()
    assert len(recorder.operations()) == recorder.acknowledged == 16000


def test_real_time_orders_only_what_does_not_overlap() -> None:
    """An operation follows another if it began after the other's reply; what never ended is followed by nothing."""
    early = operation(0, "put", "single_key", "a", "0:1", 0, 1, 5, "ok")
    overlapping = operation(1, "put", "single_key", "a", "1:1", 0, 5, 9, "ok")
    late = operation(2, "put", "single_key", "a", "2:1", 0, 6, 9, "ok")
    open_ended = operation(3, "put", "single_key", "a", "3:1", 0, 1, None, "unknown")
    assert late.follows(early)
    assert not overlapping.follows(early)
    assert not late.follows(open_ended)


def test_what_goes_together_is_one_put_each_with_the_same_times_and_end() -> None:
    """A client has one request in flight, whatever the number of its records; each of them is at risk."""
    recorder = ticking()
    log = recorder.client()
    log.invoke_together([("single_key", "a"), ("hash10", "b")], write_id="0:1")
    assert [each.outcome for each in recorder.operations()] == ["unknown", "unknown"]
    with pytest.raises(RuntimeError, match="in flight"):
        log.invoke("put", ("single_key", "c"), write_id="0:2")
    log.end("ok")
    assert recorder.operations() == [
        operation(0, "put", "single_key", "a", "0:1", 0, 1, 2, "ok"),
        operation(0, "put", "hash10", "b", "0:1", 0, 1, 2, "ok"),
    ]
    assert recorder.acknowledged == 2
