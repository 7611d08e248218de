"""Draws the transactions of an anomaly: a lane for each, with its reads and writes, and arrows that say which comes before which.

Along the picture is order, not length of time: begins and ends stand at equal distances, so that it can be seen what overlapped.
"""

from __future__ import annotations

from html import escape
from typing import Final

from storeproof.result.measured.isolation import AccessShown, AnomalySeen, CycleStep, TransactionShown

_LANE: Final = 64
_BAR: Final = 22
_LEFT: Final = 96
_CHARACTER: Final = 6.2
"""Pixels: between two lanes, of a bar, before the first bar, of a character of the labels."""
_GAP: Final = 16
_RIGHT: Final = 48
_HEAD: Final = 7
"""Pixels of an arrow's head: drawn, since a page has many of these pictures, and a marker would need an id that no other one has."""
_MOST: Final = 7
"""Reads and writes that are named; those of the records of the cycle first."""


def transaction_lanes(seen: AnomalySeen) -> str:
    """The picture, as SVG."""
    shown = seen.transactions
    labels = [_label(each, {step.record for step in seen.steps}) for each in shown]
    moments = sorted({each.began_us for each in shown} | {each.ended_us for each in shown if each.ended_us is not None})
    step = max([90.0, *(len(label) * _CHARACTER + 12 for label in labels)]) / max(1, len(moments) - 1)
    at = {moment: _LEFT + place * max(step, _GAP) for place, moment in enumerate(moments)}
    last = max(at.values())
    bars = [(at[each.began_us], last if each.ended_us is None else at[each.ended_us]) for each in shown]
    right = max([end for _, end in bars] + [begin + len(label) * _CHARACTER + 12 for (begin, _), label in zip(bars, labels, strict=True)])
    width, height = right + _RIGHT, len(shown) * _LANE + 8
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="inherit" font-size="11">']
    for place, (each, (begin, end), label) in enumerate(zip(shown, bars, labels, strict=True)):
        top = place * _LANE + 24
        parts.append(
            f'<text x="0" y="{top + 15}" fill="var(--ink)">{each.name} <tspan fill="var(--soft)">client {each.client}</tspan></text>'
        )
        dashed = ' stroke-dasharray="4 3"' if each.outcome != "ok" else ""
        parts.append(
            f'<rect x="{begin:.1f}" y="{top}" width="{max(4.0, end - begin):.1f}" height="{_BAR}" rx="3" fill="var(--line-1)" '
            f'fill-opacity="0.2" stroke="var(--line-1)"{dashed}><title>{escape(label)}</title></rect>'
        )
        parts.append(f'<text x="{begin + 4:.1f}" y="{top + 15}" fill="var(--ink)">{escape(label)}</text>')
    parts += [_arrow(each, bars, number) for number, each in enumerate(seen.steps) if each.source != each.target]
    return "".join([*parts, "</svg>"])


def _arrow(step: CycleStep, bars: list[tuple[float, float]], number: int) -> str:
    """From the lane of one transaction to that of the next; arrows beside each other."""
    x = max(bars[step.source][0], bars[step.target][0]) + 12 + 26 * number
    begin, end = step.source * _LANE + 24, step.target * _LANE + 24
    begin, end = (begin + _BAR, end) if end > begin else (begin, end + _BAR)
    middle, back = (begin + end) / 2, end - _HEAD if end > begin else end + _HEAD
    return (
        f'<line x1="{x:.1f}" y1="{begin}" x2="{x:.1f}" y2="{back}" stroke="var(--bad)"/>'
        f'<path d="M{x - _HEAD / 2:.1f} {back} {x:.1f} {end} {x + _HEAD / 2:.1f} {back}z" fill="var(--bad)"/>'
        f'<text x="{x + 3:.1f}" y="{middle + 4:.1f}" fill="var(--bad)">{step.kind}</text>'
    )


def _label(transaction: TransactionShown, records: set[str]) -> str:
    """`x: 3:4, x := 1:5`; the records of the cycle alone if all were too many."""
    accesses = transaction.accesses
    if len(accesses) > _MOST:
        accesses = [each for each in accesses if each.record in records][:_MOST]
    return ", ".join(map(_access, accesses))


def _access(access: AccessShown) -> str:
    return f"{access.record} := {access.version}" if access.writes else f"{access.record} = {access.version or 'nothing'}"
