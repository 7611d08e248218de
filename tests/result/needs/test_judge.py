"""Each kind of need is met, missed by how much, or not shown with what would show it."""

from __future__ import annotations

import pytest

from storeproof.outcome import Outcome
from storeproof.result.needs.judged_need import NeedVerdict
from tests.report.sample import sample_outage
from tests.result.needs.needed import SHAPE, capability, case, decided, judgement, known, needs, struck
from tests.shipped import SHIPPED

EXPIRY = "expiry.put-expiring"


def test_random_histories_show_a_model() -> None:
    """A wrong answer in them refutes it, and without them it is not shown."""
    met, wrong = known("redis:aof-always", cases=[SHAPE]), known("redis:aof-always", cases=[case("stateful.single_key", Outcome.FAIL)])
    assert judgement(decided(needs(), met), "model").verdict is NeedVerdict.MET
    assert judgement(decided(needs(), wrong), "model").verdict is NeedVerdict.NOT_MET
    open_ = judgement(decided(needs(), known("redis:aof-always")), "model")
    assert open_.verdict is NeedVerdict.NOT_SHOWN
    assert open_.command == ("pytest suites/ --store=redis:aof-always --scale=standard -k stateful.single_key/")


def test_a_model_that_is_not_claimed_is_missed() -> None:
    """Models that a store's file does not claim are never tried, so no command would show them."""
    found = judgement(decided(needs(model="document10"), known("memcached:volatile")), "model")
    assert (found.verdict, found.command) == (NeedVerdict.NOT_MET, "")
    assert found.reason == "its file does not claim records of document10"


def test_a_capability_is_shown_by_all_of_its_cases() -> None:
    """One refusal refutes it; one case without an outcome leaves it open."""
    cases = capability(EXPIRY)
    assert judgement(decided(needs(must=[EXPIRY]), known("redis:volatile", cases=cases)), "capability").verdict is NeedVerdict.MET
    refused = judgement(decided(needs(must=[EXPIRY]), known("redis:volatile", cases=capability(EXPIRY, Outcome.UNSUPPORTED))), "capability")
    assert (refused.verdict, refused.reason) == (NeedVerdict.NOT_MET, "the detail")
    open_ = judgement(decided(needs(must=[EXPIRY]), known("redis:volatile", cases=cases[1:])), "capability")
    assert (open_.verdict, open_.reason) == (NeedVerdict.NOT_SHOWN, "was not tried")
    assert open_.command.endswith(f"-k {EXPIRY}/")


@pytest.mark.parametrize("outcome", [Outcome.NOT_RUN, Outcome.EXCLUDED, Outcome.INCONCLUSIVE, Outcome.ERROR])
def test_an_outcome_that_says_nothing_is_no_evidence(outcome: Outcome) -> None:
    """Neither for the store nor against it."""
    store = known("redis:volatile", cases=capability(EXPIRY, outcome))
    assert judgement(decided(needs(must=[EXPIRY]), store), "capability").verdict is NeedVerdict.NOT_SHOWN


def test_a_case_of_an_earlier_revision_is_no_evidence() -> None:
    """Its question has changed since."""
    stale = [each.model_copy(update={"revision": each.revision + 1}) for each in capability(EXPIRY)]
    found = judgement(decided(needs(must=[EXPIRY]), known("redis:volatile", cases=stale)), "capability")
    assert (found.verdict, found.reason) == (NeedVerdict.NOT_SHOWN, "was tried in an earlier form of its case")


def test_a_group_is_all_of_its_capabilities() -> None:
    """What is missing of it is named."""
    every = _all("counters")
    others, last = [each for name in every[:-1] for each in capability(name)], every[-1]
    broken = known("redis:volatile", cases=[*others, *capability(last, Outcome.FAIL)])
    lacking = judgement(decided(needs(must=["counters"]), broken), "capability")
    assert lacking.verdict is NeedVerdict.NOT_MET
    assert lacking.reason == f"1 of {len(every)} capabilities: {last}; {last}: fail: the detail"
    open_ = judgement(decided(needs(must=["counters"]), known("redis:volatile", cases=others)), "capability")
    assert open_.reason == f"1 of {len(every)} not tried, such as {last}"


def test_one_of_several_ways_is_enough() -> None:
    """The nearest of them is told where none is met."""
    wanted = {"any_of": ["counters.increment", EXPIRY]}
    both = [*capability("counters.increment", Outcome.FAIL), *capability(EXPIRY)]
    met = judgement(decided(needs(must=[wanted]), known("redis:volatile", cases=both)), "capability")
    title = "store a record with a time to live"
    assert (met.verdict, met.way) == (NeedVerdict.MET, f"{EXPIRY} ({title})")
    assert met.reason == f"by {met.way}: 3 cases answered correctly"
    one = known("redis:volatile", cases=capability("counters.increment", Outcome.FAIL))
    assert judgement(decided(needs(must=[wanted]), one), "capability").verdict is NeedVerdict.NOT_SHOWN
    none = [*capability("counters.increment", Outcome.FAIL), *capability(EXPIRY, Outcome.UNSUPPORTED)]
    missed = judgement(decided(needs(must=[wanted]), known("redis:volatile", cases=none)), "capability")
    assert (missed.verdict, missed.way) == (NeedVerdict.NOT_MET, "")


def test_a_guarantee_holds_with_all_below_it() -> None:
    """A loss refutes it, with the counts; a variant that promises less is no candidate for it."""
    ladder = [struck("clean_restart"), struck("process_crash")]
    held = judgement(decided(needs(guarantee="process_crash"), known("redis:aof-always", faults=ladder)), "guarantee")
    assert (held.verdict, held.reason) == (NeedVerdict.MET, "none of 15,840 acknowledged writes lost in 20 faults")
    lost = known("redis:aof-always", faults=[ladder[0], struck("process_crash", 7)])
    missed = judgement(decided(needs(guarantee="process_crash"), lost), "guarantee")
    assert (missed.verdict, missed.reason) == (
        NeedVerdict.NOT_MET,
        "process_crash: 9 of 15,840 acknowledged writes lost (< 1 %) in 20 faults",
    )
    open_ = judgement(decided(needs(guarantee="power_loss"), known("redis:aof-always", faults=ladder)), "guarantee")
    assert (open_.verdict, open_.reason) == (NeedVerdict.NOT_SHOWN, "power_loss was not tried")
    less = known("redis:volatile", faults=ladder[:1], claimed="clean_restart")
    assert judgement(decided(needs(guarantee="power_loss"), less), "guarantee").reason == "the variant promises clean_restart and no more"


def test_a_guarantee_is_not_met_where_what_belongs_to_records_is_lost() -> None:
    """Times to live, say; a higher guarantee than the wanted one does not matter, and neither does what no result has tried."""
    ladder = [struck("clean_restart"), struck("process_crash")]
    lost = case("durability.metadata/process_crash", Outcome.FAIL, detail="not kept through one process_crash: times to live: gone\nmore")
    stores = known("redis:aof-always", faults=ladder, cases=[lost])
    missed = judgement(decided(needs(guarantee="process_crash"), stores), "guarantee")
    assert (missed.verdict, missed.reason) == (NeedVerdict.NOT_MET, "not kept through one process_crash: times to live: gone")
    assert missed.seen[-1].what == lost.id
    assert judgement(decided(needs(guarantee="clean_restart"), stores), "guarantee").verdict is NeedVerdict.MET


@pytest.mark.parametrize(
    ("most", "verdict"),
    [
        (0, NeedVerdict.NOT_MET),
        (6, NeedVerdict.NOT_MET),
        (7, NeedVerdict.MET),
        ("12ms", NeedVerdict.NOT_MET),
        ("13ms", NeedVerdict.MET),
        ("1s", NeedVerdict.MET),
    ],
)
def test_losses_are_bounded_in_writes_or_in_time(most: object, verdict: NeedVerdict) -> None:
    """The worst fault lost seven writes of the last 12.5 ms."""
    store = known("redis:aof-everysec", faults=[struck("power_loss", 7)])
    found = judgement(decided(needs(lost_at_most={"power_loss": most}), store), "loss")
    assert (found.verdict, found.reason) == (verdict, "the worst fault lost 7 writes of the last 12.5 ms")


@pytest.mark.parametrize("changed", [{"resurrected": 1}, {"reverted": 1}, {"miscounted": 1}, {"split": 1}, {"torn": 1}, {"invented": 1}])
def test_wrong_data_is_no_bounded_loss(changed: dict[str, int]) -> None:
    """A store that serves what was removed has not lost its last second."""
    store = known("redis:aof-everysec", faults=[struck("power_loss", **changed)])
    assert judgement(decided(needs(lost_at_most={"power_loss": "1h"}), store), "loss").verdict is NeedVerdict.NOT_MET


def test_holes_are_no_bounded_loss() -> None:
    """Writes that are missing although later ones are there are not the last ones."""
    hurt = struck("power_loss", 7)
    assert hurt.worst_loss is not None
    holes = hurt.model_copy(update={"worst_loss": hurt.worst_loss.model_copy(update={"shape": "holes"})})
    assert (
        judgement(decided(needs(lost_at_most={"power_loss": "1h"}), known("redis:rdb", faults=[holes])), "loss").verdict
        is NeedVerdict.NOT_MET
    )


def test_the_way_back_is_the_one_that_clients_saw() -> None:
    """Of a crash under load."""
    store = known("redis:aof-always", outages=[sample_outage("pause"), sample_outage("crash", unavailable_seconds=2.5)])
    assert judgement(decided(needs(back_within="3s"), store), "back").verdict is NeedVerdict.MET
    late = judgement(decided(needs(back_within="2s"), store), "back")
    assert (late.verdict, late.reason) == (NeedVerdict.NOT_MET, "unavailable for 2.5 s after a crash")
    assert judgement(decided(needs(back_within="2s"), known("redis:aof-always")), "back").verdict is NeedVerdict.NOT_SHOWN


def _all(group: str) -> list[str]:
    return [name for name in SHIPPED.capabilities if name.startswith(f"{group}.")]
