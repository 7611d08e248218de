"""The claims in the terminal, in 80 columns: the answer first, then two lines for each."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.text import Text

from storeproof.report.claims import anomalies, words
from storeproof.result.claims import AnomalyVerdict, ClaimVerdict, JudgedClaim, JudgedClaims

_WIDTH: Final = 80
_STYLES: Final = {ClaimVerdict.REPRODUCED: "green", ClaimVerdict.REFUTED: "red", ClaimVerdict.CANNOT_SAY: "yellow"}
_INDENT: Final = " " * 6


def print_judged(judged: JudgedClaims, console: Console) -> None:
    """Print the answer, and each claim with its numbers or the reason why it cannot be said; then the same of the anomalies that analyses
    report, without those of which nothing can be said."""
    console.print(Text(judged.answer, "bold"), soft_wrap=True)
    for verdict in ClaimVerdict:
        for claim in (each for each in judged.claims if each.verdict is verdict):
            console.print(_lines(claim), soft_wrap=True)
    if judged.anomalies:
        console.print(Text(judged.answer_on_anomalies, "bold"), soft_wrap=True)
        for reported in (each for each in judged.anomalies if each.verdict is not AnomalyVerdict.CANNOT_SAY):
            first = f"{anomalies.MARKS[reported.verdict]} {reported.title}: {reported.anomaly}, {anomalies.how(reported)}"
            console.print(Text(_cut(first, _WIDTH)), soft_wrap=True)
            console.print(Text(_cut(f"{_INDENT}{reported.verdict}: {anomalies.here(reported)}", _WIDTH), "dim"), soft_wrap=True)
    console.print(Text("--output FILE.md (.html, .json): all numbers, what differs, how to measure", "dim"), soft_wrap=True)


def _lines(claim: JudgedClaim) -> Text:
    said, found = words.figure(claim), "–" if claim.guarantee else words.measured(claim)
    numbers = "  ".join(filter(None, (f"text {said}" if said else "", f"here {found}" if found != "–" else "")))
    name = f" {claim.source} {claim.claim}"
    first = Text.assemble((words.MARKS[claim.verdict], _STYLES[claim.verdict]), (_cut(name, _WIDTH - 1), "bold"))
    if numbers:
        fits = len(name) + len(numbers) + 3 <= _WIDTH
        first.append(f"  {numbers}" if fits else f"\n{_cut(f'{_INDENT}{numbers}', _WIDTH)}")
    first.append(f"\n{_cut(f'{_INDENT}{words.grounds(claim)}', _WIDTH)}", "dim")
    return first


def _cut(text: str, most: int) -> str:
    """At the end of a phrase, if there is one."""
    if len(text) <= most:
        return text
    whole, _, _ = text[: most - 2].rpartition("; ")
    return f"{whole}; …" if whole.strip() else f"{text[: most - 1]}…"
