"""Checks that records which were written together are present together.

A group is several puts in one batch or transaction; they have the same write id. Some records are written only by groups, always by groups
of the same records. Then, whatever was acknowledged and in whatever order the groups took effect, one of them was the last: all of its
records are present or, if no group took effect, none.

    a, b, c together v1 |--ok--|                    v1 v1 v1 is right. Nothing at all is lost, but not split.
    a, b, c together v1 |--ok--|  v2 |--???         v1 v1 v1 and v2 v2 v2 are right; v2 v1 v1 is `split`, though each of the
                                                    three is what its own key may hold.
    a, b, c together v1 |--???                      v1 v1 - is `split`, though nothing was acknowledged.
"""

from __future__ import annotations

from collections.abc import Iterable

from storeproof.check.durability import Anomaly, Finding
from storeproof.history import Operation, Place

_SHOWN = 8
"""The number of records of a group that a message lists."""


def judge_groups(operations: Iterable[Operation], findings: Iterable[Finding]) -> list[Finding]:
    """A finding `split` for every set of records of which only a part is present; with its first key, and without missing operations.

    The findings of the single records have the missing operations of an acknowledged group, so that they are counted once.
    `operations`: of any keys. `findings`: for single records; a set with a record that was not read is skipped.

    Raises:
        ValueError: groups overlap partly, or one of their records was written singly: then the check is not possible.
    """
    groups: dict[str, list[Operation]] = {}
    for each in operations:
        groups.setdefault(each.write_id, []).append(each)  # deletes and increments have none
    sets: dict[Place, frozenset[Place]] = {}
    for parts in groups.values():
        if len(parts) > 1 and parts[0].write_id:
            places = frozenset(each.place for each in parts)
            sets |= {place: sets.get(place, places) for place in places}
    for parts in groups.values():
        places = frozenset(each.place for each in parts) if parts[0].write_id else frozenset()
        for each in parts:
            if (known := sets.get(each.place)) is not None and known != places:
                raise ValueError(f"groups consist of the same records each, never written alone; found a breach of that at {each}")
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
