"""The operations on one store, for each audit of its evidence those that it depends on."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from storeproof.check import Audits
from storeproof.evidence import AuditEvidence, EvidenceDamaged
from storeproof.history import Operation, Place, by_place

_MOST_LOOKS: Final = 750_000
"""Operations that the audits on one store may look at: in a run, each twice, and some more where groups were harmed."""


class AuditHistories:
    """The operations of one store, for the audit of each round only those that it depends on."""

    def __init__(self, operations: list[Operation]) -> None:
        self._operations = operations
        self._invoked = [each.invoked for each in operations]
        self._by_place = by_place(operations)
        self._groups: dict[str, set[Place]] = {}
        """The keys that were written together, by write id."""
        first: dict[str, Place] = {}
        for each in operations:
            if each.write_id and first.setdefault(each.write_id, each.place) != each.place:
                self._groups.setdefault(each.write_id, {first[each.write_id]}).add(each.place)
        self._looks = 0

    def between(self, began: int, ended: int) -> Sequence[Operation]:
        """Those that were sent from the one moment to the other."""
        return self._operations[bisect_left(self._invoked, began) : bisect_right(self._invoked, ended)]

    def of(self, audits: Audits, audit: AuditEvidence) -> Sequence[Operation]:
        """All operations on the keys that were written since the last audit, and on those with an anomaly that were written together with
        one of these; in order of invocation. `audits`: those before. Raises `EvidenceDamaged`: they look at too many."""
        if audit.everything:
            found = self._operations
        else:
            first, end = bisect_left(self._invoked, audits.audited), bisect_right(self._invoked, audit.moment)
            places = {each.place for each in self._operations[first:end]}
            written = {each.write_id for place in places for each in self._by_place[place]}
            together = {place for write_id in written for place in self._groups.get(write_id, ())}
            places |= together & audits.harmed
            found = [each for place in places for each in self._by_place[place]]
            found.sort(key=lambda each: each.invoked)
        self._looks += len(found)
        if self._looks > _MOST_LOOKS:
            raise EvidenceDamaged(f"its audits look at more than {_MOST_LOOKS:,} operations, the most that is judged again")
        return found
