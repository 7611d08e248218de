"""Checks the atomicity of batches and transactions: records that were written together must be present together.

A group is a set of puts or of deletes in one batch or transaction, which share a write id. The check needs records that are only ever
written as a group, and always as the same group. Then one group took effect last, whatever was acknowledged and in whatever order: either
all records are those of that group or, if it deleted them or no group took effect, all are absent.

    a, b, c together v1 |--ok--|                    v1 v1 v1 is right; if all three are absent, they are lost, but not `split`.
    a, b, c together v1 |--ok--|  v2 |--???         v1 v1 v1 and v2 v2 v2 are right; v2 v1 v1 is `split`, although each value
                                                    would be right for its key alone.
    a, b, c together v1 |--???                      v1 v1 - is `split`, although nothing was acknowledged.
"""

from __future__ import annotations

from collections.abc import Iterable

from storeproof.check.durability import Anomaly, Finding
from storeproof.history import Operation, Place

_SHOWN = 8
"""Maximum number of a group's records that a message lists."""


def judge_groups(operations: Iterable[Operation], findings: Iterable[Finding]) -> list[Finding]:
    """A `split` finding for each set of records whose observed states differ, under the first of its keys.

    It lists no missing operations: the findings of the single records do, and each is to be counted once.
    `operations`: of any keys. `findings`: one per record; a set with a record that was not read is skipped.

    Raises:
        ValueError: two groups overlap in part, or a record of a group was also written alone: the check is not possible.
    """
    groups: dict[str, list[Operation]] = {}
    for each in operations:
        groups.setdefault(each.write_id, []).append(each)  # single deletes and increments have no write id
    sets: dict[Place, frozenset[Place]] = {}
    for parts in groups.values():
        if len(parts) > 1 and parts[0].write_id:
            places = frozenset(each.place for each in parts)
            sets |= {place: sets.get(place, places) for place in places}
    for parts in groups.values():
        places = frozenset(each.place for each in parts) if parts[0].write_id else frozenset()
        compared: frozenset[Place] | None = None
        for each in parts:
            known = sets.get(each.place)
            if known is None or known is compared:
                continue  # a group that is large is compared once, not once for each of its records
            compared = known
            if known != places:
                raise ValueError(f"the records of a group are always written together, never written alone; found {each}")
    seen = {(finding.collection, finding.key): finding for finding in findings}
    return [
        _split([seen[place] for place in sorted(places, key=str)])
        for places in dict.fromkeys(sets.values())
        if places <= seen.keys() and len({seen[place].seen for place in places}) > 1
    ]


def _split(parts: list[Finding]) -> Finding:
    shown = ", ".join(f"{part.collection}[{part.key!r}] {part.seen}" for part in parts[:_SHOWN])
    more = f", and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return Finding(parts[0].collection, parts[0].key, Anomaly.SPLIT, f"of {len(parts)} written together: {shown}{more}")
