"""Draws a history that no order explains: a lane for each client, a bar for each operation from its request to its reply.

Along the picture is order, not length of time: requests, replies and the fault stand at equal distances, so that it can be seen what
overlapped, whether it took microseconds or seconds. A bar without an end had no reply. The red one contradicts the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from storeproof.history.operation import answer_in_words
from storeproof.report.pictures.drawing import Plot
from storeproof.result.measured.case_records import AccessRecord, HistoryRecord

_STEP, _LANE, _BAR = 74, 46, 18
"""Pixels: between two moments, between two lanes, of a bar."""

_LEFT, _TOP, _RIGHT, _BOTTOM = 92, 10, 110, 8
_CHARACTER = 6.1
"""Pixels of a character of the labels."""


def lanes(history: HistoryRecord) -> Plot:
    """The picture, and the sentence that stands for it."""
    accesses = sorted(history.accesses, key=lambda each: each.invoked_us)
    moments = sorted(
        {each.invoked_us for each in accesses}
        | {each.completed_us for each in accesses if each.completed_us is not None}
        | ({history.fault_us} if history.fault_us is not None else set())
    )
    at = {moment: _LEFT + place * _STEP for place, moment in enumerate(moments)}
    right = _LEFT + len(moments) * _STEP
    clients = sorted({each.client for each in accesses})
    rows = {client: _TOP + place * _LANE for place, client in enumerate(clients)}
    width, height = right + _RIGHT, _TOP + len(clients) * _LANE + _BOTTOM
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="inherit" font-size="11">']
    for client, top in rows.items():
        middle = top + _LANE - _BAR / 2 - 6
        parts.append(f'<line x1="{_LEFT - 8}" y1="{middle}" x2="{width}" y2="{middle}" stroke="var(--grid)"/>')
        parts.append(f'<text x="0" y="{middle + 4}" fill="var(--soft)">{"before that" if client < 0 else f"client {client}"}</text>')
    if history.fault_us is not None:
        x = at[history.fault_us]
        parts.append(f'<line x1="{x}" y1="0" x2="{x}" y2="{height}" stroke="var(--bad)" stroke-dasharray="2 3"/>')
        parts.append(f'<text x="{x + 4}" y="10" fill="var(--bad)">fault</text>')
    for each in accesses:
        end = right if each.completed_us is None else at[each.completed_us]
        parts += _bar(each, at[each.invoked_us], end, rows[each.client])
    parts.append("</svg>")
    told = "; ".join(
        f"client {each.client}: {label(each)}{', which contradicts the others' if each.contradicts else ''}" for each in accesses
    )
    return Plot("".join(parts), f"{history.key}: no order explains: {told}")


def label(access: AccessRecord) -> str:
    """What was done and what was answered, as short as it can be."""
    asked = {
        "put": f"put {access.value}",
        "compare_and_set": f"{access.expected} ⇒ {access.value}",
        "put_if_absent": f"put {access.value} if absent",
        "increment": f"add {access.amount}",
    }.get(access.action, access.action)
    if access.outcome != "ok":
        return f"{asked} ?"
    if not access.answer_known or access.action == "put":
        return asked
    return f"{asked} → {answer_in_words(access.answer)}"


def _bar(access: AccessRecord, begin: float, end: float, top: float) -> Sequence[str]:
    colour = "var(--bad)" if access.contradicts else "var(--line-1)"
    y = top + _LANE - _BAR - 6
    text = label(access)
    open_end = access.completed_us is None
    place = f'x="{begin}" y="{y}" width="{max(4, end - begin)}" height="{_BAR}" rx="3"'
    bar = (
        f'<rect {place} fill="var(--panel)"/>'  # the lane's line would go through the label
        f'<rect {place} fill="{colour}" '
        f'fill-opacity="{0.1 if open_end else 0.22}" stroke="{colour}" stroke-width="{2 if access.contradicts else 1}"'
        + (' stroke-dasharray="4 3"' if open_end else "")
        + f"><title>{escape(text)}</title></rect>"
    )
    weight = ' font-weight="bold"' if access.contradicts else ""
    # Where the bar is shorter than its label the label goes on to the right of it: above the lane's line nothing else is.
    inside = len(text) * _CHARACTER < end - begin - 8
    label_y = y + _BAR - 5 if inside else y - 4
    fill = "var(--bad)" if access.contradicts else "var(--ink)"
    return bar, f'<text x="{begin + 4}" y="{label_y}" fill="{fill}"{weight}>{escape(text)}</text>'
