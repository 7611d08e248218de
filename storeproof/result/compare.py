"""Sets measurements of two results against each other, and refuses where a ratio would mislead.

Method: the round is the sample. The ratio is that of the two medians. Its 95 % interval is built on the
logarithms of the rounds' throughputs, which are closer to normal than the throughputs and make A/B and
B/A the same statement: Welch's standard error, Student's t with the degrees of freedom after Satterthwaite
(rounded down), widened by sqrt(pi/2), the most by which a median of normal samples scatters more than
their mean.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from storeproof.result.model import Measurement, Result, StoreResult

METHOD = (
    "ratio of the medians over rounds; 95 % interval from the rounds' log throughputs (Welch's standard error, Student's t, "
    "widened by sqrt(pi/2) since medians scatter more than means)"
)

_T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Student's t, 97.5 % quantile, for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook, table 1.3.6.7.2); above, that of 30 is safe."""


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
class Ratio:
    """A over B."""

    median: float
    low: float
    high: float

    @property
    def shows_difference(self) -> bool:
        """Whether the interval leaves 1 out."""
        return self.low > 1 or self.high < 1


@dataclass(frozen=True)
class Pair:
    """Two measurements of one workload: with a ratio, or with the reasons why there is none."""

    a: Measurement
    b: Measurement
    ratio: Ratio | None
    refused: tuple[str, ...]
    failing: tuple[str, ...]
    """Gates that a number fails, as `A: name` and `B: name`."""


@dataclass(frozen=True)
class Comparison:
    """All pairs of two stores, and what has no partner."""

    a: Side
    b: Side
    pairs: tuple[Pair, ...]
    only_a: tuple[Measurement, ...]
    only_b: tuple[Measurement, ...]


def compare(a: Side, b: Side) -> Comparison:
    """Pair the measurements of the same workload, the likest first; refuse the unlike.

    What one side measured only with, say, another number of clients is paired too, and refused with that
    reason: a silent gap would look as if there was nothing to say.
    """
    unlike = _unlike_runs(a, b)
    left, right = list(a.store.measurements), list(b.store.measurements)
    candidates = [(one, other) for one in left for other in right if one.workload == other.workload]
    pairs = []
    for one, other in sorted(candidates, key=lambda pair: len(_unlike_measurements(*pair))):
        if one in left and other in right:
            left.remove(one)
            right.remove(other)
            pairs.append(_pair(one, other, unlike))
    pairs.sort(key=lambda pair: (pair.a.workload, pair.a.indexes, pair.a.clients))
    return Comparison(a, b, tuple(pairs), tuple(left), tuple(right))


def _pair(a: Measurement, b: Measurement, unlike: Sequence[str]) -> Pair:
    reasons = [*unlike, *_unlike_measurements(a, b)]
    reasons += [f"{side}: the data was not verified after the rounds" for side, each in (("A", a), ("B", b)) if not each.verified]
    ratio = None
    if not reasons:
        samples = [[each.throughput for each in side.rounds] for side in (a, b)]
        if min(len(rounds) for rounds in samples) < 2:
            reasons.append("a single round has no spread: at least two rounds on each side are needed")
        elif min(min(rounds) for rounds in samples) <= 0:
            reasons.append("a round without a single successful operation has no ratio")
        else:
            ratio = ratio_of(samples[0], samples[1])
    failing = [f"{side}: {name}" for side, each in (("A", a), ("B", b)) for name, gate in each.gates.items() if not gate.ok]
    return Pair(a, b, ratio, tuple(reasons), tuple(failing))


def ratio_of(a: Sequence[float], b: Sequence[float]) -> Ratio:
    """The ratio of the medians with its 95 % interval; both hold at least two positive throughputs."""
    logs = [[math.log(value) for value in side] for side in (a, b)]
    parts = [statistics.variance(side) / len(side) for side in logs]
    squared = sum(parts)
    centre = math.log(statistics.median(a) / statistics.median(b))
    if squared == 0:
        half = 0.0
    else:
        freedom = squared**2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, logs, strict=True))
        t = _T_975[min(max(int(freedom), 1), len(_T_975)) - 1]
        half = t * math.sqrt(squared * math.pi / 2)
    return Ratio(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


def _unlike_runs(a: Side, b: Side) -> list[str]:
    """What differs between two runs so that none of their numbers may be set against each other."""
    reasons = []
    one, other = a.store.durability.proven, b.store.durability.proven
    if one is None or other is None:
        sides = " and ".join(side for side, proven in (("A", one), ("B", other)) if proven is None)
        reasons.append(f"durability was not proven in {sides}")
    elif one != other:
        reasons.append(_differ("proven durability", one, other))
    if a.store.topology != b.store.topology:
        reasons.append(_differ("topology", a.store.topology, b.store.topology))
    editions = [f"{side.result.edition.version} ({side.result.edition.hash})" for side in (a, b)]
    if editions[0] != editions[1]:
        reasons.append(_differ("edition", *editions))
    if a.result.run.scale != b.result.run.scale:
        reasons.append(_differ("scale", a.result.run.scale, b.result.run.scale))
    return reasons + _unlike_machines(a, b)


def _unlike_machines(a: Side, b: Side) -> list[str]:
    one, other = a.result.environment, b.result.environment
    reasons = [
        _differ(f"machine: {name}", str(getattr(one, name)), str(getattr(other, name)))
        for name in ("cpu", "cores", "kernel", "disk", "filesystem")
        if getattr(one, name) != getattr(other, name)
    ]
    # The kernel keeps a little for itself, and not the same at every boot.
    if not math.isclose(one.memory_bytes, other.memory_bytes, rel_tol=0.01):
        reasons.append(_differ("machine: memory", *(f"{each.memory_bytes / 2**30:.1f} GiB" for each in (one, other))))
    return reasons


def _unlike_measurements(a: Measurement, b: Measurement) -> list[str]:
    reasons = [
        _differ(words, str(getattr(a, name)), str(getattr(b, name)))
        for name, words in (
            ("model", "model"),
            ("operation", "operation"),
            ("batch", "batch"),
            ("indexes", "number of indexes"),
            ("clients", "number of clients"),
            ("engine", "load engine"),
            ("load_model", "load model"),
            ("rate", "offered rate"),
            ("payload_bytes", "payload in bytes"),
            ("corpus", "corpus"),
        )
        if getattr(a, name) != getattr(b, name)
    ]
    if a.throughput.unit != b.throughput.unit:
        reasons.append(_differ("unit", a.throughput.unit, b.throughput.unit))
    return reasons


def _differ(what: str, a: str, b: str) -> str:
    return f"{what} differs: {a} against {b}"
