"""The decision in the terminal: the answer first, then one screen of 80 columns."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.text import Text

from storeproof.printable import printable
from storeproof.report.decision import words
from storeproof.result.needs.decision import Decision
from storeproof.result.needs.judged_need import Verdict
from storeproof.units import plural

_WIDTH: Final = 80
_CANDIDATES: Final = 8
_TOLD: Final = 3
"""Candidates of which it is said in which way they meet a need that has alternatives."""
_STYLES: Final = {Verdict.MET: "green", Verdict.NOT_MET: "red", Verdict.NOT_SHOWN: "yellow"}


def print_decision(decision: Decision, console: Console) -> None:
    """Print it."""

    def line(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style), soft_wrap=True)

    line(decision.needs.question, "dim")
    line(words.headline(decision), "bold")
    line("")
    shown = decision.candidates[:_CANDIDATES]
    widest = max(len(each.name) for each in shown)
    for each in shown:
        verdict = words.mark(each)
        start = f" {each.name:<{widest}} {words.met(each):>6}  "
        text = Text(words.MARKS[verdict], _STYLES[verdict])
        text.append(printable(start), "bold")
        text.append(printable(_cut(words.against(each), _WIDTH - len(start) - 1)))
        console.print(text, soft_wrap=True)
    if rest := len(decision.candidates) - len(shown):
        line(f"  and {plural(rest, 'candidate')} further from it", "dim")
    told = decision.meeting or shown[:1]
    if ways := [f"{each.name}: {way}" for each in told[:_TOLD] for way in words.ways(each)]:
        line("")
        for way in ways:
            line(way, "dim")
    if decision.dropped:
        line("")
        for dropped in decision.dropped[:4]:
            line(words.dropped(dropped))
    nearest = decision.candidates[0]
    if commands := list(dict.fromkeys(each.command for each in nearest.open if each.command)):
        line("")
        line(f"What is not shown of {nearest.name}:")
        for command in commands[:3]:
            line(f"  {command}", "dim")
    line("")
    runs = words.runs(decision)
    out = len(words.left_out(decision))
    line(
        f"{plural(len(decision.candidates), 'candidate')}, {plural(len(decision.wanted), 'need')}, {plural(len(runs), 'run')}"
        + (f", {plural(out, 'result')} of other servers left out" if out else "")
        + ". --output FILE.html (.md, .json): each need with its evidence.",
        "dim",
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(most, 20) - 1]}…"
