"""A guarantee that is claimed and not kept is the store's own defect, and is named with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.result.model import Citation, OutcomeRecord, StoreResult
from storeproof.result.proof import defect_of
from tests.report.sample import TARGETS, sample_result

ISSUE = "known until 2027-05-31: the old log is not synced"


def store(proven: str | None, outcomes: dict[str, Outcome], claimed: str = "power_loss", **durability: Any) -> StoreResult:
    """A store whose guarantees ended so."""
    found = sample_result(TARGETS[:1]).stores[0]
    records = [
        OutcomeRecord(
            id=f"durability.{name}", revision=1, stage=Stage.DURABILITY, outcome=each, detail=f"{ISSUE}\nfault 1: lost", seconds=1
        )
        for name, each in outcomes.items()
    ]
    kept = found.durability.model_copy(update={"claimed": claimed, "proven": proven, **durability})
    return found.model_copy(update={"durability": kept, "outcomes": records})


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.KNOWN_FAIL, Outcome.UNSUPPORTED])
def test_the_next_guarantee_is_named_with_its_issue(outcome: Outcome) -> None:
    """The first line of its detail: of a known failure that is what the store's file says."""
    assert defect_of(store("process_crash", {"power_loss": outcome})) == f"power_loss is claimed and not kept: {ISSUE}"


@pytest.mark.parametrize(
    "found",
    [
        store("power_loss", {"power_loss": Outcome.PASS}),
        store("process_crash", {"power_loss": Outcome.UNSUPPORTED}, claimed="process_crash"),
        store("process_crash", {"power_loss": Outcome.NOT_RUN}),
        store("process_crash", {"power_loss": Outcome.INCONCLUSIVE}),
        store("clean_restart", {"process_crash": Outcome.NOT_RUN, "power_loss": Outcome.FAIL}),
        store(None, {"power_loss": Outcome.FAIL}),
    ],
    ids=["kept", "not-claimed", "not-run", "open", "next-not-tried", "nothing-proven"],
)
def test_what_was_not_refuted_is_no_defect(found: StoreResult) -> None:
    """What was kept, is not claimed, or was not tried speaks against no store."""
    assert defect_of(found) == ""


def test_a_cited_defect_is_that_of_the_proof() -> None:
    """The run that cites has no such case of its own."""
    cited = Citation(run="r", started="s", scale="smoke", seed=1, sha256="0", defect="power_loss is claimed and not kept: x")
    assert defect_of(store("process_crash", {}, cited=cited)) == cited.defect
