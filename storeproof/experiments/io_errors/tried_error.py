"""What a store made of an error of its disk; judged in the run, and again from its evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storeproof.evidence import AuditEvidence, ErrorEvidence
from storeproof.experiments.trial_summary import Tried, acknowledged, findings_of
from storeproof.history import Operation, as_of, by_place
from storeproof.records.beside.places import check_both
from storeproof.result.measured.io_errors import Reaction

_GOLDEN: Final = 0.6180339887498949


def in_order(calls: int, seed: str) -> list[int]:
    """The calls that fail, in which the first few are spread over all. The first one is as the seed has it, and the number of calls: so
    neither a call nor their number can be another one unseen."""
    begin = int.from_bytes(hashlib.sha256(f"{seed} {calls}".encode()).digest()[:4]) / 2**32
    return sorted(range(1, calls + 1), key=lambda call: (begin + call * _GOLDEN) % 1)


@dataclass(slots=True)
class TriedError(Tried):
    """One error."""

    error: ErrorEvidence
    reaction: Reaction = "went_on"
    when: str = ""
    """When something was first not as it should be: while it ran, or after the cut."""

    @property
    def struck(self) -> bool:
        """Whether the load came to the call that fails."""
        return 0 < self.error.call <= self.error.calls

    def judge(self, before: Sequence[Operation], under: Sequence[Operation]) -> None:
        """Fill in what follows from what clients sent before the error and under it, and from what was read.

        Raises:
            ValueError: other keys were read than had to be, or the checks cannot judge them.
        """
        # What was refused on a disk that fails may have been done all the same.
        history = [*before, *(each.without_reply() if each.outcome == "refused" else each for each in under)]
        self.acknowledged = acknowledged(history)
        self.reaction, error = self._reacted(history, under), self.error
        for when, read in (*(("while it runs", each) for each in error.looks), ("after a power cut", error.after)):
            if read is None:
                continue
            if read is error.after and _unread(history, read):
                raise ValueError("not all keys were read after the power cut")
            check_both(read.seen)
            if found := findings_of(as_of(history, read.moment), read.seen):
                self.findings, self.when = found, when
                return

    def _reacted(self, history: Sequence[Operation], under: Sequence[Operation]) -> Reaction:
        error = self.error
        if error.gone:
            return "ended"
        if not under:  # it took no clients
            return "read_only" if error.looks else "refused"
        written = {each.invoked: each.outcome == "ok" for each in under if each.client == error.until - 1}
        if len(written) > 1 and not any([*written.values()][-2:]):
            return "read_only"
        if any(each.outcome != "ok" for each in under) or any(_unread(history, each) for each in error.looks):
            return "refused"
        return "went_on"


def _unread(history: Sequence[Operation], read: AuditEvidence) -> bool:
    """Whether a key that was written by then was not read."""
    return not by_place(as_of(history, read.moment)).keys() <= read.seen.keys()
