"""What is said of the errors of a disk, and which calls fail first."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from storeproof.check import Anomaly, Finding
from storeproof.evidence import AuditEvidence, ErrorEvidence
from storeproof.experiments.io_errors.error_summary import ErrorSummary
from storeproof.experiments.io_errors.tried_error import TriedError, in_order
from storeproof.history import Observation, Operation
from storeproof.outcome import Outcome
from storeproof.records.beside.places import ENTRY, EXPIRY, PlaceBeside

_LOST = Finding("single_key", "k", Anomaly.LOST, "absent")
_INVENTED = Finding("single_key", "k", Anomaly.INVENTED, "something")


def summary(*tried: TriedError) -> ErrorSummary:
    found = ErrorSummary(error="eio_sync", requests=8, calls=13)
    for each in tried:
        found.add(each)
    return found


def error(call: int, *, lasting: bool = False, calls: int = 13, **what: Any) -> TriedError:
    return TriedError(ErrorEvidence(call, lasting, first=1, calls=calls), **what)


def test_each_call_fails_and_the_first_are_far_apart() -> None:
    """Whatever the time allows is spread over the load."""
    assert sorted(in_order(50, "seed")) == list(range(1, 51))
    for seed in "abcdefgh":
        assert all(after - before >= 5 for before, after in pairwise(sorted(in_order(50, seed)[:5])))
    assert in_order(0, "seed") == []


def test_another_seed_or_number_of_calls_begins_elsewhere() -> None:
    """So a claim cannot have been made of another load."""
    begins = [in_order(calls, seed)[:2] for seed in ("seed", "another") for calls in (48, 49, 50)]
    assert len({*map(tuple, begins)}) == len(begins)


def test_what_the_store_did_is_counted() -> None:
    """By its reaction and how long the error lasted; the load without an error is no error."""
    found = summary(
        error(0),
        error(1, reaction="refused"),
        error(1, lasting=True, reaction="ended"),
        error(2, calls=1),
    )
    assert found.outcome(claimed=True) is Outcome.PASS
    assert found.sentence() == (
        "of 13 syncs with EIO in its load 1 were tried alone, 1 with all later ones; it refused requests after 1, ended after 1; "
        "after each and a power cut it has every acknowledged write and works"
    )
    assert (found.counts().once.refused, found.counts().lasting.ended, found.counts().losing) == (1, 1, 0)


@pytest.mark.parametrize(
    ("tried", "claimed", "unclaimed"),
    [
        (error(2, findings=[_LOST], when="after a power cut"), Outcome.FAIL, Outcome.UNSUPPORTED),
        (error(2, broken="it refuses all writes"), Outcome.FAIL, Outcome.UNSUPPORTED),
        (error(2, broken="it ended", ended=True), Outcome.FAIL, Outcome.UNSUPPORTED),
        (error(2, findings=[_INVENTED], when="while it runs"), Outcome.FAIL, Outcome.FAIL),
    ],
    ids=["lost", "refuses", "does not start", "invented"],
)
def test_what_fails_whom(tried: TriedError, claimed: Outcome, unclaimed: Outcome) -> None:
    """A loss fails a store that claims to survive a power loss; data that no client wrote fails any."""
    found = summary(tried)
    assert (found.outcome(claimed=True), found.outcome(claimed=False)) == (claimed, unclaimed)
    assert "eio_sync of call 2" in found.sentence()
    assert [each.call for each in found.counts().failed] == [2]


def test_a_loss_without_an_error_is_said_to_be_one() -> None:
    """It is no call's."""
    found = summary(error(0, findings=[_LOST], when="after a power cut"))
    assert "without an error, after a power cut: 1 lost" in found.sentence()
    assert found.counts().failed[0].call == 0


def test_a_load_without_such_calls_shows_nothing() -> None:
    """Of a store that claims it that is open."""
    assert summary().outcome(claimed=True) is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("kind", [EXPIRY, ENTRY])
def test_a_record_is_not_read_without_what_is_beside_it(kind: PlaceBeside) -> None:
    """Neither while the disk fails nor after the cut."""
    key = kind.record_key("k")
    record = Operation(client=0, action="put", collection="kv", key=key, invoked=1, completed=2, outcome="ok", write_id="0:1")
    beside, whole = replace(record, key=kind.key(key)), Observation("whole", "0:1")

    def judged(*sent: Operation) -> TriedError:
        read = AuditEvidence(3, everything=True, seen={each.place: whole for each in sent}, gone=(), ended=4)
        tried = TriedError(ErrorEvidence(1, lasting=False, first=1, until=1, calls=1, after=read))
        tried.judge(sent, [])
        return tried

    assert judged(record, beside).holds
    for one in (record, beside):
        with pytest.raises(ValueError, match="is there without"):
            judged(one)
