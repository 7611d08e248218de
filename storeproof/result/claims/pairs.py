"""Finds the two measurements that a claim is about, and whether their ratio reproduces it.

They are chosen by how well they match, before any rate is looked at: the numbers that suit a claim best are not picked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from storeproof.result.claims.judged import ClaimVerdict, RatioFound, SideFound
from storeproof.result.compare import Pair, Side, pair_of
from storeproof.result.measurement import Measurement
from storeproof.result.ratios.across_disks import may_differ, on_one_disk, waits_of
from storeproof.spec.questions.claim import ClaimedSide, PublishedClaim
from storeproof.spec.questions.devices import WaitKind

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "durability": ("durability",),
    "topology": ("topology",),
    "workload": ("model", "operation", "batch", "payload_bytes", "loaded", "record", "corpus", "unit"),
    "indexes": ("indexes",),
    "clients": ("clients",),
    "pipeline": ("pipeline",),
    "record": ("record", "payload_bytes"),
}
"""In what two measurements may differ, by what the claim is about."""

_SCALES: Final = ("full", "standard", "smoke")
"""The nearest to a benchmark's own sizes first."""


_OVER: Final = "the interval reaches over a bound"


@dataclass(frozen=True)
class ClaimPair:
    """Two measurements for a claim, with what stands against their comparison."""

    a: Side
    b: Side
    pair: Pair
    obstacles: tuple[str, ...]
    """Refusals, with `A` and `B` as letters."""


def find(claim: PublishedClaim, workloads: tuple[str, str], clients: int | None, sides: Sequence[Side]) -> ClaimPair | None:
    """The pair that matches best; None if one of the sides, or the two at once, were not measured.

    Pairs that may be compared come first. Among these: the text's own stores, one run, interleaved rounds, proven durability, the number
    of clients, stores that were given all that they have by default, numbers that the load generator did not limit, the larger scale,
    and the later run.
    """
    found = [
        (key, ClaimPair(a, b, pair, pair.refused))
        for a, b, one, other, key in _candidates(claim, workloads, clients, sides)
        for pair in [pair_of(a, one, b, other, _about(claim, a, b))]
        for key in [(len(pair.refused), *key[:2], not pair.paired, *key[2:])]
    ]
    return min(found, key=lambda each: each[0])[1] if found else None


_Key = tuple[int | float | bool, ...]


def _candidates(
    claim: PublishedClaim, workloads: tuple[str, str], clients: int | None, sides: Sequence[Side]
) -> Iterator[tuple[Side, Side, Measurement, Measurement, _Key]]:
    """One pair for each two stores of two runs: that with the number of clients nearest to the text's."""
    assert claim.a is not None
    assert claim.b is not None
    same = claim.a.stores == claim.b.stores
    ages = sorted((side.result.run.started for side in sides), reverse=True)
    for a in (each for each in sides if each.name in claim.a.targets):
        for b in (each for each in sides if each.name in claim.b.targets):
            if same and claim.a.targets.index(a.name) != claim.b.targets.index(b.name):
                continue
            pairs = [
                (one, other)
                for one in _measured(a, claim.a, workloads[0])
                for other in _measured(b, claim.b, workloads[1])
                if one.clients == other.clients or "clients" in claim.about
            ]
            # Without an equal number of clients the refusal is shown, so that it does not look as if nothing was measured.
            pairs = pairs or [(one, other) for one in _measured(a, claim.a, workloads[0]) for other in _measured(b, claim.b, workloads[1])]
            if pairs:
                one, other = min(pairs, key=lambda pair: sum(_distance(each.clients, clients) for each in pair))
                yield a, b, one, other, (
                    claim.a.targets.index(a.name) + claim.b.targets.index(b.name),
                    a.result.run.id != b.result.run.id,
                    sum(side.store.durability.proven is None for side in (a, b)),
                    _distance(one.clients, clients),
                    sum(bool(side.result.environment.confined_to) for side in (a, b)),
                    sum(each.at_least for each in (one, other)),
                    _SCALES.index(a.result.run.scale) if a.result.run.scale in _SCALES else len(_SCALES),
                    ages.index(a.result.run.started) + ages.index(b.result.run.started),
                )  # fmt: skip


def _measured(side: Side, claimed: ClaimedSide, workload: str) -> list[Measurement]:
    return [
        each
        for each in side.store.measurements
        if (each.workload, each.indexes, each.pipeline, each.record) == (workload, claimed.indexes, claimed.pipeline, claimed.record)
        if claimed.clients in (None, each.clients)
    ]


def _distance(found: int, wanted: int | None) -> float:
    """Between numbers of clients, as a factor; of none that is wanted the larger is the nearer."""
    return abs(math.log(found / wanted)) if wanted else -math.log(found)


def _about(claim: PublishedClaim, a: Side, b: Side) -> frozenset[str]:
    if claim.wait is not None:
        return may_differ(a, b)
    fields = {field for subject in claim.about for field in _FIELDS[subject]}
    # One store in one run has one durability, proven or not.
    return frozenset(fields | ({"durability"} if a.store is b.store else set()))


def judged_wait(found: ClaimPair, kind: WaitKind, bounds: tuple[float, float]) -> RatioFound:
    """The same of the mean waits for one kind of I/O on two disks, as `storeproof compare --across=disk` gives their ratio."""
    a, b = (
        _shown(side, measured).model_copy(update={"wait_us": getattr(measured.anatomy.mean_waits, kind) if measured.anatomy else None})
        for side, measured in ((found.a, found.pair.a), (found.b, found.pair.b))
    )
    wait = next((each for each in waits_of(found.pair) if each.kind == kind), None)
    ratio, obstacles = wait.ratio if wait is not None else None, found.obstacles
    if on_one_disk(found.a, found.b):
        obstacles = (*obstacles, f"{found.a.store.disk} and {found.b.store.disk} are directories of one file system")
    if obstacles or ratio is None:
        unseen = wait.refused if wait is not None else f"no waits of {kind.replace('_', ' ')} were seen on both disks (--anatomy)"
        return RatioFound(a=a, b=b, verdict=ClaimVerdict.CANNOT_SAY, reason="; ".join(obstacles) or unseen)
    verdict = _verdict(ratio.low, ratio.high, bounds)
    return RatioFound(
        a=a, b=b, ratio=ratio.middle, low=ratio.low, high=ratio.high, interleaved=True, verdict=verdict,
        reason=_OVER if verdict is ClaimVerdict.CANNOT_SAY else "",
    )  # fmt: skip


def judged(found: ClaimPair, bounds: tuple[float, float]) -> RatioFound:
    """Whether the interval of the ratio lies between the bounds, outside them, or neither."""
    a, b = _shown(found.a, found.pair.a), _shown(found.b, found.pair.b)
    ratio = found.pair.ratio
    if found.obstacles or ratio is None:
        return RatioFound(a=a, b=b, verdict=ClaimVerdict.CANNOT_SAY, reason="; ".join(found.obstacles))
    low, high = ratio.low, ratio.high
    noisy = max(ratio.middle, 1 / ratio.middle) <= found.pair.noise
    if noisy:
        # Within the noise of its kind, the ratio of two equal rates may be any in this range.
        low, high = min(low, 1 / found.pair.noise), max(high, found.pair.noise)
    if b.at_least:
        low = 0.0
    if a.at_least:
        high = math.inf
    verdict, reason = _verdict(low, high, bounds), ""
    if verdict is ClaimVerdict.CANNOT_SAY:
        reason = _open(a, b, noise=found.pair.noise if noisy else None)
    return RatioFound(
        a=a, b=b, ratio=ratio.middle, low=low or None, high=high if high < math.inf else None,
        interleaved=found.pair.paired, verdict=verdict, reason=reason,
    )  # fmt: skip


def _verdict(low: float, high: float, bounds: tuple[float, float]) -> ClaimVerdict:
    least, most = bounds
    # An open end reaches as far as a claim without a bound there: 0 and infinity are inside.
    if (least == 0 or least < low) and (most == math.inf or high < most):
        return ClaimVerdict.REPRODUCED
    return ClaimVerdict.REFUTED if high < least or most < low else ClaimVerdict.CANNOT_SAY


def _open(a: SideFound, b: SideFound, noise: float | None) -> str:
    """Why an interval decides nothing."""
    if limited := " and ".join(dict.fromkeys(each.name for each in (a, b) if each.at_least)):
        return f"{limited} may be faster: the load generator was the limit"
    if noise is not None:
        return f"the difference is within the noise of its kind, a factor of {noise:.2f}"
    return _OVER


def _shown(side: Side, measured: Measurement) -> SideFound:
    rate, durability = measured.throughput, side.store.durability
    return SideFound(
        name=side.name,
        version=side.store.product,
        run=side.result.run.id,
        workload=measured.workload,
        clients=measured.clients,
        indexes=measured.indexes,
        pipeline=measured.pipeline,
        rate=rate.median,
        low=rate.low,
        high=rate.high,
        grade=measured.grade,
        at_least=measured.at_least,
        proven=durability.shown,
    )
