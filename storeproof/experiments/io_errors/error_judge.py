"""Judges the errors of one store again, from their evidence."""

from __future__ import annotations

from itertools import groupby, pairwise, takewhile

from storeproof.evidence import ErrorEvidence, EvidenceDamaged, StoreEvidence
from storeproof.experiments.io_errors.error_summary import ErrorSummary
from storeproof.experiments.io_errors.tried_error import TriedError, in_order
from storeproof.history import Operation


def replay_errors(store: StoreEvidence, summary: ErrorSummary, done: set[int], *, spoiled: bool) -> int:
    """Add all errors of a store to the sums.

    Args:
        done: calls that failed on the stores before, to which these are added.
        spoiled: it ended within an error of which there is no evidence.

    Returns:
        How many calls were left out.

    Raises:
        EvidenceDamaged: it is none of a run.
    """
    assert store.errors is not None
    found, sent = store.errors.tried, _Sent(store)
    held = True
    for number, error in enumerate(found):
        try:
            tried = sent.judged(number)
        except ValueError as reason:
            raise EvidenceDamaged(f"{_name(error)} of {store.case} cannot be judged: {reason}") from None
        summary.add(tried)
        held = held and (number > 0 or tried.holds)
    if not found:
        return summary.calls
    due = [call for call in in_order(summary.calls if held else 0, store.seed) if call not in done]
    wanted = [(0, False), *((call, lasting) for call in due for lasting in (False, True))]
    for (call, lasting), error in zip(wanted, found, strict=False):
        if (call, lasting) != (error.call, error.lasting):
            named = _name(ErrorEvidence(call, lasting, 0))
            raise EvidenceDamaged(f"{_name(error)} of {store.case} is where {named} was due")
    if not spoiled and any(each.client > found[-1].until for each in store.operations):
        raise EvidenceDamaged(f"{store.case} has clients of an error that is left out")
    if len(found) > len(wanted) or (len(found) % 2 == 0 and not spoiled):
        raise EvidenceDamaged(f"{store.case} has {len(found)} errors, of {len(wanted)} that were due in pairs")
    tried_calls = len(found) // 2
    done.update(due[: tried_calls + spoiled])
    return len(due) - tried_calls


def _name(error: ErrorEvidence) -> str:
    return f"the error of call {error.call}{' and all later ones' if error.lasting else ''}" if error.call else "the load without an error"


class _Sent:
    """What clients sent under each error of a store."""

    def __init__(self, store: StoreEvidence) -> None:
        assert store.errors is not None
        self._errors = store.errors
        self._of = {
            client: list(each)
            for client, each in groupby(sorted(store.operations, key=lambda each: each.client), key=lambda each: each.client)
        }
        self._before = self._by(0, self._errors.clients)
        self._kinds: dict[int, list[tuple[object, ...]]] = {}

    def judged(self, number: int) -> TriedError:
        """Raises `ValueError`."""
        error = self._errors.tried[number]
        tried = TriedError(error, broken=error.broken, ended=error.ended, log=None)
        begin = self._errors.tried[number - 1].until if number else self._errors.clients
        if not begin <= error.first <= begin + bool(number) or error.until < error.first:
            raise ValueError("its clients are not those that follow on the ones before")
        under = self._by(error.first, error.until)
        self._check_same(error)
        self._check_moments(error, under)
        if error.after is None and not error.broken:
            raise ValueError("nothing was read after the power cut, and nothing says why")
        if not error.broken and not any(each.outcome == "ok" for each in self._of.get(error.until, [])):
            raise ValueError("it is said to have worked when the disk did, and nothing was acknowledged")
        tried.judge(self._before, under)
        return tried

    def _by(self, first: int, until: int) -> list[Operation]:
        some = [each for client in range(first, until) for each in self._of.get(client, [])]
        return sorted(some, key=lambda each: each.invoked)

    def _check_same(self, error: ErrorEvidence) -> None:
        """Raises `ValueError`: other requests were sent than under the first error, as far as they go. A client that lost its connection
        numbers its groups again."""
        for client in range(error.first, error.until):
            known = takewhile(lambda each: each.outcome != "unknown", self._of.get(client, []))
            sent = [(each.action, each.collection, each.amount) for each in known]
            first = self._kinds.setdefault(client - error.first, [*sent])
            if any(here != there for here, there in zip(sent, first, strict=False)):
                raise ValueError("its requests are not those of the load without an error")

    @staticmethod
    def _check_moments(error: ErrorEvidence, under: list[Operation]) -> None:
        """Raises `ValueError`: something was read at another time than a run reads it."""
        moments = [each.moment for each in (*error.looks, *filter(None, [error.after]))]
        if any(earlier > later for earlier, later in pairwise(moments)) or (under and not (moments and moments[-1] > under[-1].invoked)):
            raise ValueError("it was not read when all was sent")
