"""Outcomes other than `fail` under which a failure could be hidden: each is allowed only where a run comes to it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.outcome import Outcome
from storeproof.result.model import RunInfo, StoreResult
from storeproof.spec import Target

_CAPABILITIES: Final = "capabilities."
_MOST_OPEN: Final = 0.02
"""Share of the cases that may be inconclusive. On a busy machine a few are, after as many attempts as a run makes; of one on which more are
no claim is made."""


def check_excuses(run: RunInfo, store: StoreResult, target: Target) -> None:
    """Raises `ClaimRefused`: a claimed capability is called unsupported, a failure is called known that the store's file does not name, or
    more cases are inconclusive than those of a run that shows something."""
    day = datetime.fromisoformat(run.started).date()
    for each in store.outcomes:
        if each.outcome is Outcome.UNSUPPORTED and each.id.startswith(_CAPABILITIES) and target.claims(each.id.removeprefix(_CAPABILITIES)):
            raise ClaimRefused(Reason.CASES, f"{each.id} is unsupported in the result, and {target.id} claims it: a refusal is a failure")
        if each.outcome is Outcome.KNOWN_FAIL and target.known_failure(each.id, day) is None:
            raise ClaimRefused(Reason.CASES, f"{each.id} is called a known failure, and the file of {target.id} names none of it on {day}")
    still_open, most = store.counts.get(Outcome.INCONCLUSIVE, 0), int(len(store.outcomes) * _MOST_OPEN)
    if still_open > most:
        why = "repeat the run on a machine that does less besides"
        raise ClaimRefused(Reason.CASES, f"{still_open} cases are inconclusive, and of {len(store.outcomes)} at most {most} may be; {why}")
