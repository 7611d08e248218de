"""Whether a run is whole: every case of the edition has one outcome, and none was left out."""

from __future__ import annotations

from collections import Counter

from storeproof.conformance.expected_cases import ExpectedCase
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.outcome import IDLE, Outcome, Stage
from storeproof.printable import in_one_line
from storeproof.result.model import Result, StoreResult


def only_store(result: Result) -> StoreResult:
    """The store that the claim is about.

    Raises:
        ClaimRefused: the run has several stores, or it rests on another run.
    """
    if len(result.stores) != 1:
        names = ", ".join(each.name for each in result.stores) or "none"
        raise ClaimRefused(Reason.RUN, f"a claim is about one store in one variant, the run has {in_one_line(names, 120)}; run it alone")
    (store,) = result.stores
    if store.cites is not None or store.durability.cited is not None:
        raise ClaimRefused(Reason.RUN, "what it claims is taken from another run (--proof); a claim rests on one whole run")
    if store.version is None or store.launch is None:
        raise ClaimRefused(Reason.RUN, "its server was never reached; the report of the run says why")
    return store


def check_cases(store: StoreResult, cases: dict[str, ExpectedCase]) -> None:
    """Raises `ClaimRefused`: a case is missing, was left out, was not begun, ended in an error, or is none of the edition."""
    found = Counter(each.id for each in store.outcomes)
    if twice := sorted(name for name, number in found.items() if number > 1):
        raise ClaimRefused(Reason.CASES, f"{in_one_line(twice[0], 80)} has {found[twice[0]]} outcomes")
    if missing := sorted(cases.keys() - found.keys()):
        raise ClaimRefused(Reason.CASES, f"{len(missing)} of {len(cases)} cases of the edition have no outcome, {missing[0]} among them")
    if strange := sorted(found.keys() - cases.keys()):
        raise ClaimRefused(Reason.CASES, f"{in_one_line(strange[0], 80)} is no case of the edition")
    for each in store.outcomes:
        case = cases[each.id]
        if not each.is_begun:
            raise ClaimRefused(Reason.CASES, f"the run was cut short: {each.id} was not begun")
        if each.outcome is Outcome.EXCLUDED and not case.beyond_scale:
            raise ClaimRefused(Reason.CASES, f"{each.id} was left out; a claim is made of a whole run, without -k and --profile")
        if each.outcome is Outcome.ERROR and case.stage is not Stage.PERFORMANCE:  # where a number is lacking, nothing is claimed of it
            said = in_one_line(each.detail, 120)
            raise ClaimRefused(
                Reason.CASES, f"{each.id} ended in an error, behind which there may be a failure: {said}; mend it, and run again"
            )
        if (each.revision, each.stage) != (case.revision, case.stage):
            raise ClaimRefused(
                Reason.CASES, f"{each.id} was tried in revision {each.revision}, and the edition has revision {case.revision}"
            )
        if each.standing is not case.standing:
            stands = "decides" if case.standing is None else f"is {case.standing}"
            raise ClaimRefused(Reason.CASES, f"{each.id} {stands} in the edition, and not so in the result")
    if all(each.outcome in IDLE for each in store.outcomes):
        raise ClaimRefused(Reason.RUN, "nothing was tried")
