"""Judges whether what was written together is there together.

A group is several puts that went as one, in a batch or in a transaction; they share their write id. Some records are only ever written
by groups, and always by groups of the same records. Then whatever was acknowledged, and whatever order the groups took effect in,
one of them was the last: all of its records are there, or, where none took effect, not one of them.

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
"""Records of a group that a message lists."""


def judge_groups(operations: Iterable[Operation], findings: Iterable[Finding]) -> list[Finding]:
    """A finding `split` for every set of records of which a part is there; under its first place, and with nothing missing.

    What of an acknowledged group is missing is said by the finding of each record, so that it counts once.
    `operations`: of any keys. `findings`: on each record of its own; sets of which one was not looked at are passed over.

    Raises:
        ValueError: groups overlap in part, or a record of one was written alone: then nothing follows from what is there.
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
