"""How a number is marked: its grade, `≥` where the load generator was the limit, *drifting*, and ✘ only where it is not valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from storeproof import units
from storeproof.report import gates
from storeproof.result.measurement import Measurement
from storeproof.stats.intervals import GRADES

LEGEND: Final = (
    "Grades say how precise a number is, by half its 95 % interval: "
    + ", ".join(f"{letter} up to {units.share(widest)}" for letter, widest in GRADES.items())
    + ", D wider. ≥: the load generator was the limit, and the store is at least that fast. Drifting: the rate went on changing from "
    "round to round, and there is no one rate. ✘: not valid, and what broke."
)
BRIEF: Final = (
    " · ".join(f"{letter} ±{units.share(widest)}" for letter, widest in GRADES.items()) + " · D wider · ≥ the load generator was the limit"
)
"""The same in one line; the words *drifting* and *not valid* say what they mean."""


def at_least(measured: Measurement) -> str:
    """The sign before a number that is a lower bound."""
    return "≥ " if measured.at_least else ""


def mark(measured: Measurement) -> str:
    """What stands behind a number: `B`, `C drifting`, `✘ errors`."""
    if measured.invalid:
        return f"✘ {', '.join(measured.invalid)}"
    return f"{measured.grade} drifting" if measured.trend.drifting else measured.grade


def disturbed(measured: Measurement) -> bool:
    """Whether other programs took too much of the machine beside at least half of the rounds."""
    return measured.disturbance is not None and 2 * measured.disturbance.busy >= len(measured.rounds)


def on_slow_machine(measured: Measurement) -> bool:
    """Whether the machine was slower than it usually is beside at least half of the rounds."""
    return measured.machine_speed is not None and 2 * measured.machine_speed.slow >= len(measured.rounds)


def tone(measured: Measurement) -> str:
    if measured.invalid:
        return "bad"
    return "open" if measured.trend.drifting else f"grade-{measured.grade.lower()}"


def half_interval(measured: Measurement) -> float:
    """Half the 95 % interval, as a share of the median; 0 of a number that is 0."""
    rate = measured.throughput
    return (rate.high - rate.low) / 2 / rate.median if rate.median else 0.0


def valid(measured: Measurement) -> bool:
    """Whether there is a rate at all."""
    return not measured.invalid and bool(measured.throughput.median)


def in_words(measured: Measurement) -> tuple[str, str]:
    """A rate and its note: `≥ 151k` and `±5 %` or `drifting`; what broke and `not valid`, where it is not."""
    if not valid(measured):
        return f"✘ {', '.join(measured.invalid) or 'no answer'}", "not valid"
    note = "drifting" if measured.trend.drifting else percent(half_interval(measured))
    return f"{at_least(measured)}{units.short(measured.throughput.median)}", note


def percent(share: float) -> str:
    """`±9 %`."""
    return f"±{units.share(share)}"


def reasons(measured: Measurement) -> list[str]:
    """Why a number is marked as it is, each with its value: what is not valid, what was the limit, how it drifts."""
    found = [f"✘ {each}" for each in gates.exceeded(measured.gates, measured.invalid)]
    found += ["✘ the data was not whole after the rounds"] if "audit" in measured.invalid else []
    if measured.at_least:
        limits = gates.exceeded({name: gate for name, gate in measured.gates.items() if name not in measured.invalid}, gates.LIMITS)
        found.append(f"≥ {'; '.join(limits)}" if limits else "≥ the load generator was the limit")
    if measured.trend.drifting:
        found.append(f"drifting {100 * measured.trend.change:+.1f} % a round (p = {measured.trend.probability:.2g})")
    if measured.disturbance is not None and measured.disturbance.busy:
        beside = units.share(measured.disturbance.share)
        found.append(
            f"other programs took {beside} of the machine, and disturbed {measured.disturbance.busy} of {len(measured.rounds)} rounds"
        )
    if measured.machine_speed is not None and measured.machine_speed.slow:
        reached = units.share(measured.machine_speed.rate / measured.machine_speed.baseline)
        found.append(
            f"the machine was slow beside {measured.machine_speed.slow} of {len(measured.rounds)} rounds: {reached} of its usual rate"
        )
    return found


def told(measured: Measurement) -> str:
    """A number in one line, with the reasons of its marks."""
    interval = f"{percent(half_interval(measured))}, grade {measured.grade}"
    return "; ".join([f"{at_least(measured)}{measured.throughput.median:.0f} {measured.throughput.unit} {interval}", *reasons(measured)])


def count(measured: Iterable[Measurement]) -> str:
    """`13 numbers: 5 A, 6 B, 1 C, of which 2 lower bounds, 1 drifting; 1 invalid (audit 1)`; what is invalid has no grade."""
    every = list(measured)
    valid = [each for each in every if not each.invalid]
    grades = Counter(each.grade for each in valid)
    said = ", ".join(f"{grades[letter]} {letter}" for letter in (*GRADES, "D") if grades[letter]) or "none valid"
    among = [units.plural(bounds, "lower bound")] if (bounds := sum(each.at_least for each in valid)) else []
    among += [f"{drifting} drifting"] if (drifting := sum(each.trend.drifting for each in valid)) else []
    among += [f"{busy} on a busy machine"] if (busy := sum(disturbed(each) for each in valid)) else []
    among += [f"{slow} on a slow machine"] if (slow := sum(on_slow_machine(each) for each in valid)) else []
    said += f", of which {', '.join(among)}" if among else ""
    broken = Counter(name for each in every for name in each.invalid)
    why = ", ".join(f"{name} {number}" for name, number in broken.most_common())
    said += f"; {len(every) - len(valid)} invalid ({why})" if broken else ""
    return f"{units.plural(len(every), 'number')}: {said}"
