"""The anomalies that analyses report, as one table: what was reported of what, and what was seen of it here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from storeproof.report.tables import Cell, Table
from storeproof.result.claims import AnomalyTried, AnomalyVerdict, ReportedAnomaly
from storeproof.units import plural, whole

TITLE: Final = "What Jepsen reports"
ANCHOR: Final = TITLE.lower().replace(" ", "-")
"""As GitHub names the heading."""
LEGEND: Final = (
    "An anomaly that an analysis by Jepsen reports is reproduced if a version that the analysis names shows it here, and still so if "
    "another version does, or a store that is made alike; at the same isolation level, or by faults of the same kind. Not seen refutes "
    "nothing: of N contended transactions or rounds without it, up to 3/N of all such may show it, at 95 %. Cases do not count if what was "
    "seen in them hides it: a long fork is not looked for beside read skew."
)
MARKS: Final = {AnomalyVerdict.REPRODUCED: "✔", AnomalyVerdict.STILL_SO: "✔", AnomalyVerdict.NOT_SEEN: "–", AnomalyVerdict.CANNOT_SAY: "?"}
_HEADER: Final = ("verdict", "analysis", "anomaly", "how", "what it should be instead", "here")


def anomalies(judged: Sequence[ReportedAnomaly]) -> Table:
    rows = [
        [
            Cell(f"{MARKS[each.verdict]} {each.verdict}"),
            Cell(each.title),
            Cell(each.anomaly),
            Cell(how(each)),
            Cell(each.expected),
            Cell(here(each)),
        ]
        for verdict in AnomalyVerdict
        for each in judged
        if each.verdict is verdict
    ]
    return Table(_HEADER, rows, "There are no analyses.")


def sources(judged: Iterable[ReportedAnomaly]) -> dict[str, ReportedAnomaly]:
    """One anomaly of each analysis, by its address."""
    return {each.source: each for each in judged}


def commands(judged: Iterable[ReportedAnomaly]) -> list[str]:
    """What would try those of which nothing can be said, each once."""
    return list(dict.fromkeys(each.command for each in judged if each.command))


def how(reported: ReportedAnomaly) -> str:
    """`repeatable read, several nodes, partitions`."""
    nodes = {"one": "one node", "several": "several nodes"}[reported.nodes]
    return ", ".join(filter(None, (reported.level.replace("_", " "), reported.settings, nodes, *reported.faults)))


def here(reported: ReportedAnomaly) -> str:
    """Where it was seen, in how much it was not, or why that cannot be said."""
    if reported.verdict is AnomalyVerdict.CANNOT_SAY:
        return reported.reason
    products: dict[str, list[AnomalyTried]] = {}
    for each in reported.tried:
        products.setdefault(each.product, []).append(each)
    if reported.verdict is AnomalyVerdict.NOT_SEEN:
        return "; ".join(f"{product}: {_not_seen(reported, trials)}" for product, trials in products.items())
    return "; ".join(f"{product}: {trials[0].seen}" for product, trials in products.items())


def _not_seen(reported: ReportedAnomaly, trials: Sequence[AnomalyTried]) -> str:
    number = sum(each.number for each in trials)
    of = f"{whole(number)} contended transactions" if reported.kind == "isolation" else plural(number, "round")
    return f"in none of {of}, at most 3 in {whole(number)}"
