"""How outcomes, numbers and times are written, the same in every report."""

from __future__ import annotations

from storeproof.outcome import Outcome
from storeproof.result.model import Interval, StoreResult

SCALES = {
    "smoke": "proves that all works; no basis for decisions",
    "standard": "for decisions",
    "full": "the sizes of the seed tests",
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

MEANINGS = {
    Outcome.ERROR: "ours, not the store's",
    Outcome.FAIL: "the store did not do what is demanded",
    Outcome.INCONCLUSIVE: "flaky or timed out",
    Outcome.NOT_RUN: "this machine or this run lacked something; the detail says what",
    Outcome.KNOWN_FAIL: "fails, with an issue and an expiry date",
    Outcome.UNSUPPORTED: "refused clearly by the adapter or the store",
    Outcome.EXCLUDED: "left out on the command line",
    Outcome.UNDECLARED: "works, though not claimed",
    Outcome.PASS: "shown in this run",
}

VERDICTS = {"conforms": "conforms", "does_not_conform": "does not conform", "incomplete": "incomplete"}


def name_of(store: StoreResult) -> str:
    """`store:variant`, as on the command line."""
    return f"{store.store}:{store.variant}"


def whole(number: float) -> str:
    """With thousands separated: 12,345."""
    return f"{number:,.0f}"


def amount(number: float) -> str:
    """Three digits that matter: 12,345 · 98.7 · 0.123."""
    if number == 0 or abs(number) >= 100:
        return whole(number)
    return f"{number:.3g}"


def _rounded(number: float) -> float:
    """To three digits, before its unit is chosen: 999.6 ms are a second."""
    return float(f"{number:.3g}")


def short(number: float) -> str:
    """For narrow places: 12.3k, 1.2M."""
    number = _rounded(number)
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def interval(measured: Interval) -> str:
    """`12,345 [12,001, 12,700]`."""
    return f"{amount(measured.median)} [{amount(measured.low)}, {amount(measured.high)}]"


def seconds(value: float) -> str:
    """A span of time with its unit."""
    if value >= 120:
        minutes, rest = divmod(round(value), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
    value = _rounded(value)
    if value >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} µs"


def micros(value: float | None) -> str:
    """Microseconds with the unit that fits; a dash where there were too few samples."""
    return "–" if value is None else seconds(value / 1e6)


def size(count: int) -> str:
    """Bytes with the unit that fits."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"


def plural(count: int, word: str) -> str:
    """`1 store`, `2 stores`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def indexes(count: int) -> str:
    """`no index`, `1 index`, `3 indexes`."""
    return {0: "no index", 1: "1 index"}.get(count, f"{count} indexes")
