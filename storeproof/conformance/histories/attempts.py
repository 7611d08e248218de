"""The attempts of a guarantee: a store that the machine spoiled is followed by another one. All of them are in a bundle, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.evidence import StoreEvidence
from storeproof.outcome import SHOWN
from storeproof.printable import in_one_line
from storeproof.result.model import GuaranteeRecord, RunInfo, StoreResult


def check_attempt(part: StoreEvidence, run: RunInfo, store: StoreResult, guarantee: str, number: int) -> None:
    """Raises `ClaimRefused`: the histories are of another store, of choices that another seed made, or an attempt was left out before them.

    Args:
        number: of the attempt that is due, from 0.
    """
    target = f"{store.store}:{store.variant}"
    if part.target != target:
        raise ClaimRefused(Reason.SEED, f"the histories of {part.case} are of {in_one_line(part.target, 60)}, and the claim is of {target}")
    wanted, found = f"{run.seed} {target} {guarantee} ", in_one_line(part.seed, 60)
    if not part.seed.startswith(wanted):
        raise ClaimRefused(Reason.SEED, f"the histories of {part.case} are of the seed {found!r}, the claim's of '{wanted}{number}'")
    if part.seed != f"{wanted}{number}":
        raise ClaimRefused(Reason.ATTEMPTS, f"the histories of {part.case} go on with {found!r}, where those of '{wanted}{number}' are due")


def check_attempts(record: GuaranteeRecord, spoiled: Sequence[bool], most: int) -> None:
    """Raises `ClaimRefused`: an attempt follows one that was not spoiled, or the result counts others.

    Args:
        spoiled: of each attempt whether it ended without saying anything about the store: by a spoiled round, or before the first one.
        most: spoiled attempts after which a run goes on.
    """
    name, ended = record.guarantee, sum(spoiled[:-1])
    if not all(spoiled[:-1]):
        raise ClaimRefused(Reason.ATTEMPTS, f"{name} was tried again after attempt {spoiled.index(False) + 1}, which was not spoiled")
    if record.spoiled not in (ended, sum(spoiled)):  # an error of ours may end the last one, which is not counted as spoiled then
        raise ClaimRefused(Reason.ATTEMPTS, f"{name} has {record.spoiled} spoiled attempts in the result, and {ended} by the histories")
    if record.outcome in SHOWN and record.spoiled > most:
        raise ClaimRefused(Reason.ATTEMPTS, f"{name} is {record.outcome} after {record.spoiled} spoiled attempts, where a run gives up")
