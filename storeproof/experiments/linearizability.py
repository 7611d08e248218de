"""What the histories of hot keys come to: the verdict of a case, and the smallest part of one that is wrong, for the report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from storeproof.check import BEFORE, Contradiction, contradiction, is_linearizable
from storeproof.experiments.contended_keys import Hot
from storeproof.history import Access
from storeproof.result.model import AccessRecord, HistoryRecord

_SEARCH_SECONDS = 5.0
"""For each key; what takes longer is inconclusive."""

_ALL_SECONDS = 60.0
"""For all keys of a case."""

_SHRINK_SECONDS = 10.0

_LISTED = 4
"""Keys that a message names."""


@dataclass
class Linearity:
    """The judged histories of one case."""

    case: str
    keys: int = 0
    operations: int = 0
    unknown: int = 0
    undecided: list[str] = field(default_factory=list)
    """Keys whose search was given up."""
    wrong: list[str] = field(default_factory=list)
    """Keys that no order explains, with what contradicts it."""
    fleeting: list[str] = field(default_factory=list)
    """Keys that are wrong only in that somebody read, before a fault, what it undid: nobody had been told that it was done."""
    shown: list[HistoryRecord] = field(default_factory=list)
    _left: float = _ALL_SECONDS

    def judge(self, histories: Mapping[Hot, Sequence[Access]], struck: int | None = None) -> None:
        """Judge the history of each key. `struck`: when a fault had struck, on the clock of the operations."""
        for hot, accesses in histories.items():
            self.keys += 1
            self.operations += sum(each.outcome == "ok" for each in accesses)
            self.unknown += sum(each.outcome == "unknown" for each in accesses)
            name = f"{hot.kind.name} {hot.key!r}"
            right = self._search(accesses)
            if right is False and struck is not None:
                # Who only looked before the fault is left out: what is wrong without him is graver.
                lasting = [each for each in accesses if not _only_looked(each, struck)]
                kept = self._search(lasting)
                if kept:
                    self.fleeting.append(self._shown(name, accesses, struck))
                    continue
                right, accesses = kept, lasting
            if right is None:
                self.undecided.append(f"{name}: {len(accesses)} operations, no answer in time")
            elif not right:
                self.wrong.append(self._shown(name, accesses, struck))

    def _search(self, accesses: Sequence[Access]) -> bool | None:
        seconds = min(_SEARCH_SECONDS, self._left)
        if seconds <= 0:
            return None
        began = time.monotonic()
        try:
            return is_linearizable(accesses, seconds)
        finally:
            self._left -= time.monotonic() - began

    def _shown(self, name: str, accesses: Sequence[Access], struck: int | None) -> str:
        if len(self.wrong) + len(self.fleeting) >= _LISTED:
            return name  # its part would be shown nowhere
        part = contradiction(accesses, _SHRINK_SECONDS)
        if not self.shown:  # one picture says it; the messages name the others
            self.shown.append(_record(self.case, name, len(accesses), part, struck))
        return f"{name}: no order explains {_told(part)}"

    @staticmethod
    def listed(keys: Sequence[str]) -> list[str]:
        """The first of them, for a message."""
        return [*keys[:_LISTED], *([f"and {len(keys) - _LISTED} more keys"] if len(keys) > _LISTED else [])]

    @property
    def words(self) -> str:
        """What was judged."""
        unknown = f", {self.unknown} of them unknown" if self.unknown else ""
        return f"{self.operations + self.unknown} operations on {self.keys} keys{unknown}"


def _only_looked(access: Access, struck: int) -> bool:
    looked = access.action == "get" or (access.action != "increment" and access.answer is False)
    return access.completed is not None and access.completed < struck and looked


def _told(part: Contradiction) -> str:
    who = {BEFORE: "before that"}
    return "; ".join(
        f"{who.get(each.client, f'client {each.client}')}: {each}" + (" (!)" if each is part.culprit else "") for each in part.accesses
    )


def _record(case: str, key: str, operations: int, part: Contradiction, struck: int | None) -> HistoryRecord:
    first = min(each.invoked for each in part.accesses)
    return HistoryRecord(
        case=case,
        key=key,
        operations=operations,
        fault_us=None if struck is None or struck < first else (struck - first) / 1000,
        accesses=[
            AccessRecord(
                client=each.client,
                action=each.action,
                value=each.value,
                expected=each.expected,
                amount=each.amount,
                answer=each.answer,
                answer_known=each.heard,
                outcome=each.outcome,
                invoked_us=(each.invoked - first) / 1000,
                completed_us=None if each.completed is None else (each.completed - first) / 1000,
                contradicts=each is part.culprit,
            )
            for each in part.accesses
        ],
    )
