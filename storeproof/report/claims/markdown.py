"""The claims as a page of GitHub-flavoured Markdown, and as one page of HTML that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable

from storeproof.printable import printable
from storeproof.report.claims import anomalies, devices, words
from storeproof.report.markdown import cell_of, table_of
from storeproof.report.parts.rendering import whole_page
from storeproof.report.tables import Cell, Table
from storeproof.result.claims import ClaimVerdict, JudgedClaim, JudgedClaims, ReportedAnomaly


def render_claims_markdown(judged: JudgedClaims) -> str:
    later = [f"[{anomalies.TITLE}](#{anomalies.ANCHOR}) has a table of its own."] if judged.anomalies else []
    later += [f"[{devices.TITLE}](#{devices.ANCHOR}), {devices.summary(judged)}, are at the end."] if judged.devices else []
    parts = ["# Published claims", cell_of(judged.answer), *later, words.LEGEND, words.CHOICE, table_of(overview(judged))]
    for verdict in ClaimVerdict:
        chosen = [each for each in judged.claims if each.verdict is verdict]
        if chosen:
            parts.append(f"## {str(verdict).capitalize()}")
            parts += [_claim(each) for each in chosen if not has_reason_alone(each)]
            parts += [table_of(reasons(chosen))] if any(map(has_reason_alone, chosen)) else []
    parts += _anomalies(judged)
    parts += _devices(judged)
    parts += ["## Results that were read", "\n".join(f"* {cell_of(words.run(each))}" for each in judged.runs)]
    return printable("\n\n".join(parts)) + "\n"


def overview(judged: JudgedClaims) -> Table:
    rows = [
        [
            Cell(f"{words.MARKS[each.verdict]} {each.verdict}"),
            Cell(each.source),
            Cell(each.claim),
            Cell(each.title),
            Cell(words.figure(each) or "–"),
            Cell(words.measured(each)),
        ]
        for each in judged.claims
    ]
    return Table(("verdict", "text", "claim", "what it says", "A/B, or kept: text", "here [95 %]"), rows, "There are no claims.")


def sides_of(claim: JudgedClaim) -> Table:
    """Both sides of each ratio, and the ratio."""
    rows = []
    for found in claim.ratios:
        for letter, side in (("A", found.a), ("B", found.b)):
            cells = (
                letter,
                side.name,
                side.version,
                side.workload,
                str(side.clients),
                str(side.indexes),
                words.wait(side) if claim.wait else words.rate(side),
                side.proven,
                side.run,
            )
            rows.append([Cell(each) for each in cells])
        how = "interleaved rounds" if found.interleaved else "separate rounds"
        verdict = f"{found.verdict}: {found.reason}" if found.reason and len(claim.ratios) > 1 else str(found.verdict)
        last = ("A/B", "", "", "", "", "", words.ratio(found) + (f", {how}" if found.ratio is not None else ""), "", verdict)
        rows.append([Cell(each, "strong" if each and place == 6 else "") for place, each in enumerate(last)])
    what = "mean wait" if claim.wait else "operations/s [95 %], grade"
    return Table(("", "store", "version", "workload", "clients", "indexes", what, "durability", "run"), rows, "")


def said(claim: JudgedClaim) -> str:
    """What the text gives, and what reproduces it."""
    year = f" ({claim.year})" if claim.year else ""
    parts = [f"Text {claim.source}{year}, {claim.basis}"]
    if claim.figure is not None:
        rates = words.rates(claim)
        parts.append(f"A/B {words.number(claim.figure)}" + (f" ({rates})" if rates else ""))
    if within := words.bounds(claim):
        parts.append(f"reproduced {within}")
    return "; ".join(parts) + "."


def reasons(claims: Iterable[JudgedClaim]) -> Table:
    """Of claims of which there is no more to say than why it cannot be said."""
    rows = [[Cell(each.source), Cell(each.claim), Cell(each.basis), Cell(each.reason)] for each in claims if has_reason_alone(each)]
    return Table(("text", "claim", "by the text", "why it cannot be said"), rows, "")


def has_reason_alone(claim: JudgedClaim) -> bool:
    """It needs no part of the page: its title is in the overview."""
    return bool(claim.reason) and not (words.figure(claim) or claim.ratios or claim.differs or claim.note or claim.command)


def _claim(claim: JudgedClaim) -> str:
    parts = [f"### {claim.claim}", f"{cell_of(claim.title)}. {cell_of(said(claim))}"]
    if claim.reason:
        parts.append(f"Cannot say: {cell_of(claim.reason)}.")
    if claim.kept:
        parts.append(f"{str(claim.verdict).capitalize()}: {cell_of(claim.kept)}.")
    if claim.ratios:
        parts.append(table_of(sides_of(claim)))
    if claim.differs:
        parts.append("What differs from the text's conditions:\n\n" + "\n".join(f"* {cell_of(each)}" for each in claim.differs))
    if claim.note:
        parts.append(cell_of(claim.note))
    if claim.command:
        parts.append(f"```text\n{claim.command}\n```")
    return "\n\n".join(parts)


def _anomalies(judged: JudgedClaims) -> list[str]:
    """What analyses report, if there are any."""
    if not judged.anomalies:
        return []
    listed = "\n".join(_analysis(source, each) for source, each in anomalies.sources(judged.anomalies).items())
    parts = [
        f"## {anomalies.TITLE}",
        cell_of(judged.answer_on_anomalies),
        anomalies.LEGEND,
        table_of(anomalies.anomalies(judged.anomalies)),
    ]
    parts += ["The analyses, and what they say besides:", listed]
    commands = "\n".join(anomalies.commands(judged.anomalies))
    return [*parts, *([f"What was not tried in these results would be by:\n\n```text\n{commands}\n```"] if commands else [])]


def _devices(judged: JudgedClaims) -> list[str]:
    """What texts measured of devices, folded: most readers want one row."""
    if not judged.devices:
        return []
    folded = f"<details><summary>{devices.summary(judged)}</summary>\n\n{table_of(devices.table(judged))}\n\n</details>"
    return [f"## {devices.TITLE}", devices.LEGEND, folded]


def _analysis(source: str, reported: ReportedAnomaly) -> str:
    return " ".join(filter(None, (f"* [{cell_of(reported.title)}]({source}), {reported.year}.", cell_of(reported.note))))


def render_claims_html(judged: JudgedClaims) -> str:
    return whole_page(
        "claims/claims.html.j2",
        judged=judged,
        verdicts=list(ClaimVerdict),
        words=words,
        said=said,
        reasons=reasons,
        has_reason_alone=has_reason_alone,
        sides=sides_of,
        overview=overview(judged),
        anomalies=anomalies,
        devices=devices,
    )
