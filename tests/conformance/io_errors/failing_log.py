"""A small store whose disk fails: each put is one call, and one that fails is refused; or, if it lies, acknowledged and lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Final

from storeproof.evidence import AuditEvidence, ErrorEvidence, ErrorsEvidence, StoreEvidence
from storeproof.experiments.io_errors.error_summary import ErrorSummary
from storeproof.experiments.io_errors.tried_error import TriedError, in_order
from storeproof.history import ABSENT, Observation, Operation, Place, RequestOutcome, Seen
from storeproof.outcome import Outcome
from storeproof.result.measured.io_errors import IoErrorCounts
from storeproof.spec import Target
from storeproof.spec.cases import io_errors_case
from storeproof.spec.guarantee import IoError
from tests.conformance.published import published
from tests.shipped import SHIPPED

ERROR: Final[IoError] = "eio_sync"
CASE: Final = io_errors_case(ERROR)
STORE, FILE = SHIPPED.store("sqlite")
TARGET = Target(STORE, "wal-full", FILE, {})
REQUESTS: Final = SHIPPED.scales["smoke"].durability.io_errors.requests
_LATER: Final = 2


@dataclass
class Claim:
    """What a bundle says of the errors of one kind; each attempt on a store of its own."""

    attempts: list[StoreEvidence]
    counts: IoErrorCounts
    outcome: Outcome
    spoiled: int = 0

    @property
    def evidence(self) -> StoreEvidence:
        """Of the last store."""
        return self.attempts[-1]

    @property
    def tried(self) -> list[ErrorEvidence]:
        """On the last store."""
        assert self.evidence.errors is not None
        return self.evidence.errors.tried


def seed(attempt: int = 0, error: IoError = ERROR) -> str:
    return f"{published().run.seed} {TARGET.id} io_errors {error} {attempt}"


def made(*, lies: bool, error: IoError = ERROR) -> Claim:
    """All calls fail in turn on one store."""
    store = FailingLog(lies=lies)
    errors = store.attempt(error, in_order(REQUESTS, seed(error=error)))
    evidence = StoreEvidence(io_errors_case(error), seed(error=error), TARGET.id, cuts_off=True, operations=store.sent, errors=errors)
    claim = Claim([evidence], ErrorSummary(error=error).counts(), Outcome.FAIL if lies else Outcome.PASS)
    return counted(claim)


def counted(claim: Claim) -> Claim:
    """With the result that its evidence comes to."""
    assert claim.evidence.errors is not None
    summary = ErrorSummary(error=claim.evidence.errors.error, requests=REQUESTS)
    for store in claim.attempts:
        assert store.errors is not None
        for each in store.errors.tried:
            tried = TriedError(each, broken=each.broken, ended=each.ended)
            before = [operation for operation in store.operations if operation.client < store.errors.clients]
            tried.judge(before, [operation for operation in store.operations if each.first <= operation.client < each.until])
            summary.add(tried)
    claim.counts = summary.counts()
    return claim


@dataclass
class FailingLog:
    """One store, and what was sent to it."""

    lies: bool
    sent: list[Operation] = field(default_factory=list)
    _clock: count[int] = field(default_factory=lambda: count(1))
    _clients: count[int] = field(default_factory=count)

    def attempt(self, error: IoError, calls: list[int]) -> ErrorsEvidence:
        """The load without an error, and each of these calls."""
        before = self._put(next(self._clients), {})
        errors = ErrorsEvidence(error, REQUESTS, 1, [self._tried(0, before, lasting=False)])
        for call in calls:
            errors.tried += [self._tried(call, before, lasting=lasting) for lasting in (False, True)]
        return errors

    def _tried(self, call: int, before: dict[Place, Seen], *, lasting: bool) -> ErrorEvidence:
        client = next(self._clients)
        found = ErrorEvidence(call, lasting, client, client + 1, REQUESTS)
        fails = {number for number in range(1, REQUESTS + 1) if call and (number == call or (lasting and number > call))}
        outcome: RequestOutcome = "ok" if self.lies else "refused"
        shown = before | self._put(client, dict.fromkeys(fails, outcome))
        found.looks.append(self._read(shown))
        if lasting:
            shown |= self._put(client, {}, REQUESTS + 1, _LATER)
            found.looks.append(self._read(shown))
        if self.lies:
            shown |= {("log", f"c{client}:{number}"): ABSENT for number in fails}
        found.after = self._read(shown)
        self._put(next(self._clients), {})
        return found

    def _put(self, client: int, outcomes: dict[int, RequestOutcome], first: int = 1, number: int = REQUESTS) -> dict[Place, Seen]:
        """Send puts; returns what is there then."""
        shown: dict[Place, Seen] = {}
        for each in range(first, first + number):
            outcome, place = outcomes.get(each, "ok"), ("log", f"c{client}:{each}")
            invoked, completed = next(self._clock), next(self._clock)
            self.sent.append(
                Operation(
                    client=client,
                    action="put",
                    collection=place[0],
                    key=place[1],
                    invoked=invoked,
                    completed=completed,
                    outcome=outcome,
                    write_id=f"{client}:{each}",
                )
            )
            shown[place] = Observation("whole", f"{client}:{each}") if outcome == "ok" else ABSENT
        return shown

    def _read(self, shown: dict[Place, Seen]) -> AuditEvidence:
        return AuditEvidence(next(self._clock), True, dict(shown), (), next(self._clock))
