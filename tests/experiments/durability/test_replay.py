"""The rounds, judged again from their evidence: the same sums as in the run, and evidence that was changed is refused."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from storeproof.contract import Layout
from storeproof.evidence import AuditEvidence, EvidenceDamaged, RoundEvidence, StoreEvidence, evidence_file, member_of, read_evidence
from storeproof.experiments.durability.durability_summary import LEAST_AT_RISK, DurabilitySummary
from storeproof.experiments.durability.replay import replay
from storeproof.experiments.durability.workloads.server_records import ServerRecords
from storeproof.experiments.fault_experiment import repeat_spoiled
from storeproof.history import ABSENT, Observation, Operation
from storeproof.outcome import Outcome
from storeproof.result.model import GuaranteeRecord
from storeproof.spec.scale import DurabilityScale
from tests.experiments.durability.memory import Handle, Store, subject
from tests.experiments.durability.servers.struck_records import rounds_of
from tests.experiments.durability.test_rounds import Late, Stillborn, Torn, Volatile
from tests.experiments.durability.test_spoiled import Killed
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
LAYOUTS = {name: Layout(f"c_{name}", MODELS[name]) for name in ("single_key", "hash10", "counter")}
SCALE = DurabilityScale(rounds=5, clients=2, load_seconds=(0.01, 0.02))


def struck(
    store: Callable[[], Store], fault: str = "process_kill", handle: type[Handle] = Handle, *, second: bool = True
) -> tuple[DurabilitySummary, list[StoreEvidence]]:
    """All rounds, on as many stores as it takes, with their evidence."""
    summary, kept = DurabilitySummary(), list[StoreEvidence]()

    def go_on() -> None:
        rounds = rounds_of(subject(handle(store()), seed=len(kept)), fault, LAYOUTS, SCALE, summary, second=second)
        assert isinstance(rounds.workload, ServerRecords)
        try:
            rounds.run()
        finally:
            kept.append(rounds.workload.evidence("durability.process_crash", "7 memory", "memory:only", cuts_off=fault == "power_cut"))

    summary.given_up = not repeat_spoiled(go_on, summary.spoiled, 50)
    return summary, kept


def written_and_read(stores: Iterable[StoreEvidence]) -> list[StoreEvidence]:
    """As a run writes it, and as it is read back."""
    return list(read_evidence(io.BytesIO(evidence_file("r1", map(member_of, stores))), "r1"))


def replayed(stores: Iterable[StoreEvidence]) -> DurabilitySummary:
    """The sums from evidence."""
    summary = DurabilitySummary()
    for each in stores:
        replay(each, summary)
    return summary


def sums(summary: DurabilitySummary) -> GuaranteeRecord:
    """What the result keeps of them, but for what only the run knows."""
    found = summary.record("process_crash", Outcome.PASS, "")
    return found.model_copy(update={"power_cut_method": None, "spoiled": 0})


@pytest.fixture(scope="module")
def lossy() -> StoreEvidence:
    """The evidence of a store that lost writes."""
    (found,) = struck(Late)[1]
    return found


@pytest.mark.parametrize(
    ("store", "fault"),
    [
        (Store, "power_cut"),
        (Late, "power_cut"),
        (Volatile, "clean_restart"),
        (Torn, "process_kill"),
        (Stillborn, "process_kill"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_evidence_gives_the_sums_of_the_run(store: type[Store], fault: str) -> None:
    """For a store that keeps all, and for every kind of loss: records, outcome and findings."""
    summary, kept = struck(store, fault)
    again = replayed(written_and_read(kept))
    assert sums(again) == sums(summary)
    for claimed in (True, False):
        assert again.outcome(claimed=claimed) == summary.outcome(claimed=claimed)
        assert again.findings_of(claimed=claimed) == summary.findings_of(claimed=claimed)


def test_spoiled_rounds_are_none_of_the_rounds_again() -> None:
    """Each spoiled store has its evidence, and the rounds on it that counted count."""
    summary, kept = struck(Store, handle=Killed, second=False)
    assert len(kept) > 1
    assert sum(each.spoiled for store in kept for each in store.rounds) == len(summary.spoiled) > 0
    assert sums(replayed(written_and_read(kept))) == sums(summary)


def test_evidence_comes_back_as_it_was_written(lossy: StoreEvidence) -> None:
    """Times count from the first round, and all else is the same."""
    store = lossy
    (again,) = written_and_read([store])
    assert (again.case, again.seed, again.target, again.cuts_off) == (store.case, store.seed, store.target, store.cuts_off)
    shift = store.operations[0].invoked - again.operations[0].invoked
    assert again.rounds[0].began > 0
    shifted = [
        replace(each, invoked=each.invoked - shift, completed=None if each.completed is None else each.completed - shift)
        for each in store.operations
    ]
    assert again.operations == shifted
    assert [each.audit and each.audit.seen for each in again.rounds] == [each.audit and each.audit.seen for each in store.rounds]
    assert [each.recovered for each in again.rounds] == [each.recovered for each in store.rounds]


def _changed(store: StoreEvidence, round_: int, **audit: object) -> StoreEvidence:
    """With another audit in one of its rounds."""
    rounds = [replace(each) for each in store.rounds]
    kept = rounds[round_].audit
    assert kept is not None
    rounds[round_].audit = replace(kept, **audit)  # type: ignore[arg-type]
    return replace(store, rounds=rounds)


def test_a_key_that_was_lost_cannot_be_left_out(lossy: StoreEvidence) -> None:
    """Which keys an audit reads follows from the history."""
    audit = lossy.rounds[0].audit
    assert audit is not None
    lost = next(place for place, each in audit.seen.items() if each == ABSENT)
    seen = {place: each for place, each in audit.seen.items() if place != lost}
    with pytest.raises(EvidenceDamaged, match=r"round 1 of .*: 1 keys were to be read back and were not"):
        replayed([_changed(lossy, 0, seen=seen)])


def test_a_round_cannot_follow_one_that_ended_the_store(lossy: StoreEvidence) -> None:
    """After a spoiled round there is another store."""
    rounds = [replace(lossy.rounds[0], spoiled=True), *lossy.rounds[1:]]
    with pytest.raises(EvidenceDamaged, match=r"round 2 of .* follows one after which there is none"):
        replayed([replace(lossy, rounds=rounds)])


def test_a_round_has_its_times_in_order(lossy: StoreEvidence) -> None:
    """A round that was copied, or put in another place, has not."""
    with pytest.raises(EvidenceDamaged, match=r"round 2 of .* has times that are not in order"):
        replayed([replace(lossy, rounds=[lossy.rounds[0], lossy.rounds[0]])])


def test_a_fault_and_an_audit_have_a_time(lossy: StoreEvidence) -> None:
    """Without one, all replies before it were unknown, or nothing were to be read back."""
    for changed in (replace(lossy.rounds[0], struck=0), replace(lossy.rounds[0], load_ended=0)):
        with pytest.raises(EvidenceDamaged, match=r"round 1 of .* has times that are not in order"):
            replayed([replace(lossy, rounds=[changed, *lossy.rounds[1:]])])
    with pytest.raises(EvidenceDamaged, match=r"round 1 of .* has times that are not in order"):
        replayed([_changed(lossy, 0, moment=0)])


def test_what_did_not_start_was_not_read_back(lossy: StoreEvidence) -> None:
    """All operations are looked at where a store does not start: once for each store."""
    changed = replace(lossy.rounds[0], unstartable=lossy.rounds[0].load_ended)
    with pytest.raises(EvidenceDamaged, match=r"round 1 of .* was read back from a store that did not start"):
        replayed([replace(lossy, rounds=[changed, *lossy.rounds[1:]])])


def test_a_round_without_an_audit_needs_a_reason(lossy: StoreEvidence) -> None:
    """It would be one that nothing was lost in."""
    rounds = [replace(lossy.rounds[0], audit=None), *lossy.rounds[1:]]
    with pytest.raises(EvidenceDamaged, match=r"round 1 of .* ended without an audit"):
        replayed([replace(lossy, rounds=rounds)])


def test_what_no_client_wrote_is_invented_again(lossy: StoreEvidence) -> None:
    """An observation that names a write which is not in the history is judged as in a run."""
    audit = lossy.rounds[0].audit
    assert audit is not None
    lost = next(place for place, each in audit.seen.items() if each == ABSENT)
    seen = {**audit.seen, lost: Observation("whole", "99:99")}
    assert replayed([_changed(lossy, 0, seen=seen)]).outcome(claimed=False) is Outcome.FAIL


@pytest.mark.parametrize(
    ("writes", "outcome", "said"),
    [
        (0, Outcome.INCONCLUSIVE, ["nothing was acknowledged before fault 1"]),
        (
            LEAST_AT_RISK - 1,
            Outcome.INCONCLUSIVE,
            ["9 operations were acknowledged before fault 1, and a fault among fewer than 10 shows little"],
        ),
        (LEAST_AT_RISK, Outcome.PASS, []),
    ],
)
def test_a_fault_among_a_few_writes_shows_little(writes: int, outcome: Outcome, said: list[str]) -> None:
    """It proves nothing, in a run and when it is judged again."""
    made = [
        Operation(
            client=0,
            action="put",
            collection="single_key",
            key=f"k{each}",
            invoked=each,
            completed=each + 1,
            outcome="ok",
            write_id=f"0:{each}",
        )
        for each in range(1, writes + 1)
    ]
    seen = {each.place: Observation("whole", each.write_id) for each in made}
    audit = AuditEvidence(moment=300, everything=True, seen=seen, gone=(), ended=400)
    round_ = RoundEvidence("burst", began=1, struck=100, load_ended=200, recovered=0.1, audit=audit)
    summary = replayed([StoreEvidence("durability.process_crash", "7", "memory:only", cuts_off=False, rounds=[round_], operations=made)])
    assert (summary.outcome(claimed=True), summary.idle) == (outcome, said)
