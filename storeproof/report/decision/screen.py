"""The decision in the terminal: the answer first, then one screen of 80 columns."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.text import Text

from storeproof.printable import printable, shortened
from storeproof.report.decision import words
from storeproof.result.needs.decision import Decision
from storeproof.result.needs.judged_need import NeedVerdict
from storeproof.units import plural

_NARROWEST: Final = 80
_WIDEST: Final = 120
_CANDIDATES: Final = 5
_STYLES: Final = {NeedVerdict.MET: "green", NeedVerdict.NOT_MET: "red", NeedVerdict.NOT_SHOWN: "yellow"}


def print_decision(decision: Decision, console: Console) -> None:
    width = max(_NARROWEST, min(console.width, _WIDEST))

    def line(text: str, style: str = "") -> None:
        console.print(Text(printable(text), style), soft_wrap=True)

    line(decision.needs.question, "dim")
    headline = words.headline(decision)
    line(headline, "bold")
    line("")
    shown = decision.candidates[:_CANDIDATES]
    widest = max(len(each.name) for each in shown)
    for each in shown:
        verdict = words.mark(each)
        text = Text(words.MARKS[verdict], _STYLES[verdict])
        text.append(printable(f" {each.name:<{widest}}  {words.met(each)} needs met"), "bold")
        console.print(text, soft_wrap=True)
        if each.binding:
            line(f"  {shortened(words.against(each), width - 2)}")
        for found in each.judged if each.meets_all else ():
            if found.way and found.way not in headline:
                line(f"  {shortened(f'{words.need(found.need)} by {found.way}', width - 2)}")
    if rest := len(decision.candidates) - len(shown):
        line(f"  and {plural(rest, 'candidate')} further from it", "dim")
    nearest = decision.candidates[0]
    alone = [each.need for each in nearest.missed]  # where the nearest miss one need alone, the headline says so
    bought = [*map(words.looser, decision.looser), *(words.dropped(each) for each in decision.dropped if [each.need] != alone)]
    if bought:
        line("")
    for told in bought[:4]:
        line(told)
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
