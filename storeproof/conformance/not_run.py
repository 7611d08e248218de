"""Which cases of a claim may be `not_run`: those that a machine or a launcher may not be able to try, each for its own reasons.

A failure could be hidden behind any other reason. Where the result says whether the reason holds, that is looked up too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.experiments.durability.workloads.transfer_clients import TRANSACTIONS
from storeproof.outcome import SHOWN, Outcome
from storeproof.printable import in_one_line
from storeproof.result.model import OutcomeRecord, RunInfo, StoreResult
from storeproof.result.sources import NATIVE
from storeproof.spec import NODES, Target

_OF_NODES: Final = rf"durability\.(?:(?:linearizable|sessions|transfers)/)?(?:{'|'.join(NODES)})"
_OF_TRANSFERS: Final = r"durability\.transfers/.*"
_OF_FAULTS: Final = r"durability\..*|performance\.outage/.*|cache\..*"
_OF_POWER: Final = r"durability\.(?:(?:(?:linearizable|sessions|transfers)/)?power_loss|bootstrap/power_cut|full_disk|corruption/.*)"
_UNPROVEN: Final = re.compile(r"(?P<operation>\w+) on (?P<model>\w+) was not (?:correct|verified) in this run")


@dataclass(frozen=True)
class _Claim:
    """What a reason may be held against."""

    run: RunInfo
    store: StoreResult
    target: Target


def _endpoint(claim: _Claim, _: OutcomeRecord) -> str:
    return "" if claim.store.launch == "endpoint" else f"the store ran as a {in_one_line(str(claim.store.launch), 20)}"


def _single(claim: _Claim, _: OutcomeRecord) -> str:
    return "" if claim.target.topology == "single" else f"it runs as the cluster {claim.target.topology}"


def _composite(claim: _Claim, _: OutcomeRecord) -> str:
    return "" if claim.target.parts else "it is no composite store"


def _not_compiled(claim: _Claim, _: OutcomeRecord) -> str:
    return f"the run had the compiled part: it has the digest of `{NATIVE}`" if NATIVE in claim.run.sources else ""


def _without_transactions(claim: _Claim, _: OutcomeRecord) -> str:
    return "its file claims them" if all(map(claim.target.claims, TRANSACTIONS)) else ""


def _unproven(claim: _Claim, case: OutcomeRecord) -> str:
    found = _UNPROVEN.match(case.detail)
    assert found is not None
    outcome = claim.store.operations.get(found["model"], {}).get(found["operation"])
    return f"{found['operation']} on {found['model']} is {outcome} in the result" if outcome in SHOWN else ""


def _holds(_claim: _Claim, _case: OutcomeRecord) -> str:
    return ""


@dataclass(frozen=True)
class _Lack:
    """What a machine or a launcher may lack."""

    cases: str
    """The ids of the cases that need it, as a pattern."""
    said: str
    """How the reason begins, as a pattern."""
    contradiction: Callable[[_Claim, OutcomeRecord], str] = _holds
    """What in the result says otherwise; empty where nothing does."""


_LACKS: Final[Sequence[_Lack]] = (
    _Lack(_OF_NODES, r"[\w.-]+ runs as a single server: it has no nodes|[\w.-]+ is a front over a home, and no cluster", _single),
    _Lack(_OF_NODES, r"it runs as one server: it has no nodes|it does not run as the cluster of a topology"),
    _Lack(_OF_TRANSFERS, r"[\w.:-]+ claims no transactions that could be tested", _without_transactions),
    _Lack(_OF_TRANSFERS, r"[\w.:-]+ claims no accounts and entries"),
    _Lack(_OF_FAULTS, r"the store was given as an endpoint|the server is an endpoint", _endpoint),
    _Lack(_OF_POWER, r"a power cut needs |a power cut without |no power cut; strace saw |strace |tracing the syncs "),
    _Lack(_OF_POWER, r"its data is not on a disk whose power can be cut|the power of the nodes of a cluster cannot be cut"),
    _Lack(_OF_POWER, r"its data directory is not accessible from here|[\w.:-]+: its data is in a volume of the engine's own"),
    _Lack(r"durability\..*", r"[\w.:-]+ claims (?:none of the models that fault tests write|no model with the operations of these tests)"),
    _Lack(
        r"(?:durability\.|performance\.)?linearizable.*|performance\..*|durability\..*", r".{1,60} needs the compiled part", _not_compiled
    ),
    _Lack(r"performance\..*", _UNPROVEN.pattern, _unproven),
    _Lack(r"growth\..*", r"not every question was verified"),
    _Lack(r"performance\..*", r"the store's client has one request in flight|the engine `\w+` cannot do it|.{1,80} that can be asked for"),
    _Lack(r"capabilities\..*/pushdown|pushdown\..*", r"bytes cannot be counted on an encrypted connection"),
    _Lack(
        r"cache\..*",
        r"the file of [\w.-]+ does not say how the memory of its front|the adapter of this composite store does not",
        _composite,
    ),
    _Lack(r"durability\..*|cache\..*", r"its (?:front|home): |[\w.:-]+ claims no model whose records have copies", _composite),
)


def check_not_run(run: RunInfo, store: StoreResult, target: Target) -> None:
    """Raises `ClaimRefused`: a case was not run that can be tried everywhere, for a reason that is none, or that does not hold."""
    claim = _Claim(run, store, target)
    refused = [(each, why) for each in store.outcomes if each.outcome is Outcome.NOT_RUN and (why := _refused(claim, each))]
    if refused:
        (first, why), others = refused[0], len(refused) - 1
        raise ClaimRefused(Reason.NOT_RUN, f"{first.id} was not run: {why}" + (f"; {others} others likewise" if others else ""))


def _refused(claim: _Claim, case: OutcomeRecord) -> str:
    """Why a case must have been tried; empty where it need not."""
    of_case = [each for each in _LACKS if re.fullmatch(each.cases, case.id)]
    reason = in_one_line(case.detail, 80)
    if not of_case:
        return f"`{reason}`, and it can be tried on any machine"
    said = [each for each in of_case if re.match(each.said, case.detail)]
    if not said:
        return f"`{reason}` is no reason by which a run leaves it out"
    contradictions = [each.contradiction(claim, case) for each in said]
    return "" if "" in contradictions else f"`{reason}`, and {contradictions[0]}"
