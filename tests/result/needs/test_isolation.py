"""A need of an isolation guarantee: which levels claim as much, and what the transactions of the results say of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from storeproof.check import FORBIDS, is_at_least
from storeproof.outcome import Outcome
from storeproof.result.model import OutcomeRecord
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict
from storeproof.spec.isolation import Guarantees
from tests.result.needs.levels import MIXES, level_case, level_cases, seen
from tests.result.needs.needed import decided, judgement, known, needs
from tests.shipped import SHIPPED

POSTGRESQL = "postgresql:synchronous-commit-on"
"""Claims read committed, snapshot isolation at repeatable_read, and serializable."""


def judged(wanted: Guarantees, *cases: OutcomeRecord, target: str = POSTGRESQL, **about: Any) -> JudgedNeed:
    """What is said of the need by a result with these cases."""
    return judgement(decided(needs(isolation=wanted), known(target, cases=cases), **about), "isolation")


def test_the_weakest_level_that_claims_as_much_and_is_not_refuted_is_named() -> None:
    """With what it claims, and of how many transactions."""
    at_both = [*level_cases("repeatable_read", guarantees="snapshot_isolation"), *level_cases("serializable")]
    found = judged("snapshot_isolation", *at_both)
    assert (found.verdict, found.need.title) == (NeedVerdict.MET, "snapshot isolation")
    assert found.reason == "begin(repeatable_read): not refuted by 1,200 transactions, 1,000 of them contended"
    assert [each.what for each in found.seen] == [f"transactions.isolation/repeatable_read/{mix}" for mix in MIXES]
    serializable = judged("serializable", *at_both)
    assert serializable.reason.startswith("begin(serializable): not refuted by 1,200")
    assert serializable.need.title == "serializable isolation"


def test_an_anomaly_that_the_need_forbids_refutes_the_level() -> None:
    """It is named, with how soon it was seen; another level that claims as much may still do."""
    detail = "not serializable: write skew (G2-item), first after 21 commits, in 300 transactions, 250 of them contended"
    failing = level_case("serializable", MIXES[0], Outcome.FAIL, seen("G2-item"), detail=detail)
    others = level_cases("serializable", MIXES[1:])
    found = judged("serializable", failing, *others)
    assert found.verdict is NeedVerdict.NOT_MET
    assert found.reason == f"begin(serializable): fail: {detail}"
    snapshot = judged("snapshot_isolation", failing, *others, *level_cases("repeatable_read", guarantees="snapshot_isolation"))
    assert (snapshot.verdict, "begin(repeatable_read)" in snapshot.reason) == (NeedVerdict.MET, True)


def test_a_claim_that_is_refuted_by_what_the_need_allows_shows_nothing() -> None:
    """The level has broken its word, though nothing was seen that would rule it out here. No command would show more."""
    failing = level_case("serializable", MIXES[0], Outcome.FAIL, seen("G2-item"), detail="not serializable: write skew")
    found = judged("snapshot_isolation", failing, *level_cases("serializable", MIXES[1:]), target="sqlite:wal-full")
    assert (found.verdict, found.command) == (NeedVerdict.NOT_SHOWN, "")
    assert found.reason.startswith("begin(serializable), which claims serializable: ")
    assert found.reason.endswith("fail: not serializable: write skew; snapshot isolation allows that")


def test_wrong_data_rules_a_level_out_for_any_need() -> None:
    """It fails without an anomaly."""
    failing = level_case("serializable", MIXES[0], Outcome.FAIL, detail="data that no client wrote was read: k1 is torn")
    found = judged("read_committed", failing, *level_cases("serializable", MIXES[1:]), target="sqlite:wal-full")
    assert (found.verdict, "k1 is torn" in found.reason) == (NeedVerdict.NOT_MET, True)


@pytest.mark.parametrize("outcome", [Outcome.INCONCLUSIVE, Outcome.NOT_RUN, Outcome.EXCLUDED, Outcome.ERROR])
def test_each_mix_must_say_something(outcome: Outcome) -> None:
    """A mix that was not tried, or too little, leaves the level open; the command tries it."""
    found = judged("serializable", level_case("serializable", MIXES[0], outcome), *level_cases("serializable", MIXES[1:]))
    assert found.verdict is NeedVerdict.NOT_SHOWN
    assert found.reason == f"no result says anything of begin(serializable) by {MIXES[0]}"
    assert found.command == f"pytest suites/ --store={POSTGRESQL} --scale=standard -k transactions.isolation/serializable/"
    nothing = judged("serializable")
    assert (nothing.verdict, nothing.command) == (NeedVerdict.NOT_SHOWN, found.command)
    assert nothing.reason == "no result says anything of begin(serializable)"


def test_a_mix_that_a_store_cannot_be_tried_by_is_not_demanded() -> None:
    """One that does not append is tried by the others; one that refuses the level is not met."""
    unsupported = [level_case("serializable", mix, Outcome.UNSUPPORTED, detail="it does not append") for mix in MIXES]
    none = [each.model_copy(update={"isolation": None}) for each in unsupported]
    assert judged("serializable", none[0], *level_cases("serializable", MIXES[1:])).reason.endswith(
        "not refuted by 900 transactions, 750 of them contended"
    )
    refused = judged("serializable", *none)
    assert (refused.verdict, refused.reason.endswith(": it does not append")) == (NeedVerdict.NOT_MET, True)


def test_reads_at_several_nodes_are_another_question() -> None:
    """A long fork between nodes says nothing of a level at one of them, and a single server has none."""
    nodes = level_case("serializable", "across-nodes", Outcome.PASS, seen("G-nonadjacent", forbidden=False))
    assert judged("serializable", nodes, *level_cases("serializable")).verdict is NeedVerdict.MET


def test_what_no_level_claims_is_not_met() -> None:
    """Whatever was seen; the reason says what is claimed instead. A level that orders clients in time is claimed by none of these."""
    found = judged("strict_serializable", *level_cases("serializable"))
    assert found.verdict is NeedVerdict.NOT_MET
    assert found.reason == (
        "no level of it claims as much: begin(read_committed) read committed, begin(repeatable_read) snapshot isolation, "
        "begin(serializable) serializable"
    )
    assert judged("serializable", target="memcached:volatile").reason == "it claims no isolation level"


def test_a_store_without_a_file_is_judged_by_what_its_results_claim() -> None:
    """Without either, nothing is known."""
    assert judged("snapshot_isolation", *level_cases("serializable"), target="own:x").verdict is NeedVerdict.MET
    found = judged("snapshot_isolation", target="own:x")
    assert (found.verdict, found.reason) == (
        NeedVerdict.NOT_SHOWN,
        "neither a file of it nor a result says what its levels guarantee",
    )


def test_a_claim_that_was_raised_since_is_held_against_what_was_seen() -> None:
    """The case passed, since its level claimed less then."""
    passed = level_case("serializable", MIXES[0], Outcome.PASS, seen("lost-update", forbidden=False), guarantees="read_committed")
    found = judged("serializable", passed, *level_cases("serializable", MIXES[1:]))
    assert found.verdict is NeedVerdict.NOT_MET


def test_an_edition_without_such_cases_is_judged_by_those_of_the_draft() -> None:
    """And the command tries the draft."""
    older = replace(SHIPPED, mixes={})
    assert judged("serializable", *level_cases("serializable"), spec=older).verdict is NeedVerdict.MET
    found = judged("serializable", *level_cases("serializable", MIXES[1:]), spec=older)
    assert (found.verdict, "--edition" in found.command) == (NeedVerdict.NOT_SHOWN, False)


def test_levels_are_ordered_by_what_they_forbid() -> None:
    """Not all of them: one may order clients in time, and another one forbid write skew."""
    assert all(is_at_least(level, "read_committed") for level in FORBIDS)
    assert is_at_least("strict_serializable", "strong_snapshot_isolation")
    assert not is_at_least("serializable", "strong_snapshot_isolation")
    assert not is_at_least("strong_snapshot_isolation", "serializable")
