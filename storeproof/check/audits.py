"""The audits of one store after one fault and the next, and which keys each must read.

Every key is read after the fault that follows its last write, and in the last audit again, since what survived one fault must survive the
later ones too. A key with an anomaly is counted once, and not looked at again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from itertools import chain

from storeproof.check.counters import judge_counter
from storeproof.check.durability import Anomaly, Finding, judge_key
from storeproof.check.groups import judge_groups
from storeproof.history import Observation, Operation, Place, Seen, by_place


def judge_seen(operations: Sequence[Operation], seen: Seen) -> Finding:
    """The finding for one key, a record or a counter. Raises as `judge_key` and `judge_counter` do."""
    return judge_key(operations, seen) if isinstance(seen, Observation) else judge_counter(operations, seen)


class Audits:
    """The audits of one store, in their order. Times are nanoseconds on the clock of the operations."""

    def __init__(self) -> None:
        self._harmed: set[Place] = set()
        self._audited = 0
        """When the last audit ended: what was written since is read in the next one."""

    @property
    def harmed(self) -> frozenset[Place]:
        return frozenset(self._harmed)

    @property
    def audited(self) -> int:
        """When the last audit ended; 0 before the first."""
        return self._audited

    def due(self, operations: Sequence[Operation], *, everything: bool) -> dict[Place, list[Operation]]:
        """The keys that the next audit must read, with their operations. `operations`: in order of invocation."""
        begin = 0 if everything else bisect_left(operations, self._audited, key=lambda each: each.invoked)
        return _of({each.place for each in operations[begin:]} - self._harmed, operations)

    def judge(self, operations: Sequence[Operation], seen: Mapping[Place, Seen]) -> list[Finding]:
        """The findings for all keys that were read.

        Args:
            operations: as for `due`.
            seen: what was read under the keys that were due.

        Raises:
            ValueError: a key was read that was never written, or one that the checks cannot judge.
        """
        # Groups with a harmed record were checked when it was found.
        histories = _of(seen.keys() | self._harmed, operations)
        if strangers := seen.keys() - histories.keys():
            raise ValueError(f"{len(strangers)} keys were read back that were never written")
        findings = [judge_seen(histories[place], each) for place, each in seen.items()]
        findings += judge_groups(chain.from_iterable(histories.values()), findings)
        self._harmed |= {(finding.collection, finding.key) for finding in findings if finding.anomaly is not Anomaly.OK}
        return findings

    def ended(self, moment: int) -> None:
        """The audit is over, and clients may write again."""
        self._audited = moment


def _of(places: Set[Place], operations: Sequence[Operation]) -> dict[Place, list[Operation]]:
    return by_place(each for each in operations if (each.collection, each.key) in places)
