"""A decision in a file: a record in Markdown, in the form of MADR (https://adr.github.io/madr), in which the decision itself is left to the
reader; one page of HTML that needs no other file; and JSON, for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, timedelta
from typing import Any, Final

from storeproof.report.decision import tables, words
from storeproof.report.decision.links import OwnLinks
from storeproof.report.markdown import cell_of, table_of
from storeproof.report.parts.rendering import whole_page
from storeproof.report.tables import Cell, Table
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
        edition = each.side.result.edition
        yield f"* {cell_of(words.source(each))}, edition {cell_of(edition.name)} ({cell_of(edition.hash)}), SHA-256 {each.read.digest}"
    if runs:
        latest = date.fromisoformat(runs[0].side.result.run.started[:10])
        yield f"* Valid until {latest + timedelta(days=VALID_DAYS)}, or until a store is upgraded."


def decision_data(decision: Decision) -> dict[str, Any]:
    """All of it: the answer, each candidate with each need and its evidence, and what was read."""
    return {
        "decision": decision.needs.decision,
        "question": decision.needs.question,
        "answer": words.headline(decision),
        "candidates": [_candidate(each, front=each in decision.front) for each in decision.candidates],
        "looser": [{"need": each.need.id, "instead": each.instead.name, "candidates": list(each.candidates)} for each in decision.looser],
        "one_need_less": [{"need": each.need.id, "candidates": list(each.candidates), "gain": each.gain} for each in decision.dropped],
        "runs": [{"run": each.run, "started": each.side.result.run.started, "file": str(each.read.path)} for each in words.runs(decision)],
        "left_out": words.left_out(decision),
    }


def _candidate(candidate: Candidate, *, front: bool) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "stores": dict(candidate.targets),
        "verdict": words.mark(candidate),
        "front": front,
        "headroom": candidate.headroom,
        "lost_in_power_cut": candidate.lost and {"share": candidate.lost.share, "at_least": candidate.lost.at_least},
        "per_month": candidate.per_month,
        "needs": [_judged(each) for each in candidate.judged],
        "costs": [asdict(each) for each in candidate.costs],
    }


def _judged(found: JudgedNeed) -> dict[str, Any]:
    return {
        "need": found.need.id,
        "must": found.need.must,
        "store": found.target,
        "verdict": found.verdict,
        "reason": found.reason,
        "headroom": found.headroom,
        "command": found.command,
        "evidence": [{"run": each.source.run, "what": each.what, "detail": each.detail} for each in found.seen],
    }


def render_page(decision: Decision) -> str:
    return whole_page("decision/decision.html.j2", decision=decision, tables=tables, words=words, links=OwnLinks())
