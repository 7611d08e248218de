"""An anomaly in sentences that can be read aloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storeproof.check.isolation.anomaly import Edge, IsolationAnomaly
from storeproof.history import Transaction


def explain(anomaly: IsolationAnomaly, transactions: Sequence[Transaction], nodes: Sequence[str] = ()) -> list[str]:
    """One sentence for each edge, and one that says what is wrong with them. T1 is the first transaction of the anomaly.

    `nodes`: of a cluster, that of each client by its number.
    """
    clients = {each: transactions[each].client for each in anomaly.transactions}
    places = {each: f" at {nodes[client]}" if client < len(nodes) else "" for each, client in clients.items()}
    names = {each: f"T{number} (client {clients[each]}{places[each]})" for number, each in enumerate(anomaly.transactions, 1)}
    first, last = anomaly.edges[0], anomaly.edges[-1]
    source, target = names[first.source], names[first.target]
    if anomaly.kind == "own-writes":
        if first.written is None:
            return [f"{source} read {_found(first)} before it wrote that."]
        return [f"{source} wrote version {first.written} of {first.key}, and then found {_found(first)}."]
    if anomaly.kind == "fuzzy-read":
        then = f"version {first.written}" if first.written is not None else "no record"
        return [f"{source} found {_found(first)}, and then {then}, and had written neither."]
    if anomaly.kind == "lost-update":
        return [
            f"{source} and {target} both found {_found(first)}.",
            f"{target} {_over(first)} version {first.written}, and {source} version {last.written}; both committed.",
            "The later of the two overwrote an update that it had not seen.",
        ]
    end = {
        "G1a": f"{source} was rolled back: no other transaction was to see that version.",
        "G1b": f"{source} itself wrote {first.key} once more: no other transaction was to see that version.",
    }.get(anomaly.kind)
    if end is not None:
        return [*(f"{_seen(each, names)}." for each in anomaly.edges), end]
    end = f"So {_short(source)} would come before itself: all of them committed, and no order of them explains what they found."
    return [*(_step(each, names) for each in anomaly.edges), end]


def _step(edge: Edge, names: Mapping[int, str]) -> str:
    """What was seen, and which of the two comes first."""
    source, target = names[edge.source], names[edge.target]
    if edge.kind == "process":
        return f"{source} completed before the same client began {target}."
    if edge.kind == "realtime":
        return f"{source} completed before {target} began."
    return f"{_seen(edge, names)}: {_short(source)} comes before {_short(target)}."


def _seen(edge: Edge, names: Mapping[int, str]) -> str:
    source, target = names[edge.source], names[edge.target]
    if edge.kind == "ww":
        return f"{target} replaced {_found(edge)}, which {source} had written, by version {edge.written}"
    if edge.kind == "wr":
        return f"{target} read {_found(edge)}, which {source} had written"
    looked = "searched and found" if edge.predicate else "found"
    return f"{source} {looked} {_found(edge)}, and {target} {_over(edge)} version {edge.written}"


def _over(edge: Edge) -> str:
    """Of a write over what was read."""
    return "wrote" if edge.read is None else "replaced that by"


def _short(name: str) -> str:
    return name.partition(" ")[0]


def _found(edge: Edge) -> str:
    return f"no record of {edge.key}" if edge.read is None else f"version {edge.read} of {edge.key}"
