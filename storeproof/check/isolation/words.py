"""An anomaly in sentences that can be read aloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storeproof.check.isolation.anomaly import Edge, IsolationAnomaly
from storeproof.history import Transaction


def explain(anomaly: IsolationAnomaly, transactions: Sequence[Transaction]) -> list[str]:
    """One sentence for each edge, and one that says what is wrong with them. T1 is the first transaction of the anomaly."""
    names = {each: f"T{number} (client {transactions[each].client})" for number, each in enumerate(anomaly.transactions, 1)}
    first, last = anomaly.edges[0], anomaly.edges[-1]
    source, target = names[first.source], names[first.target]
    if anomaly.kind == "own-writes":
        why = "which it had not written yet" if first.written is None else f"although it had itself written {first.written} before"
        return [f"{source} read {first.key} and found {_version(first.read)}, {why}."]
    if anomaly.kind == "fuzzy-read":
        return [
            f"{source} read {first.key} twice, found {_version(first.read)} and then {_version(first.written)}, and had written neither."
        ]
    if anomaly.kind == "lost-update":
        return [
            f"{source} and {target} both read {first.key} and found {_version(first.read)}.",
            f"{target} replaced that by {first.written}, and {source} by {last.written}; both committed.",
            "The later of the two overwrote an update that it had not seen.",
        ]
    end = {
        "G1a": f"{source} was rolled back, so that no other transaction was to see what it wrote.",
        "G1b": f"{source} replaced that version itself, so that no other transaction was to see it.",
    }.get(anomaly.kind, f"So {source} comes before itself: no serial order explains this.")
    return [*(_sentence(each, names) for each in anomaly.edges), end]


def _sentence(edge: Edge, names: Mapping[int, str]) -> str:
    source, target, key = names[edge.source], names[edge.target], edge.key
    if edge.kind == "process":
        return f"{source} completed before the same client began {target}."
    if edge.kind == "realtime":
        return f"{source} completed before {target} began."
    if edge.kind == "ww":
        return f"{target} replaced {key} as {source} wrote it ({edge.read}) by {edge.written}, and committed."
    if edge.kind == "wr":
        return f"{target} read {key} as {source} wrote it ({edge.read})."
    looked = f"{source} looked for {key} by a condition and found" if edge.predicate else f"{source} read {key} and found"
    return f"{looked} {_version(edge.read)}; {target} {'wrote' if edge.read is None else 'replaced that by'} {edge.written} and committed."


def _version(written: str | None) -> str:
    return "no record" if written is None else written
