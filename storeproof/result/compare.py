"""Compares measurements of two results, or of a workload with indexes and without, and refuses where a ratio would be misleading.

The round is the sample, and the ratio has a 95 % interval (`storeproof.stats.ratio`): of the medians, or per block for interleaved
rounds of one run. A difference is shown if the interval excludes 1 and the ratio exceeds the noise floor of its kind of workload.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from storeproof.result.machine import DiskSheet, Environment
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, StoreResult
from storeproof.result.proof import defect_of
from storeproof.result.ratios.noise import KindNoise, kind_of, noise_of
from storeproof.result.ratios.number_ratio import Bound, number_ratio
from storeproof.stats.ratio import Ratio

PLAN: Final[Mapping[str, str]] = {
    "model": "model",
    "record": "variation of the record",
    "operation": "operation",
    "batch": "batch",
    "indexes": "number of indexes",
    "clients": "number of clients",
    "pipeline": "number of requests in flight",
    "engine": "load engine",
    "hosts": "number of hosts that put on the load",
    "load_model": "load model",
    "rate": "offered rate",
    "loaded": "records loaded",
    "payload_bytes": "payload in bytes",
    "corpus": "corpus",
}
"""The fields of a measurement in which two that are compared are alike, in words."""


@dataclass(frozen=True)
class Side:
    """One store of one result."""

    result: Result
    store: StoreResult
    floors: Mapping[str, KindNoise] | None = None
    """The noise floors of the result, where they are known already."""

    @property
    def name(self) -> str:
        return self.store.name

    @cached_property
    def noise(self) -> Mapping[str, KindNoise]:
        """The noise floors of the result, by kind of workload."""
        return noise_of(self.result) if self.floors is None else self.floors


def sides_of(result: Result) -> list[Side]:
    floors = noise_of(result)
    return [Side(result, store, floors) for store in result.stores]


@dataclass(frozen=True)
class Pair:
    """Two measurements of one workload, with a ratio or the reasons why there is none."""

    a: Measurement
    b: Measurement
    ratio: Ratio | None
    refused: tuple[str, ...]
    bound: Bound = ""
    """`≥` or `≤`: the load generator was the limit of A or of B, and the true ratio is that much or more, or less."""
    paired: bool = False
    """Whether the ratio is of interleaved rounds."""
    noise: float = 1.0
    """The noise floor: the factor below which two medians of the same thing differ by chance, for this kind and number of rounds."""

    @property
    def faster(self) -> Literal["A", "B", ""]:
        """The side that is shown to be faster, if one is."""
        if self.ratio is None:
            return ""
        if self.bound != "≤" and self.ratio.low > 1 and self.ratio.middle > self.noise:
            return "A"
        if self.bound != "≥" and self.ratio.high < 1 and 1 / self.ratio.middle > self.noise:
            return "B"
        return ""

    @property
    def verdict(self) -> str:
        """Why the ratio shows no difference; empty if it shows one, or there is no ratio."""
        if self.ratio is None or self.faster:
            return ""
        if not self.ratio.shows_difference:
            return "no difference shown"
        limited = {"≥": "A", "≤": "B"}.get(self.bound)
        if limited and (self.ratio.high < 1) == (limited == "A"):
            return f"no difference shown: {limited} may be faster than its number"
        return "no difference shown: within the noise of its kind"


@dataclass(frozen=True)
class Comparison:
    """All pairs of two stores, and measurements without a partner."""

    a: Side
    b: Side
    pairs: tuple[Pair, ...]
    only_a: tuple[Measurement, ...]
    only_b: tuple[Measurement, ...]


def compare(a: Side, b: Side, about: Collection[str] = ()) -> Comparison:
    """Pair the measurements of the same workload, the most similar first. `about`: see `pair_of`.

    Measurements that differ, for example in the number of clients, are paired too and refused with the reason: omitting them would look
    as if there were none.
    """
    left, right = list(a.store.measurements), list(b.store.measurements)
    candidates = [(one, other) for one in left for other in right if one.workload == other.workload]
    pairs = []
    for one, other in sorted(candidates, key=lambda pair: len(unlike_measurements(*pair))):
        if one in left and other in right:
            left.remove(one)
            right.remove(other)
            pairs.append(pair_of(a, one, b, other, about))
    pairs.sort(key=lambda pair: order_of(pair.a))
    return Comparison(a, b, tuple(pairs), tuple(left), tuple(right))


def pair_of(
    a: Side, one: Measurement, b: Side, other: Measurement, about: Collection[str] = (), names: tuple[str, str] = ("A", "B")
) -> Pair:
    """A measurement of each of two sides.

    Args:
        about: in what they may differ: fields of a measurement, `unit`, `durability`, and `disk`.
        names: of both sides, for the reasons of a refusal.
    """
    paired = _in_the_same_blocks(a, one, b, other)
    found = number_ratio(one, other, paired=paired, names=names)
    unlike = [*_unlike_runs(a, b, about, names), *unlike_measurements(one, other, about)]
    noise = floor(a, one, b, other, same_blocks=paired)
    if unlike:
        return Pair(one, other, None, (*unlike, *found.refused), paired=paired, noise=noise)
    return Pair(one, other, found.ratio, found.refused, found.bound, paired, noise)


def _in_the_same_blocks(a: Side, one: Measurement, b: Side, other: Measurement) -> bool:
    """Whether the n-th rounds of both were measured one after the other: those of one workload on the stores of a run, and since format
    2.1, which was the first with a mean latency, those of all its numbers of indexes."""
    if a.result.run.id != b.result.run.id or one.workload != other.workload or len(one.rounds) != len(other.rounds):
        return False
    if unlike_measurements(one, other, {"indexes"}) or not (a.store is b.store or b.name in one.interleaved_with):
        return False
    return one.indexes == other.indexes or (one.latency_us.mean is not None and other.latency_us.mean is not None)


def floor(a: Side, one: Measurement, b: Side, other: Measurement, *, same_blocks: bool = False) -> float:
    """The noise floor of two measurements: of their kind, for the fewer rounds and laps of the two, in the noisier of the two results.
    `same_blocks`: whether their rounds were measured in turns."""
    rounds = min(len(one.rounds), len(other.rounds))
    laps = min(len(one.laps), len(other.laps)) or 1
    known = [side.noise.get(kind_of(each)) for side, each in ((a, one), (b, other))]
    return max((each.factor(rounds, laps, same_blocks=same_blocks) for each in known if each), default=1.0)


def order_of(measured: Measurement) -> tuple[Any, ...]:
    """The order in which measurements are shown."""
    return (measured.workload, measured.indexes, measured.clients, measured.pipeline, measured.rate or 0)


def unlike_machines(a: Side, b: Side, about: Collection[str] = ()) -> list[str]:
    """Differences between the machines of two runs, and in what was demanded of them. `about`: see `pair_of`."""
    one, other = a.result.environment, b.result.environment
    reasons = []
    editions = [f"{side.result.edition.version} ({side.result.edition.hash})" for side in (a, b)]
    if editions[0] != editions[1]:
        reasons.append(_differ("edition", *editions))
    if a.result.run.scale != b.result.run.scale:
        reasons.append(_differ("scale", a.result.run.scale, b.result.run.scale))
    reasons += _unlike(one, other, ("cpu", "cores", "kernel"))
    if "disk" not in about:
        reasons += _unlike(_disk(a), _disk(b), ("disk", "filesystem"))
    # The kernel reserves a little memory, and not the same at every boot.
    if not math.isclose(one.memory_bytes, other.memory_bytes, rel_tol=0.01):
        reasons.append(_differ("machine: memory", *(f"{each.memory_bytes / 2**30:.1f} GiB" for each in (one, other))))
    given = [_given(each) for each in (one, other)]
    if given[0] != given[1]:
        reasons.append(_differ("what each store was given", *given))
    return reasons


def _unlike(one: object, other: object, names: Iterable[str]) -> list[str]:
    """The fields of a machine that differ."""
    found = [(name, str(getattr(one, name)), str(getattr(other, name))) for name in names]
    return [_differ(f"machine: {name}", *values) for name, *values in found if values[0] != values[1]]


def _disk(side: Side) -> Environment | DiskSheet:
    """What says on which disk the store's data was."""
    environment = side.result.environment
    return environment.disks.get(side.store.disk or "", environment)


def _given(environment: Environment) -> str:
    """Cores and memory of each store, in words. Before format 2.1 all stores shared all cores with the load generator."""
    found = environment.placement
    cores = environment.cores if found is None else len(found.server)
    beside = "shared" if found is None or found.shared else f"{len(found.generator)} for the load generator"
    memory = "" if found is None or found.memory_bytes is None else f", {found.memory_bytes / 2**20:.0f} MiB"
    return f"{cores} cores ({beside}){memory}"


def _unlike_runs(a: Side, b: Side, about: Collection[str], names: Sequence[str]) -> list[str]:
    """Differences between two runs that rule out any comparison."""
    reasons = [] if "durability" in about else _unlike_durability(a, b, names)
    if "topology" not in about and a.store.topology != b.store.topology:
        reasons.append(_differ("topology", a.store.topology, b.store.topology))
    return reasons + unlike_machines(a, b, about)


def _unlike_durability(a: Side, b: Side, names: Sequence[str]) -> list[str]:
    one, other = a.store.durability.proven, b.store.durability.proven
    if one is None or other is None:
        sides = " and ".join(name for name, proven in zip(names, (one, other), strict=True) if proven is None)
        return [f"durability was not proven in {sides}"]
    if one == other:
        return []
    defects = [f"{name}: {defect}" for name, each in zip(names, (a, b), strict=True) if (defect := defect_of(each.store))]
    return ["; ".join([_differ("proven durability", one, other), *defects])]


def unlike_measurements(a: Measurement, b: Measurement, about: Collection[str] = ()) -> list[str]:
    """What keeps two numbers out of one ratio, and out of one column of a picture or page; empty where nothing does.

    `threads` may differ: it is chosen so that the load generator is not the limit, and where it is none, the rate is the store's, whatever
    number of threads asked for it.
    """
    reasons = [
        _differ(words, *("none" if getattr(each, name) in ("", None) else str(getattr(each, name)) for each in (a, b)))
        for name, words in PLAN.items()
        if name not in about and getattr(a, name) != getattr(b, name)
    ]
    if "unit" not in about and a.throughput.unit != b.throughput.unit:
        reasons.append(_differ("unit", a.throughput.unit, b.throughput.unit))
    if (a.anatomy is None) != (b.anatomy is None):
        reasons.append("the I/O of one store was watched (--anatomy), which takes time, and that of the other was not")
    return reasons


def _differ(what: str, a: str, b: str) -> str:
    return f"{what} differs: {a} against {b}"


_ABOUT: Final = frozenset({"indexes", "durability"})
"""In what both sides may differ: one store in one run has one durability, proven or not."""


@dataclass(frozen=True)
class IndexCost:
    """One number of indexes against none."""

    store: StoreResult
    pair: Pair
    """Indexed over plain: below 1, the indexes cost something."""


def index_costs(result: Result) -> list[IndexCost]:
    """The costs of all stores and workloads that were measured with indexes and without."""
    costs = []
    for side in sides_of(result):
        plain = {_plan(each): each for each in side.store.measurements if not each.indexes}
        for each in side.store.measurements:
            beside = plain.get(_plan(each))
            if each.indexes and beside is not None:
                names = (f"with {each.indexes}", "without")
                costs.append(IndexCost(side.store, pair_of(side, each, side, beside, _ABOUT, names)))
    return costs


def _plan(measured: Measurement) -> tuple[Any, ...]:
    return (measured.workload, *(getattr(measured, field) for field in PLAN if field != "indexes"))
