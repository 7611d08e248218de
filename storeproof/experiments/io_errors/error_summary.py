"""The sums over the errors of one kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from storeproof.experiments.io_errors.tried_error import TriedError
from storeproof.experiments.trial_summary import KEPT, TrialSummary
from storeproof.result.measured.io_errors import ErrorTrials, FailedCall, IoErrorCounts, Reaction
from storeproof.spec.guarantee import IoError

_CALLS: Final = {
    "eio_write": "writes with EIO",
    "eio_sync": "syncs with EIO",
    "eio_read": "reads with EIO",
    "enospc": "writes that need space with ENOSPC",
    "short_write": "writes after half of their bytes",
}
_REACTIONS: Final[dict[Reaction, str]] = {
    "refused": "refused requests after",
    "read_only": "accepted no write until its restart after",
    "ended": "ended after",
    "went_on": "told no client of",
}


@dataclass(kw_only=True)
class ErrorSummary(TrialSummary[TriedError, tuple[bool, Reaction]]):
    """What became of the errors, by whether they lasted and what the store did."""

    error: IoError
    calls: int = 0
    """Calls of the load that can fail so."""

    @property
    def damaging(self) -> bool:
        """After each error the power is cut."""
        return True

    def add(self, tried: TriedError) -> None:
        """Count an error; or none, of the load without one."""
        if tried.struck:
            self.tried[tried.error.lasting, tried.reaction] += 1
        if not tried.error.call:
            self.calls = tried.error.calls
        super().add(tried)

    def where(self, tried: TriedError) -> str:
        """The call, what the store did, and when something was wrong."""
        found, where = tried.error, "without an error"
        if tried.struck:
            later = " and all later ones" if found.lasting else ""
            where = f"{self.error} of call {found.call}{later} ({tried.reaction.replace('_', ' ')})"
        return f"{where}, {tried.when}" if tried.when else where

    def parts(self) -> Iterator[str]:
        """What failed in turn, what the store did, and what is wrong."""
        once, lasting = (self._trials(lasting=each) for each in (False, True))
        yield f"of {self.calls} {_CALLS[self.error]} in its load {once.tried} were tried alone, {lasting.tried} with all later ones"
        if self.tried:
            sums = {words: self.tried[False, each] + self.tried[True, each] for each, words in _REACTIONS.items()}
            yield "it " + ", ".join(f"{words} {number}" for words, number in sums.items() if number)
            if not self.failed:
                yield "after each and a power cut it has every acknowledged write and works"
        yield from self.failures()
        yield from self.spoiled_rounds()

    def counts(self) -> IoErrorCounts:
        """For the result file."""
        return IoErrorCounts(
            error=self.error,
            requests=self.requests,
            calls=self.calls,
            once=self._trials(lasting=False),
            lasting=self._trials(lasting=True),
            losing=self.losing,
            unusable=self.unusable,
            kinds=self.kinds,
            failed=[
                FailedCall(
                    call=each.error.call if each.struck else 0,
                    lasting=each.error.lasting,
                    reaction=each.reaction,
                    finding=str(self.finding(each)),
                )
                for each in self.failed[:KEPT]
            ],
        )

    def _trials(self, *, lasting: bool) -> ErrorTrials:
        by = {each: self.tried[lasting, each] for each in _REACTIONS}
        return ErrorTrials(tried=sum(by.values()), **by)
