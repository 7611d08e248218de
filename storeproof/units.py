"""How numbers, sizes and times are written, the same on every screen and page."""

from __future__ import annotations


def whole(number: float) -> str:
    """With thousands separated: 12,345."""
    return f"{number:,.0f}"


def amount(number: float) -> str:
    """Three digits that matter: 12,345 · 98.7 · 0.123."""
    if number == 0 or abs(number) >= 100:
        return whole(number)
    return f"{number:.3g}"


def times(number: float) -> str:
    """A multiple, to two digits that matter: 0.43, 2.3, 1,030."""
    return f"{number:.2g}" if number < 99.5 else whole(number)


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


def share(part: float) -> str:
    """A part of the whole: 0.43 is `43 %`."""
    return f"{part:.0%}".replace("%", " %")


def plural(count: int, word: str) -> str:
    """`1 store`, `2 stores`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
