"""What follows from the outcomes of the cases: counts, capabilities, operations, and profiles."""

from __future__ import annotations

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.outcome import IDLE, Outcome, count, worst
from storeproof.printable import in_one_line
from storeproof.report.parts.first_screen import first_screen
from storeproof.result.capabilities import by_capability, roll_up
from storeproof.result.measured.first_screen import FirstScreen
from storeproof.result.model import StoreResult
from storeproof.result.profiles import judge_profile
from storeproof.result.recorder import StoreRecord
from storeproof.spec import Spec, Target


def record_of(store: StoreResult, target: Target) -> StoreRecord:
    """What the run of a result collected."""
    return StoreRecord(
        target,
        version=store.version,
        outcomes=store.outcomes,
        guarantees=store.durability.guarantees,
        failovers=store.durability.failovers,
        measurements=store.measurements,
        outages=store.outages,
        proofs={(model, name): [outcome] for model, operations in store.operations.items() for name, outcome in operations.items()},
    )


def check_counts(store: StoreResult) -> None:
    """Raises `ClaimRefused`: the counts are not those of the listed cases."""
    listed = count(each.outcome for each in store.outcomes)
    for outcome, number in listed.items():
        if store.counts.get(outcome) != number:
            found = store.counts.get(outcome)
            raise ClaimRefused(Reason.COUNTS, f"{found} cases are counted as {outcome}, and {number} are listed")


def check_roll_ups(store: StoreResult, target: Target, spec: Spec) -> None:
    """Raises `ClaimRefused`: a capability is not what its cases and the store's file make of it."""
    made = [roll_up(name, store.outcomes, spec, claimed=target.claims(name)) for name in spec.capabilities]
    found = {each.capability: each for each in store.capabilities}
    for each in made:
        if found.get(each.capability) != each:
            says = found.get(each.capability)
            what = "is not in the result" if says is None else f"is {says.outcome} with {says.passed} of {says.cases} cases in the result"
            shows = f"{each.outcome} with {each.passed} of {each.cases}"
            raise ClaimRefused(Reason.ROLL_UP, f"{each.capability} {what}, and by its cases {shows}")
    if len(store.capabilities) != len(made):
        raise ClaimRefused(Reason.ROLL_UP, f"the result has {len(store.capabilities)} capabilities, and the edition {len(made)}")


def check_operations(store: StoreResult, spec: Spec) -> None:
    """Raises `ClaimRefused`: an operation is called better than a case of a capability that uses it."""
    shown: dict[tuple[str, str], list[Outcome]] = {}
    fixed = {f"{name}/{case.id}" for name, each in spec.capabilities.items() for case in each.cases}
    for name, outcomes in by_capability(store.outcomes).items():
        for each in outcomes:
            tried = each.outcome not in (Outcome.UNSUPPORTED, *IDLE)
            if tried and each.id.removeprefix("capabilities.") in fixed and spec.decides(each.id):
                capability = spec.capabilities[name]
                for operation in capability.operations:
                    shown.setdefault((capability.model, operation), []).append(each.outcome)
    for (model, used), outcomes_of in shown.items():
        says = store.operations.get(model, {}).get(used)
        least = worst(outcomes_of)
        if says is None or worst([says, least]) is not says:
            raise ClaimRefused(Reason.OPERATIONS, f"{used} on {model} is called {says}, and a case that uses it is {least}")


def check_profiles(store: StoreResult, target: Target, spec: Spec) -> None:
    """Raises `ClaimRefused`: the verdict on a profile, or what is proven, does not follow from the cases, faults and numbers."""
    record = record_of(store, target)
    durability = record.durability()
    if durability != store.durability:
        says, shows = (each.shown for each in (store.durability, durability))
        raise ClaimRefused(
            Reason.DURABILITY, f"{says} is proven in the result, where {shows} is by its faults; or its sums are not those of its faults"
        )
    found = {each.profile: each for each in store.profiles}
    if found.keys() != spec.profiles.keys() or len(found) != len(store.profiles):
        judged = in_one_line(", ".join(found)) or "no profile"
        raise ClaimRefused(Reason.PROFILE, f"the result judges {judged}; the edition has {', '.join(spec.profiles)}")
    for name, profile in spec.profiles.items():
        made, says_of = judge_profile(profile, record, spec), found[name]
        if (made.ways, made.extended) != (says_of.ways, says_of.extended):
            raise ClaimRefused(Reason.PROFILE, f"{name} is met in other ways than by its cases, or its extended part is another")
        if (made.verdict, len(made.missing)) != (says_of.verdict, len(says_of.missing)):
            raise ClaimRefused(
                Reason.PROFILE,
                f"{name} is {says_of.verdict} with {len(says_of.missing)} things missing in the result, "
                f"and by its cases {made.verdict} with {len(made.missing)}",
            )


def check_first_screen(store: StoreResult) -> None:
    """Raises `ClaimRefused`: what the result says of it for the site has other verdicts."""
    if _verdicts(store.first_screen) != _verdicts(first_screen(store, ())):
        raise ClaimRefused(Reason.PROFILE, "its first screen has other verdicts than its profiles, or than its faults")


def _verdicts(screen: FirstScreen | None) -> tuple[object, ...]:
    """Without their words."""
    return (screen.tried, screen.roles, {name: (each.state, each.promised) for name, each in screen.losses.items()}) if screen else ()
