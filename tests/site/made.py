"""Sites made of a few invented results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from storeproof.outcome import Outcome, Stage
from storeproof.result.json_file import shown_of
from storeproof.result.measurement import Measurement
from storeproof.result.missing import MissingDemand, Way
from storeproof.result.model import CapabilityResult, GuaranteeRecord, OutcomeRecord, ProfileVerdict, Result, StoreResult
from storeproof.result.needs.decision import Decision, decide
from storeproof.result.needs.joined_results import ReadResult
from storeproof.result.needs.servers import preference
from storeproof.result.older_formats import missing_of
from storeproof.site.site_content import SiteContent, gather
from storeproof.site.sources import SourceResult
from storeproof.spec.questions.needs import NeedsFile
from tests.report.sample import sample_result
from tests.result.claimed import around, number, result, store
from tests.shipped import SHIPPED


def sources(*results: Result) -> list[SourceResult]:
    """As `read_sources` gives them."""
    found = [SourceResult(f"folder-{each.run.id}", Path(each.run.id), shown_of(each)) for each in results]
    return sorted(found, key=lambda each: preference(each.result), reverse=True)


def content(*results: Result) -> SiteContent:
    """All that a site of these results shows."""
    return gather(sources(*results), SHIPPED)


def decided(found: Sequence[SourceResult], *files: NeedsFile) -> list[Decision]:
    """Needs files, answered by the results of a site."""
    results = [ReadResult(each.file, each.result) for each in found]
    return [decide(each, results, SHIPPED) for each in files]


def ran(made: Result, run: str, **changed: Any) -> Result:
    """The same in another run: its `started` or `scale`."""
    return made.model_copy(update={"run": made.run.model_copy(update={"id": run, **changed})})


def tried(name: str, *capabilities: tuple[str, Outcome], detail: str = "", **changed: Any) -> StoreResult:
    """`store:variant` that answered these capabilities so."""
    return store(
        name,
        **{
            "capabilities": [
                CapabilityResult(capability=each, claimed=True, outcome=outcome, cases=1, passed=int(outcome is Outcome.PASS))
                for each, outcome in capabilities
            ],
            "outcomes": [
                OutcomeRecord(
                    id=f"capabilities.{each}/001", revision=1, stage=Stage.CORRECTNESS, outcome=outcome, detail=detail, seconds=0.1
                )
                for each, outcome in capabilities
            ],
            "profiles": [],
            **changed,
        },
    )


def fault(guarantee: str, outcome: Outcome = Outcome.PASS, **counts: Any) -> GuaranteeRecord:
    """What one fault did: 20 rounds and a thousand acknowledged writes, unless other counts are given."""
    sample = next(each for each in sample_result(seed=1).stores[0].durability.guarantees if each.guarantee == "process_crash")
    none = {"lost": 0, "torn": 0, "faults_with_loss": 0, "worst_loss": None, "rounds": 20, "acknowledged": 1000, "loss_bound": 0.14}
    none["lost_operations"] = counts.get("lost", 0)
    return sample.model_copy(update={**none, "guarantee": guarantee, "outcome": outcome, **counts})


def struck(name: str, *faults: GuaranteeRecord, claimed: str = "power_loss", **changed: Any) -> StoreResult:
    """`store:variant` that these faults struck."""
    made = tried(name, **changed)
    durability = made.durability.model_copy(update={"claimed": claimed, "guarantees": list(faults)})
    return made.model_copy(update={"durability": durability})


def typed(line: str) -> MissingDemand:
    """What is missing, of its line, as a judge finds it."""
    found = missing_of(line)
    assert isinstance(found, MissingDemand)
    return found.model_copy(update={"sentence": ""})


def judged(profile: str, verdict: str, missing: Iterable[str] = (), **changed: Any) -> ProfileVerdict:
    """A verdict on a profile."""
    return ProfileVerdict.model_validate({"profile": profile, "verdict": verdict, "missing": [typed(line) for line in missing], **changed})


def way(capability: str) -> Way:
    """By which of two ways to expire a demand is met."""
    return Way(demand="expiry.put-expiring or expiry.swept", capability=capability, title=SHIPPED.capabilities[capability].title)


def rate(workload: str, per_second: float, **changed: Any) -> Measurement:
    """A number of three rounds with a spread of one per cent."""
    return number(workload, *around(per_second), **changed)


__all__ = ["content", "decided", "fault", "judged", "ran", "rate", "result", "sources", "store", "struck", "tried", "way"]
