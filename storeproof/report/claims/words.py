"""How a claim and its numbers are written, the same on the screen and on every page."""

from __future__ import annotations

from typing import Final

from storeproof import units
from storeproof.report import formatting
from storeproof.result.claims import ClaimVerdict, JudgedClaim, RatioFound, RunRead, SideFound

MARKS: Final = {ClaimVerdict.REPRODUCED: "✔", ClaimVerdict.REFUTED: "✘", ClaimVerdict.CANNOT_SAY: "?"}

LEGEND: Final = (
    "A claim on a ratio is reproduced if the 95 % interval of the measured ratio lies between its bounds, and refuted if all of the "
    "interval lies outside them. Without bounds of its own, a figure is reproduced by the same effect to within a quarter, on a "
    "logarithmic scale: by its powers 0.8 to 1.25. A side that is at least as fast as its number (≥) gives a ratio without an upper or "
    "lower bound. A claim on waits is held against one store on two disks of one run, which are what their names say. A claim for each of "
    "several workloads is refuted by one of them, and the list then gives the ratios that refute it. A claim on durability is refuted by "
    "one acknowledged write that a fault undid."
)
CHOICE: Final = (
    "Measurements are chosen by how well they match, before any rate is looked at: pairs that `storeproof compare` allows, the text's own "
    "stores, one run, interleaved rounds, proven durability, the nearest number of clients, stores with all the cores and "
    "memory that they have by default, numbers that the load generator did not limit, the larger scale, the later run. Of unlike "
    "durability or topology are only the sides of claims that are about it."
)


def number(value: float) -> str:
    return f"{value:.3g}"


def figure(claim: JudgedClaim) -> str:
    """What the text says of the ratio, or of what is kept; empty where it gives no figure."""
    if claim.guarantee:
        return f"kept through {claim.guarantee}"
    if claim.figure is not None:
        return number(claim.figure)
    return bounds(claim)


def bounds(claim: JudgedClaim) -> str:
    """`between 0.30 and 0.47`, `above 1`; empty where there are none."""
    if claim.above is not None and claim.below is not None:
        return f"between {number(claim.above)} and {number(claim.below)}"
    if claim.above is not None:
        return f"above {number(claim.above)}"
    return f"below {number(claim.below)}" if claim.below is not None else ""


def rates(claim: JudgedClaim) -> str:
    """The rates or waits behind the text's ratio, if it gives them."""
    if claim.figure_a is None or claim.figure_b is None:
        return ""
    if claim.wait:
        return " against ".join(units.seconds(each / 1000) for each in (claim.figure_a, claim.figure_b))
    return f"{units.whole(claim.figure_a)} against {units.whole(claim.figure_b)} a second"


def ratio(found: RatioFound) -> str:
    """`0.54 [0.50, 0.59]`, `≤ 0.46` where only one bound is known, a dash where there is no ratio."""
    if found.ratio is None or (found.low is None and found.high is None):
        return "–"
    if found.low is None or found.high is None:
        return f"≥ {number(found.low)}" if found.low is not None else f"≤ {number(found.high or 0)}"
    return f"{number(found.ratio)} [{number(found.low)}, {number(found.high)}]"


def measured(claim: JudgedClaim) -> str:
    """Its ratios in a few words, of a refuted claim those that refute it; or what was lost."""
    if claim.guarantee:
        return claim.kept.partition("; ")[0] or "–"
    refuted = claim.verdict is ClaimVerdict.REFUTED
    found = [each for each in claim.ratios if each.ratio is not None and (each.verdict is ClaimVerdict.REFUTED or not refuted)]
    if not found:
        return "–"
    middles, lows, highs = ([getattr(each, name) for each in found] for name in ("ratio", "low", "high"))
    if len(found) == 1:
        said = ratio(found[0])
    elif None in lows and None in highs:
        said = "not bounded"
    elif None in highs:
        said = f"≥ {number(min(lows))}"
    elif None in lows:
        said = f"≤ {number(max(highs))}"
    else:
        said = f"{number(min(middles))} to {number(max(middles))}"
    of = f" of {len(claim.ratios)}" if len(found) < len(claim.ratios) else ""
    return f"{said} in {len(found)}{of} workloads" if len(claim.ratios) > 1 else said


def sides(claim: JudgedClaim) -> str:
    """`redis:aof-always / mongodb:journaled, row-get, 128 clients`; what only one of them has stands beside its name."""
    if not claim.ratios:
        return ""
    a, b = claim.ratios[0].a, claim.ratios[0].b
    own = [_own(a, b), _own(b, a)]
    if a.name == b.name:
        named = f"{a.name}: {own[0]} / {own[1]}"
    else:
        named = " / ".join(f"{side.name} ({parts})" if parts else side.name for side, parts in zip((a, b), own, strict=True))
    shared = [f"{len(claim.ratios)} workloads" if len(claim.ratios) > 1 else a.workload] if a.workload == b.workload else []
    shared += [units.plural(a.clients, "client")] if a.clients == b.clients else []
    return ", ".join([named, *shared])


def _own(side: SideFound, other: SideFound) -> str:
    """What this side has of its own, besides its store."""
    parts = [side.workload] if side.workload != other.workload else []
    parts += [formatting.indexes(side.indexes)] if side.indexes != other.indexes else []
    parts += [f"{side.pipeline} in flight"] if side.pipeline != other.pipeline else []
    return ", ".join(parts) or ("" if side.name != other.name else side.workload)


def rate(side: SideFound) -> str:
    """`≥ 105,014 [98,000, 110,000] C`: a median with its interval and grade."""
    sign = "≥ " if side.at_least else ""
    return f"{sign}{units.amount(side.rate)} [{units.amount(side.low)}, {units.amount(side.high)}] {side.grade}"


def wait(side: SideFound) -> str:
    """A mean wait with its unit."""
    return units.micros(side.wait_us)


def grounds(claim: JudgedClaim) -> str:
    """What the verdict rests on, in one line: the reason why there is none, what was kept, or the two sides."""
    return claim.reason or claim.kept or sides(claim)


def run(read: RunRead) -> str:
    return f"{read.id}, {read.started[:10]}, {read.scale}, edition {read.edition}: {', '.join(read.stores)}"
