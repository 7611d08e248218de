"""How outcomes, stores and intervals are written, the same in every report."""

from __future__ import annotations

from storeproof.outcome import Outcome
from storeproof.result.measurement import Interval
from storeproof.result.model import StoreResult
from storeproof.units import amount

SCALES = {
    "smoke": "a quick check of everything; too small for decisions",
    "standard": "for decisions",
    "full": "at the sizes of the original benchmarks",
}
"""What a scale is good for."""

MARKS = {
    Outcome.ERROR: "‼",
    Outcome.FAIL: "✘",
    Outcome.INCONCLUSIVE: "?",
    Outcome.NOT_RUN: "○",
    Outcome.KNOWN_FAIL: "✗",
    Outcome.UNSUPPORTED: "–",
    Outcome.EXCLUDED: "⊘",
    Outcome.UNDECLARED: "+",
    Outcome.PASS: "✔",
}
"""A sign beside each colour, for those who do not see the colour."""

WORDS = {
    Outcome.ERROR: "error",
    Outcome.FAIL: "fails",
    Outcome.INCONCLUSIVE: "no verdict",
    Outcome.NOT_RUN: "not run",
    Outcome.KNOWN_FAIL: "fails",
    Outcome.UNSUPPORTED: "no",
    Outcome.EXCLUDED: "not run",
    Outcome.UNDECLARED: "extra",
    Outcome.PASS: "yes",
}
"""An outcome as the answer to a question."""

MEANINGS = {
    Outcome.ERROR: "harness error: it says nothing about the store",
    Outcome.FAIL: "the store did not do what is demanded",
    Outcome.INCONCLUSIVE: "no verdict: it timed out, or the machine failed",
    Outcome.NOT_RUN: "this machine or this run lacked something; the detail says what",
    Outcome.KNOWN_FAIL: "fails, with an issue and an expiry date",
    Outcome.UNSUPPORTED: "not claimed, and refused with a clear error",
    Outcome.EXCLUDED: "left out by the scale or on the command line",
    Outcome.UNDECLARED: "extra: works, though not claimed",
    Outcome.PASS: "shown in this run",
}


def name_of(store: StoreResult) -> str:
    """`store:variant`, as on the command line; on one of several disks `store:variant@disk`."""
    return store.name


def interval(measured: Interval) -> str:
    """`12,345 [12,001, 12,700]`."""
    return f"{amount(measured.median)} [{amount(measured.low)}, {amount(measured.high)}]"


def indexes(count: int) -> str:
    """`no index`, `1 index`, `3 indexes`."""
    return {0: "no index", 1: "1 index"}.get(count, f"{count} indexes")
