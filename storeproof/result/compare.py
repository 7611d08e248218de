"""Compares measurements of two results, and refuses where a ratio would be misleading.

The round is the sample, and the ratio has a 95 % interval (`storeproof.stats.ratio`): of the medians, or per block for interleaved
rounds of one run. A difference is shown if the interval excludes 1 and the ratio exceeds the noise floor of both machines.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from storeproof.result.defect import defect_of
from storeproof.result.measurement import Measurement
from storeproof.result.model import Environment, Result, StoreResult
from storeproof.stats.ratio import Ratio, paired_ratio_of, ratio_of


@dataclass(frozen=True)
class Side:
    """One store of one result."""

    result: Result
    store: StoreResult

    @property
    def name(self) -> str:
        """`store:variant`."""
        return f"{self.store.store}:{self.store.variant}"


@dataclass(frozen=True)
class Pair:
    """Two measurements of one workload, with a ratio or the reasons why there is none."""

    a: Measurement
    b: Measurement
    ratio: Ratio | None
    refused: tuple[str, ...]
    failing: tuple[str, ...]
    """Failed gates, as `A: name` and `B: name`."""
    paired: bool = False
    """Whether the ratio is of interleaved rounds."""
    noise: float = 1.0
    """The noise floor: the factor by which two measurements of the same thing may differ on these machines."""

    @property
    def verdict(self) -> str:
        """Why the ratio shows no difference; empty if it shows one, or there is no ratio."""
        if self.ratio is None:
            return ""
        if not self.ratio.shows_difference:
            return "no difference shown"
        far = max(self.ratio.middle, 1 / self.ratio.middle)
        return "" if far > self.noise else "no difference shown: within the noise of the machine"


@dataclass(frozen=True)
class Comparison:
    """All pairs of two stores, and measurements without a partner."""

    a: Side
    b: Side
    pairs: tuple[Pair, ...]
    only_a: tuple[Measurement, ...]
    only_b: tuple[Measurement, ...]


def compare(a: Side, b: Side) -> Comparison:
    """Pair the measurements of the same workload, the most similar first.

    Measurements that differ, for example in the number of clients, are paired too and refused with the reason: omitting them would look
    as if there were none.
    """
    unlike = _unlike_runs(a, b)
    noise = _noise(a, b)
    left, right = list(a.store.measurements), list(b.store.measurements)
    candidates = [(one, other) for one in left for other in right if one.workload == other.workload]
    pairs = []
    for one, other in sorted(candidates, key=lambda pair: len(_unlike_measurements(*pair))):
        if one in left and other in right:
            left.remove(one)
            right.remove(other)
            by_turns = a.result.run.id == b.result.run.id and b.name in one.interleaved_with
            pairs.append(_pair(one, other, [*unlike, *_unlike_measurements(one, other)], noise, by_turns=by_turns))
    pairs.sort(key=lambda pair: (pair.a.workload, pair.a.indexes, pair.a.clients, pair.a.pipeline, pair.a.rate or 0))
    return Comparison(a, b, tuple(pairs), tuple(left), tuple(right))


def pair_of(a: Side, one: Measurement, b: Side, other: Measurement, about: Collection[str]) -> Pair:
    """A measurement of each of two sides, which may differ in what `about` names: fields of a measurement, and `durability`."""
    unlike = [*_unlike_runs(a, b, about), *_unlike_measurements(one, other, about)]
    return _pair(one, other, unlike, _noise(a, b), by_turns=_in_the_same_blocks(a, one, b, other))


def _in_the_same_blocks(a: Side, one: Measurement, b: Side, other: Measurement) -> bool:
    """Whether the n-th rounds of both were measured one after the other: those of one workload on the stores of a run, and since format
    2.1, which was the first with a mean latency, those of all its numbers of indexes."""
    if a.result.run.id != b.result.run.id or one.workload != other.workload or len(one.rounds) != len(other.rounds):
        return False
    if _unlike_measurements(one, other, {"indexes"}) or not (a.store is b.store or b.name in one.interleaved_with):
        return False
    return one.indexes == other.indexes or (one.latency_us.mean is not None and other.latency_us.mean is not None)


def _noise(a: Side, b: Side) -> float:
    return max((floor.factor for side in (a, b) if (floor := side.result.environment.noise)), default=1.0)


def _pair(a: Measurement, b: Measurement, unlike: Sequence[str], noise: float, *, by_turns: bool) -> Pair:
    reasons = list(unlike)
    reasons += [f"{side}: the data was not verified after the rounds" for side, each in (("A", a), ("B", b)) if not each.verified]
    ratio = None
    if not reasons:
        samples = [[each.throughput for each in side.rounds] for side in (a, b)]
        if min(len(rounds) for rounds in samples) < 2:
            reasons.append("a single round has no spread: at least two rounds on each side are needed")
        elif min(min(rounds) for rounds in samples) <= 0:
            reasons.append("a round without a single successful operation has no ratio")
        else:
            ratio = paired_ratio_of(samples[0], samples[1]) if by_turns else ratio_of(samples[0], samples[1])
    failing = [f"{side}: {name}" for side, each in (("A", a), ("B", b)) for name, gate in each.gates.items() if not gate.ok]
    return Pair(a, b, ratio, tuple(reasons), tuple(failing), by_turns, noise)


def _unlike_runs(a: Side, b: Side, about: Collection[str] = ()) -> list[str]:
    """Differences between two runs that rule out any comparison."""
    reasons = [] if "durability" in about else _unlike_durability(a, b)
    if a.store.topology != b.store.topology:
        reasons.append(_differ("topology", a.store.topology, b.store.topology))
    editions = [f"{side.result.edition.version} ({side.result.edition.hash})" for side in (a, b)]
    if editions[0] != editions[1]:
        reasons.append(_differ("edition", *editions))
    if a.result.run.scale != b.result.run.scale:
        reasons.append(_differ("scale", a.result.run.scale, b.result.run.scale))
    return reasons + _unlike_machines(a, b)


def _unlike_durability(a: Side, b: Side) -> list[str]:
    one, other = a.store.durability.proven, b.store.durability.proven
    if one is None or other is None:
        sides = " and ".join(side for side, proven in (("A", one), ("B", other)) if proven is None)
        return [f"durability was not proven in {sides}"]
    if one == other:
        return []
    defects = [f"{side}: {defect}" for side, each in (("A", a), ("B", b)) if (defect := defect_of(each.store))]
    return ["; ".join([_differ("proven durability", one, other), *defects])]


def _unlike_machines(a: Side, b: Side) -> list[str]:
    one, other = a.result.environment, b.result.environment
    reasons = [
        _differ(f"machine: {name}", str(getattr(one, name)), str(getattr(other, name)))
        for name in ("cpu", "cores", "kernel", "disk", "filesystem")
        if getattr(one, name) != getattr(other, name)
    ]
    # The kernel reserves a little memory, and not the same at every boot.
    if not math.isclose(one.memory_bytes, other.memory_bytes, rel_tol=0.01):
        reasons.append(_differ("machine: memory", *(f"{each.memory_bytes / 2**30:.1f} GiB" for each in (one, other))))
    given = [_given(each) for each in (one, other)]
    if given[0] != given[1]:
        reasons.append(_differ("what each store was given", *given))
    return reasons


def _given(environment: Environment) -> str:
    """Cores and memory of each store, in words. Before format 2.1 all stores shared all cores with the load generator."""
    found = environment.placement
    cores = environment.cores if found is None else len(found.server)
    beside = "shared" if found is None or found.shared else f"{len(found.generator)} for the load generator"
    memory = "" if found is None or found.memory_bytes is None else f", {found.memory_bytes / 2**20:.0f} MiB"
    return f"{cores} cores ({beside}){memory}"


def _unlike_measurements(a: Measurement, b: Measurement, about: Collection[str] = ()) -> list[str]:
    """What differs between two measurements. `threads` may: it is chosen so that the load generator is not the limit, and where it is none,
    the rate is the store's, whatever number of threads asked for it."""
    reasons = [
        _differ(words, *("none" if getattr(each, name) in ("", None) else str(getattr(each, name)) for each in (a, b)))
        for name, words in (
            ("model", "model"),
            ("record", "variation of the record"),
            ("operation", "operation"),
            ("batch", "batch"),
            ("indexes", "number of indexes"),
            ("clients", "number of clients"),
            ("pipeline", "number of requests in flight"),
            ("engine", "load engine"),
            ("load_model", "load model"),
            ("rate", "offered rate"),
            ("loaded", "records loaded"),
            ("payload_bytes", "payload in bytes"),
            ("corpus", "corpus"),
        )
        if name not in about and getattr(a, name) != getattr(b, name)
    ]
    if "unit" not in about and a.throughput.unit != b.throughput.unit:
        reasons.append(_differ("unit", a.throughput.unit, b.throughput.unit))
    return reasons


def _differ(what: str, a: str, b: str) -> str:
    return f"{what} differs: {a} against {b}"
