"""A claim is held against the errors of its disk: true ones are accepted, and each forgery is refused for its own reason."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from storeproof.conformance.histories.durability import JudgedAgain, check_durability
from storeproof.conformance.histories.io_errors import JudgedErrors
from storeproof.conformance.reasons import ClaimRefused
from storeproof.evidence import EVIDENCE, EvidenceDamaged, StoreEvidence, evidence_file, member_of, read_evidence
from storeproof.experiments.io_errors.tried_error import in_order
from storeproof.history import ABSENT, Observation, Seen
from storeproof.outcome import Outcome
from storeproof.result.model import OutcomeRecord
from storeproof.spec.cases import io_errors_case
from tests.conformance.io_errors.failing_log import CASE, ERROR, REQUESTS, TARGET, Claim, FailingLog, counted, made, seed
from tests.conformance.published import published
from tests.shipped import SHIPPED

KNOWN: Any = SimpleNamespace(spec=SHIPPED, scale=lambda _: SHIPPED.scales["smoke"], disputed=frozenset())


@pytest.fixture(scope="module")
def true() -> Claim:
    return made(lies=False)


@pytest.fixture(scope="module")
def losing() -> Claim:
    return made(lies=True)


def refused(claim: Claim, seconds: float = 3600.0) -> str:
    """Why a bundle with it is refused; empty where it is not. The evidence is written and read as in one."""
    result = published()
    content = evidence_file(result.run.id, map(member_of, claim.attempts))
    update = {"id": CASE, "outcome": claim.outcome, "seconds": seconds, "spoiled": claim.spoiled, "io_errors": claim.counts}
    record = result.stores[0].outcomes[0].model_copy(update=update)
    judged = JudgedErrors(result.run, result.stores[0].model_copy(update={"outcomes": [record]}), TARGET, KNOWN)
    try:
        taken = [judged.take(each) for each in read_evidence(io.BytesIO(content), result.run.id)]
        judged.check()
    except (ClaimRefused, EvidenceDamaged) as reason:
        return str(reason)
    assert taken == [True] * len(claim.attempts)
    return ""


def test_true_errors_are_accepted(true: Claim, losing: Claim) -> None:
    """Of a store that refuses what fails, and of one that acknowledges it."""
    assert refused(true) == ""
    assert (true.counts.once.refused, true.counts.lasting.refused, true.counts.losing) == (REQUESTS, REQUESTS, 0)
    assert refused(losing) == ""
    assert (losing.counts.once.went_on, losing.counts.losing) == (REQUESTS, 2 * REQUESTS)


def test_calls_may_be_left_out_for_want_of_time_alone(true: Claim) -> None:
    """The last ones, after the time of the scale."""
    fewer = deepcopy(true)
    left_out(fewer, len(fewer.tried) - 2)
    assert refused(counted(fewer)) == ""
    wanted = SHIPPED.scales["smoke"].durability.io_errors.seconds
    assert f"left out calls after 0.01 s, where the scale has {wanted:g} s" in refused(fewer, seconds=0.01)


def test_a_spoiled_store_is_followed_by_one_on_which_other_calls_fail() -> None:
    """The call in which it was spoiled is not tried again."""
    claim, first, second = spoiled_once(), *map(seed, range(2))
    assert refused(claim) == ""
    again = deepcopy(claim)
    call = in_order(REQUESTS, first)[1]
    other = next(each for each in in_order(REQUESTS, second) if each not in in_order(REQUESTS, first)[:2])
    again.tried[1:3] = [replace(each, call=call) for each in again.tried[1:3]]
    assert f"the error of call {call} of {CASE} is where the error of call {other} was due" in refused(again)
    says = {
        0: "was due",
        2: "is pass in the result, and inconclusive by its errors",
        3: "has 2 attempts in the evidence, and 3 that were spoiled",
    }
    for spoiled, refusal in says.items():
        claim.spoiled = spoiled
        assert refusal in refused(claim)


def spoiled_once() -> Claim:
    """The first store within its second call."""
    stores = []
    first = in_order(REQUESTS, seed())
    for attempt, calls in enumerate((first[:1], [call for call in in_order(REQUESTS, seed(1)) if call not in first[:2]])):
        store = FailingLog(lies=False)
        errors = store.attempt(ERROR, calls)
        stores.append(StoreEvidence(CASE, seed(attempt), TARGET.id, cuts_off=True, operations=store.sent, errors=errors))
    return counted(Claim(stores, made(lies=False).counts, Outcome.PASS, spoiled=1))


def left_out(claim: Claim, number: int, many: int = 2) -> None:
    """Some errors, with all that was sent under them; the numbers of later clients move up."""
    gone = claim.tried[number : number + many]
    begin, end = gone[0].first, gone[-1].until + 1

    def moved(client: int) -> int:
        return client - (end - begin) if client >= end else client

    kept = [each for each in claim.evidence.operations if not begin <= each.client < end]
    claim.evidence.operations = [replace(each, client=moved(each.client)) for each in kept]
    del claim.tried[number : number + many]
    claim.tried[number:] = [replace(each, first=moved(each.first), until=moved(each.until)) for each in claim.tried[number:]]


def dropped(claim: Claim) -> None:
    """One call, both ways."""
    left_out(claim, 3)


def dropped_alone(claim: Claim) -> None:
    """One of the two ways."""
    left_out(claim, 4, 1)


def dropped_at_the_end(claim: Claim) -> None:
    """And what was sent under it is still there."""
    del claim.tried[-2:]


def relabelled(claim: Claim) -> None:
    """It lasted, and is said not to have."""
    claim.tried[4] = replace(claim.tried[4], lasting=False)


def renumbered(claim: Claim) -> None:
    """Another call failed, both ways."""
    claim.tried[3:5] = [replace(each, call=each.call % REQUESTS + 1) for each in claim.tried[3:5]]


def fewer_calls(claim: Claim) -> None:
    """Fewer could have failed."""
    claim.tried[:] = [replace(each, calls=REQUESTS - 1) for each in claim.tried]


def more_calls(claim: Claim) -> None:
    """Not all of them were tried then."""
    claim.tried[:] = [replace(each, calls=REQUESTS + 1) for each in claim.tried]


def duplicated(claim: Claim) -> None:
    """Two errors once more, in place of the next two; with requests of their own."""
    claim.tried[5:7] = [replace(each, call=claim.tried[3].call) for each in claim.tried[5:7]]


def twice(claim: Claim) -> None:
    """An error with the clients of the one before it."""
    claim.tried[5] = replace(claim.tried[5], first=claim.tried[4].first, until=claim.tried[4].until)


def moved_in_time(claim: Claim) -> None:
    """The last look comes before the last request."""
    error = claim.tried[1]
    own = [each for each in claim.evidence.operations if each.client == error.first]
    known = {each.place for each in own[:-1]} | {each.place for each in claim.evidence.operations if each.client == 0}
    looks = [
        replace(each, moment=own[-2].invoked, seen={key: what for key, what in each.seen.items() if key in known}) for each in error.looks
    ]
    assert error.after is not None
    claim.tried[1] = replace(error, looks=looks, after=replace(error.after, moment=own[-2].invoked))


def not_read(claim: Claim) -> None:
    """One key after the power cut."""
    error = claim.tried[1]
    assert error.after is not None
    seen = dict(error.after.seen)
    seen.popitem()
    claim.tried[1] = replace(error, after=replace(error.after, seen=seen))


def nothing_read(claim: Claim) -> None:
    claim.tried[1] = replace(claim.tried[1], after=None)


def did_not_work(claim: Claim) -> None:
    """What it took when the disk worked again is not there."""
    claim.evidence.operations = [each for each in claim.evidence.operations if each.client != claim.tried[1].until]


def other_requests(claim: Claim, which: int = 0) -> None:
    """One of another load."""
    error, operations = claim.tried[1], claim.evidence.operations
    number = [number for number, each in enumerate(operations) if each.client == error.first][which]
    operations[number] = replace(operations[number], action="delete", write_id="", completed=operations[number].invoked + 1, outcome="ok")
    gone: dict[Any, Seen] = {operations[number].place: ABSENT}
    assert error.after is not None
    error.after = replace(error.after, seen={**error.after.seen, **gone})
    error.looks = [replace(each, seen={**each.seen, **gone}) for each in error.looks]


def partly_unheard(claim: Claim) -> None:
    """Two records are written together, and of one it is said that the reply was lost."""
    sent = claim.evidence.operations
    sent[1] = replace(sent[0], key=sent[1].key).without_reply()


def of_another_seed(claim: Claim) -> None:
    claim.evidence.seed = seed(1)


def of_another_case(claim: Claim) -> None:
    """All errors of another kind, under the seed of this one."""
    other = made(lies=False, error="eio_write")
    claim.attempts = [replace(other.evidence, case=CASE, seed=seed())]


def of_another_kind(claim: Claim) -> None:
    """The same, and they are said to be of this one."""
    of_another_case(claim)
    assert claim.evidence.errors is not None
    claim.evidence.errors.error = ERROR


def all_gone(claim: Claim) -> None:
    claim.attempts = []


class Forgery(NamedTuple):
    """One forged claim."""

    forge: Callable[[Claim], None]
    says: str


FORGERIES = (
    Forgery(dropped, "was due"),
    Forgery(dropped_alone, "and all later ones was due"),
    Forgery(dropped_at_the_end, "has clients of an error that is left out"),
    Forgery(relabelled, "and all later ones was due"),
    Forgery(renumbered, "was due"),
    Forgery(fewer_calls, "was due"),
    Forgery(more_calls, "was due"),
    Forgery(duplicated, "was due"),
    Forgery(twice, "its clients are not those that follow on the ones before"),
    Forgery(moved_in_time, "it was not read when all was sent"),
    Forgery(not_read, "not all keys were read after the power cut"),
    Forgery(nothing_read, "nothing was read after the power cut, and nothing says why"),
    Forgery(did_not_work, "it is said to have worked when the disk did, and nothing was acknowledged"),
    Forgery(other_requests, "its requests are not those of the load without an error"),
    Forgery(partly_unheard, "not all parts of one request have the same reply"),
    Forgery(of_another_seed, "the claim's of sqlite:wal-full with"),
    Forgery(of_another_case, "are not those of one kind on one store"),
    Forgery(of_another_kind, "was due"),
    Forgery(all_gone, "has 0 attempts in the evidence"),
)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda each: each.forge.__name__)
def test_a_forgery_is_refused_by_name(forgery: Forgery, true: Claim) -> None:
    """Whatever the result counts is counted again where that is possible."""
    claim = deepcopy(true)
    forgery.forge(claim)
    said = refused(claim)
    assert forgery.says in said, said


def test_what_was_lost_cannot_be_read_again(losing: Claim) -> None:
    """The record that was acknowledged."""
    claim = deepcopy(losing)
    assert claim.tried[1].after is not None
    ids = {each.place: each.write_id for each in claim.evidence.operations}
    seen: dict[Any, Seen] = {place: Observation("whole", ids[place]) for place in claim.tried[1].after.seen}
    claim.tried[1] = replace(claim.tried[1], after=replace(claim.tried[1].after, seen=seen))
    assert f"losing is {2 * REQUESTS} in the result, and {2 * REQUESTS - 1} by its errors" in refused(claim)


def test_what_was_found_is_what_was_lost(losing: Claim) -> None:
    """By kind: a loss is no broken start."""
    claim = deepcopy(losing)
    assert claim.counts.kinds["lost"] == claim.counts.losing
    claim.counts = claim.counts.model_copy(update={"kinds": {"unusable": claim.counts.losing}})
    assert "kinds is {'unusable': " in refused(claim)


def test_an_acknowledgement_cannot_be_taken_back(losing: Claim) -> None:
    """Then nothing was lost, but a client was told, and the result says that none was."""
    claim = deepcopy(losing)
    error = claim.tried[1]
    number = next(number for number, each in enumerate(claim.evidence.operations) if each.write_id == f"{error.first}:{error.call}")
    claim.evidence.operations[number] = claim.evidence.operations[number].without_reply()
    claim.counts = claim.counts.model_copy(update={"losing": claim.counts.losing - 1, "failed": claim.counts.failed[1:]})
    said = refused(claim)
    assert "once is" in said
    assert "'refused': 1" in said


@pytest.mark.parametrize(("reaction", "instead"), [("refused", "went_on"), ("refused", "read_only")])
def test_a_reaction_is_that_of_the_history(reaction: str, instead: str, true: Claim) -> None:
    """Not what the result calls it."""
    claim = deepcopy(true)
    once = claim.counts.once
    changed = once.model_copy(update={reaction: getattr(once, reaction) - 1, instead: getattr(once, instead) + 1})
    claim.counts = claim.counts.model_copy(update={"once": changed})
    assert "once is" in refused(claim)


def test_a_failure_cannot_pass(losing: Claim) -> None:
    """Nor be known where the store's file knows none."""
    claim = deepcopy(losing)
    claim.outcome = Outcome.PASS
    assert f"{CASE} is pass in the result, and fail by its errors" in refused(claim)


def test_a_client_that_lost_its_connection_may_send_others(true: Claim) -> None:
    """It numbers its groups again."""
    claim = deepcopy(true)
    operations = claim.evidence.operations
    number = next(number for number, each in enumerate(operations) if each.client == claim.tried[1].first)
    operations[number] = operations[number].without_reply()
    other_requests(claim, 1)
    assert refused(counted(claim)) == ""


def test_they_are_judged_with_the_histories_of_a_bundle(true: Claim) -> None:
    """And the answer says how many."""
    result = published()
    content = evidence_file(result.run.id, map(member_of, true.attempts))
    run = result.run.model_copy(update={"evidence": hashlib.sha256(content).hexdigest()})
    update = {"id": CASE, "outcome": Outcome.PASS, "seconds": 3600.0, "spoiled": 0, "io_errors": true.counts}
    record = result.stores[0].outcomes[0].model_copy(update=update)
    kept = result.stores[0].durability.model_copy(update={"guarantees": []})
    archive: Any = SimpleNamespace(places={EVIDENCE: content}, read=lambda _: content, digest=lambda _: run.evidence)
    judge: Any = SimpleNamespace(reach=True, parts=True, workloads=True)

    def judged(record: OutcomeRecord) -> JudgedAgain:
        store = result.stores[0].model_copy(update={"outcomes": [record], "durability": kept})
        return check_durability(run, store, TARGET, archive, KNOWN, judge)

    assert judged(record).states == (f"{CASE}: {2 * REQUESTS} errors judged again",)
    with pytest.raises(ClaimRefused, match=r"there are errors of .* and the result counts none"):
        judged(record.model_copy(update={"io_errors": None}))


def test_errors_of_no_such_case() -> None:
    """They are none of a run."""
    judged = JudgedErrors(published().run, published().stores[0], TARGET, KNOWN)
    (part,) = made(lies=False).attempts
    part.case = io_errors_case("none")
    with pytest.raises(EvidenceDamaged, match="there are errors of a disk of"):
        judged.take(part)
