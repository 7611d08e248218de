"""What counts as proven: what this run has shown, and where it has shown nothing, what it cites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.result.assemble import assemble
from storeproof.result.model import Citation, OutcomeRecord
from storeproof.result.profiles import judge_profile
from storeproof.result.proof import Proof
from storeproof.result.recorder import StoreRecord
from tests.report.sample import TARGETS, sample_result
from tests.result.records import SMALL, add_proof, profile, store_record, struck

CITATION = Citation(run="r1", started="2026-11-24T10:00:00+00:00", scale="smoke", seed=1, sha256="0" * 64)


def cited(proven: str | None = "process_crash", outcomes: list[OutcomeRecord] | None = None, **operations: Outcome) -> Proof:
    """A proof of operations on `single_key`, and of a guarantee."""
    store = sample_result(TARGETS[:1]).stores[0]
    durability = store.durability.model_copy(update={"proven": proven})
    update: dict[str, Any] = {"durability": durability, "operations": {"single_key": operations}, "outcomes": outcomes or []}
    return Proof(Path("proven"), store.model_copy(update=update), CITATION)


def case(name: str, outcome: Outcome, stage: Stage = Stage.CORRECTNESS) -> OutcomeRecord:
    return OutcomeRecord(id=name, revision=1, stage=stage, outcome=outcome, detail="", seconds=0)


def record(claimed: str = "power_loss", proof: Proof | None = None) -> StoreRecord:
    found = store_record(claimed)
    found.proof = proof
    return found


def test_an_operation_that_was_correct_in_the_cited_run_may_be_measured() -> None:
    """One that was wrong there, or was not tried, may not."""
    found = record(proof=cited(get=Outcome.PASS, put=Outcome.UNDECLARED, delete=Outcome.FAIL))
    assert found.unproven("single_key", "get") is None
    assert found.unproven("single_key", "put") is None
    why = "delete on single_key was not verified in this run, and not correct (fail) in the run r1 that is cited"
    assert found.unproven("single_key", "delete") == why
    why = "exists on single_key was not verified in this run, nor in the run r1 that is cited"
    assert found.unproven("single_key", "exists") == why
    assert found.unproven("hash10", "get") == "get on hash10 was not verified in this run, nor in the run r1 that is cited"


def test_a_wrong_answer_of_this_run_is_not_outweighed_by_a_citation() -> None:
    """What was tried here decides."""
    found = record(proof=cited(get=Outcome.PASS))
    add_proof(found, "single_key", "get", Outcome.FAIL)
    assert found.unproven("single_key", "get") == "get on single_key was not correct in this run (fail)"


def test_without_a_citation_nothing_is_taken_from_elsewhere() -> None:
    """As before."""
    assert record().unproven("single_key", "get") == "get on single_key was not verified in this run"


def test_a_cited_guarantee_is_proven_and_said_to_be_cited() -> None:
    """The faults and their sums stay those of this run."""
    found = record(proof=cited("power_loss")).durability()
    assert (found.proven, found.cited, found.guarantees, found.rounds) == ("power_loss", CITATION, [], 0)
    assert found.shown == "power_loss"


@pytest.mark.parametrize(
    ("here", "proven", "is_cited"),
    [
        ([struck("clean_restart", Outcome.PASS)], "process_crash", True),  # lower, and nothing against it
        ([struck("clean_restart", Outcome.PASS), struck("process_crash", Outcome.PASS)], "process_crash", False),
        ([struck("clean_restart", Outcome.FAIL)], "volatile", False),
        ([struck("clean_restart", Outcome.PASS), struck("process_crash", Outcome.KNOWN_FAIL)], "clean_restart", False),
        ([struck("process_crash", Outcome.NOT_RUN, rounds=0)], "process_crash", True),
        ([struck("power_loss", Outcome.FAIL)], "process_crash", True),  # above what is cited
        ([struck("one_node_crash", Outcome.UNSUPPORTED)], "process_crash", True),  # beside the ladder
    ],
)
def test_faults_of_this_run_come_before_what_is_cited(here: list[Any], proven: str, is_cited: bool) -> None:
    """What they refute no citation restores; what they prove needs none."""
    found = record(proof=cited("process_crash"))
    found.guarantees = here
    durability = found.durability()
    assert (durability.proven, durability.cited is not None) == (proven, is_cited)


def test_a_citation_of_correctness_alone_proves_no_guarantee() -> None:
    """The cited run tried none."""
    found = record(proof=cited(None, get=Outcome.PASS)).durability()
    assert (found.proven, found.cited, found.shown) == (None, None, "not tried")


@pytest.mark.parametrize("claimed", ["clean_restart", "process_crash", "power_loss"])
def test_volatile_is_proven_by_itself_and_nothing_more_is(claimed: str) -> None:
    """Who promises nothing cannot break it, so its number may be compared without a fault; who claims more must have been tried."""
    found = record("volatile").durability()
    assert (found.proven, found.shown, found.cited) == ("volatile", "volatile", None)
    found = record(claimed).durability()
    assert (found.proven, found.shown) == (None, "not tried")


@pytest.mark.parametrize("claimed", ["volatile", "clean_restart"])
def test_nothing_is_proven_of_a_store_that_was_never_reached(claimed: str) -> None:
    """Not even that it promises nothing, and whatever else the record says."""
    found = record(claimed)
    found.version = None
    assert found.durability().proven is None
    found.guarantees = [struck("clean_restart", Outcome.PASS)]
    assert found.durability().proven is None


def test_a_volatile_store_that_keeps_more_has_what_it_kept() -> None:
    """Where a fault was tried, it says more than the claim."""
    found = record("volatile")
    found.guarantees = [struck("clean_restart", Outcome.UNDECLARED)]
    assert found.durability().proven == "clean_restart"


def test_the_result_has_operations_of_its_own_run_alone() -> None:
    """By model, the worst of each; so a citation of a citation finds nothing."""
    found = record(proof=cited(get=Outcome.PASS))
    found.binary_digest = "sha256:ab"
    add_proof(found, "single_key", "put", Outcome.PASS)
    add_proof(found, "single_key", "put", Outcome.INCONCLUSIVE)
    add_proof(found, "counter", "increment", Outcome.UNDECLARED)
    result = assemble(found, [], SMALL)
    assert result.operations == {"counter": {"increment": Outcome.UNDECLARED}, "single_key": {"put": Outcome.INCONCLUSIVE}}
    assert (result.cites, result.durability.cited, result.binary_digest) == (CITATION, CITATION, "sha256:ab")
    assert result.outcomes == []
    assert sum(result.counts.values()) == 0
    assert assemble(record(), [], SMALL).cites is None


def test_a_case_that_this_run_did_not_try_is_looked_up_in_the_proof() -> None:
    """Of cases of correctness: one that this run tried is its own, also a wrong one."""
    there = [case("a", Outcome.PASS), case("b", Outcome.PASS), case("c", Outcome.EXCLUDED), case("d", Outcome.PASS, Stage.DURABILITY)]
    found = record(proof=cited(outcomes=there))
    found.outcomes = [case("a", Outcome.FAIL), case("b", Outcome.EXCLUDED), case("c", Outcome.EXCLUDED)]
    assert [(each.id, each.outcome) for each in found.verified()] == [("a", "fail"), ("c", "excluded"), ("b", "pass")]
    assert record().verified() == []


def test_a_profile_rests_on_this_run_alone() -> None:
    """To conform is to be shown, and a citation shows nothing here."""
    found = record("process_crash", proof=cited("process_crash"))
    found.outcomes = [case("x", Outcome.PASS)]
    assert "guarantee process_crash: not_run" in map(str, judge_profile(profile(), found, SMALL).missing)
