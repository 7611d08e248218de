"""Withdrawn cases: a run judges without those that were withdrawn before it, and a reader without those that are withdrawn today."""

from __future__ import annotations

from dataclasses import replace

from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.verdicts import record_of
from storeproof.printable import in_one_line
from storeproof.result.capabilities import roll_up
from storeproof.result.model import StoreResult
from storeproof.result.profiles import judge_profile
from storeproof.spec import Spec, Target
from storeproof.spec.standing import Standing


def as_run(store: StoreResult, known: KnownJudges) -> KnownJudges:
    """What the claim was held against when it was made: no more cases were withdrawn than today.

    Raises:
        ClaimRefused: the result calls a case withdrawn that no dispute has withdrawn.
    """
    then = frozenset(each.id for each in store.outcomes if each.standing is Standing.WITHDRAWN)
    if invented := sorted(then - known.spec.withdrawn):
        raise ClaimRefused(Reason.CASES, f"{in_one_line(invented[0], 80)} is withdrawn in the result, and no dispute has withdrawn it")
    return replace(known, spec=replace(known.spec, withdrawn=then))


def judged_without(store: StoreResult, target: Target, spec: Spec) -> StoreResult:
    """The store, judged without the cases that are withdrawn today. An operation that is wrong because of such a case stays so: a result
    keeps only the worst of an operation's cases."""
    outcomes = [each.model_copy(update={"standing": spec.standing(each.id)}) for each in store.outcomes]
    now = store.model_copy(update={"outcomes": outcomes})
    record = record_of(now, target)
    return now.model_copy(
        update={
            "capabilities": [roll_up(name, outcomes, spec, claimed=target.claims(name)) for name in spec.capabilities],
            "profiles": [judge_profile(profile, record, spec) for profile in spec.profiles.values()],
        }
    )
