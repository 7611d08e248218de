"""A decision record in Markdown, in the form of MADR (https://adr.github.io/madr): the decision itself is left to the reader."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from storeproof.report.decision import tables, words
from storeproof.report.markdown import cell_of, table_of
from storeproof.report.tables import Cell, Table
from storeproof.result.json_file import content_of
from storeproof.result.needs.decision import Candidate, Decision
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict

_SHOWN: Final = 4
"""How many of the nearest candidates have all of their evidence shown."""
VALID_DAYS: Final = 180
"""Days after the latest run: by then most stores have a newer release."""


def render_record(decision: Decision) -> str:
    return "\n\n".join(part for part in _parts(decision) if part) + "\n"


def _parts(decision: Decision) -> Iterator[str]:
    yield f"# {cell_of(decision.needs.question)}"
    yield "* Status: proposed\n* Deciders: \n* Date: "
    yield f"**{cell_of(words.headline(decision))}**"
    yield "## Context: what is needed"
    yield "\n".join(f"* {cell_of(words.need(each))}{'' if each.must else ', wished for'}" for each in decision.wanted)
    yield "## Options"
    yield table_of(_options(decision))
    if bought := words.bought(decision):
        yield "What one need less, or a looser one, would buy:"
        yield "\n".join(f"* {cell_of(line)}" for line in bought)
    yield "Candidates that no other beats in what they lack, lose, can do and cost:"
    yield table_of(tables.front(decision))
    yield "## Evidence"
    shown = decision.candidates[:_SHOWN]
    for each in shown:
        yield f"### {cell_of(each.name)}"
        yield table_of(_judged_table(each))
        if each.costs:
            yield table_of(tables.costs(each))
    yield "## Decision\n\nOpen. This page has the evidence; the choice is yours."
    yield "## Consequences"
    against = dict.fromkeys(line for each in (*decision.front, *shown) for line in words.known(decision, each))
    yield "\n".join(f"* {cell_of(line)}" for line in against) or "No known failures, and no stale reads, of the candidates above."
    yield "## Results that this rests on"
    yield "\n".join(_result(decision))
    if out := words.left_out(decision):
        yield "Left out, since they are of other servers:"
        yield "\n".join(f"* {cell_of(line)}" for line in out)


def _options(decision: Decision) -> Table:
    rows = [
        [Cell(f"{words.MARKS[words.mark(each)]} {each.name}"), Cell(words.met(each)), Cell(words.against(each))]
        for each in decision.candidates
    ]
    return Table(["candidate", "needs met", "what stands against it"], rows, "none")


def _judged_table(candidate: Candidate) -> Table:
    rows = [
        [
            Cell(words.need(each.need)),
            Cell(f"{words.MARKS[each.verdict]} {each.verdict}"),
            Cell(each.reason),
            Cell(_evidence(each)),
        ]
        for each in candidate.judged
    ]
    return Table(["need", "verdict", "why", "evidence"], rows, "none")


def _evidence(found: JudgedNeed) -> str:
    if found.verdict is NeedVerdict.NOT_SHOWN and found.command:
        return f"to show it: {found.command}"
    runs = dict.fromkeys(words.source(each.source) for each in found.seen)
    return "; ".join(runs) or "–"


def _result(decision: Decision) -> Iterator[str]:
    runs = words.runs(decision)
    for each in runs:
        digest = hashlib.sha256(content_of(each.file)).hexdigest()
        edition = each.side.result.edition
        yield f"* {cell_of(words.source(each))}, edition {cell_of(edition.name)} ({cell_of(edition.hash)}), SHA-256 {digest}"
    if runs:
        latest = date.fromisoformat(runs[0].side.result.run.started[:10])
        yield f"* Valid until {latest + timedelta(days=VALID_DAYS)}, or until a store is upgraded."
