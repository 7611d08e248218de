"""Which cases of a claim may be `not_run`: those that a machine or a launcher may not be able to try, each for its own reasons.

A failure could be hidden behind any other reason. Where the result says whether the reason holds, that is looked up too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.experiments.durability.workloads.transfer_clients import TRANSACTIONS
from storeproof.outcome import SHOWN, Lack, Outcome
from storeproof.printable import in_one_line
from storeproof.result.model import OutcomeRecord, RunInfo, StoreResult
from storeproof.result.sources import NATIVE
from storeproof.spec import NODES, Target
from storeproof.spec.cases import ISOLATION
from storeproof.spec.isolation import TransactionMix

_OF_NODES: Final = rf"durability\.(?:(?:isolation|linearizable|sessions|transfers)/)?(?:{'|'.join(NODES)})|{ISOLATION}/.*"
_OF_TRANSFERS: Final = r"durability\.transfers/.*"
_OF_FAULTS: Final = r"durability\..*|performance\.outage/.*|cache\..*"
_OF_POWER: Final = (
    r"durability\.(?:(?:(?:isolation|linearizable|metadata|sessions|transfers)/)?power_loss|full_disk|"
    r"(?:bootstrap|corruption|crash_states|io_errors)/.*)"
)
_FIRST_STARTS: Final = "durability.bootstrap/process_kill"
"""Its data may have to be emptied, so that a container or a cluster needs a disk that is accessible from here."""


@dataclass(frozen=True)
class _Claim:
    """What a reason may be held against."""

    run: RunInfo
    store: StoreResult
    target: Target
    mixes: Mapping[str, TransactionMix]


def _endpoint(claim: _Claim, _: OutcomeRecord) -> str:
    return "" if claim.store.launch == "endpoint" else f"the store ran as a {in_one_line(str(claim.store.launch), 20)}"


def _one_server(claim: _Claim, case: OutcomeRecord) -> str:
    mix = case.id.rpartition("/")[2]
    without = case.id.startswith(ISOLATION) and not (mix in claim.mixes and claim.mixes[mix].readers)
    return f"transactions of {in_one_line(mix, 40)} need one server" if without else ""


def _single(claim: _Claim, case: OutcomeRecord) -> str:
    cluster = "" if claim.target.topology == "single" else f"it runs as the cluster {claim.target.topology}"
    return _one_server(claim, case) or cluster


def _killed(claim: _Claim, case: OutcomeRecord) -> str:
    needs_disk = case.id != _FIRST_STARTS or claim.target.topology != "single" or claim.store.launch != "process"
    return "" if needs_disk else "a process of this machine is killed without a disk of its own"


def _composite(claim: _Claim, _: OutcomeRecord) -> str:
    return "" if claim.target.parts else "it is no composite store"


def _not_compiled(claim: _Claim, _: OutcomeRecord) -> str:
    return f"the run had the compiled part: it has the digest of `{NATIVE}`" if NATIVE in claim.run.sources else ""


def _without_transactions(claim: _Claim, _: OutcomeRecord) -> str:
    return "its file claims them" if all(map(claim.target.claims, TRANSACTIONS)) else ""


def _unproven(claim: _Claim, case: OutcomeRecord) -> str:
    assert case.lacked is not None
    model, operation = case.lacked.model, case.lacked.operation
    outcome = claim.store.operations.get(model, {}).get(operation)
    return f"{in_one_line(f'{operation} on {model}', 60)} is {outcome} in the result" if outcome in SHOWN else ""


def _holds(_claim: _Claim, _case: OutcomeRecord) -> str:
    return ""


@dataclass(frozen=True)
class _Excuse:
    """What a machine or a launcher may lack."""

    cases: str
    """The ids of the cases that need it, as a pattern."""
    contradiction: Callable[[_Claim, OutcomeRecord], str] = _holds
    """What in the result says otherwise; empty where nothing does."""


_EXCUSES: Final[Mapping[Lack, _Excuse]] = {
    Lack.NODES: _Excuse(_OF_NODES, _single),
    Lack.CLUSTER: _Excuse(_OF_NODES, _one_server),
    Lack.TRANSACTIONS: _Excuse(_OF_TRANSFERS, _without_transactions),
    Lack.ACCOUNTS: _Excuse(_OF_TRANSFERS),
    Lack.OWN_SERVER: _Excuse(_OF_FAULTS, _endpoint),
    Lack.DISK: _Excuse(_OF_POWER, _killed),
    Lack.MODELS: _Excuse(r"durability\..*"),
    Lack.COMPILED_PART: _Excuse(r"(?:durability\.|performance\.)?linearizable.*|performance\..*|durability\..*", _not_compiled),
    Lack.VERIFIED_OPERATION: _Excuse(r"performance\..*", _unproven),
    Lack.VERIFIED_QUESTIONS: _Excuse(r"growth\..*"),
    Lack.ENGINE: _Excuse(r"performance\..*"),
    Lack.PLAIN_CONNECTION: _Excuse(r"capabilities\..*/pushdown|pushdown\..*"),
    Lack.FRONT: _Excuse(r"cache\..*", _composite),
    Lack.PARTS: _Excuse(r"durability\..*|cache\..*", _composite),
}


def check_not_run(run: RunInfo, store: StoreResult, target: Target, mixes: Mapping[str, TransactionMix]) -> None:
    """Raises `ClaimRefused`: a case was not run that can be tried everywhere, for a reason that is none, or that does not hold."""
    claim = _Claim(run, store, target, mixes)
    refused = [(each, why) for each in store.outcomes if each.outcome is Outcome.NOT_RUN and (why := _refused(claim, each))]
    if refused:
        (first, why), others = refused[0], len(refused) - 1
        raise ClaimRefused(Reason.NOT_RUN, f"{first.id} was not run: {why}" + (f"; {others} others likewise" if others else ""))


def _refused(claim: _Claim, case: OutcomeRecord) -> str:
    """Why a case must have been tried; empty where it need not."""
    reason = in_one_line(case.detail, 80)
    if not any(re.fullmatch(each.cases, case.id) for each in _EXCUSES.values()):
        return f"`{reason}`, and it can be tried on any machine"
    excuse = _EXCUSES.get(case.lacked.what) if case.lacked is not None else None
    if excuse is None or not re.fullmatch(excuse.cases, case.id):
        return f"`{reason}` is no reason by which a run leaves it out"
    contradiction = excuse.contradiction(claim, case)
    return f"`{reason}`, and {contradiction}" if contradiction else ""
