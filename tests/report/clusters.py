"""SAMPLE DATA. Invented rounds on a cluster, for tests of the reports and the site only."""

from __future__ import annotations

from typing import Any

from storeproof.result.measured.cluster_round import ClusterRoundRecord, FailoverParts, NodeCourse, NodeSpan, Phase


def span(node: str, phase: Phase, acknowledged: int, found: int = 0, lost: int = 0, **changed: Any) -> NodeSpan:
    """What a node acknowledged; the last of it a second after the fault."""
    last = 1.0 if acknowledged else None
    return NodeSpan.model_validate(
        {
            "node": node,
            "phase": phase,
            "acknowledged": acknowledged,
            "found": found,
            "lost": lost,
            "unknown": 0,
            "refused": 0,
            "last_second": last,
        }
        | changed
    )


def cluster_round(fault: str, *spans: NodeSpan, **changed: Any) -> ClusterRoundRecord:
    """A round on three nodes: n1 is struck, n2 takes writes after 2 s, and the fault ends after 4 s. Each node has all that it acknowledged
    in one bin."""
    course = [
        NodeCourse(node=each.node, first=3, acknowledged=[each.acknowledged], found=[each.found], lost=[each.lost])
        for each in {each.node: each for each in spans}.values()
        if each.acknowledged
    ]
    record = ClusterRoundRecord(
        fault=fault,
        nodes=["n1", "n2", "n3"],
        struck="n1",
        successor="n2",
        primary="n2",
        began_second=-0.5,
        strike_second=-0.1,
        failover_second=2.0,
        healed_second=4.0,
        ended_second=6.0,
        spans=list(spans),
        course=course,
    )
    return record.model_copy(update=changed)


def parts(**changed: Any) -> FailoverParts:
    """n1 is missed after a second, and n2 elected half a second later."""
    seconds = {"detected_second": 1.0, "before_second": 1.45, "elected_second": 1.5}
    return FailoverParts.model_validate({"promoted_by": "store", **seconds} | changed)


PROMOTED = parts(promoted_by="storeproof", detected_second=None, before_second=0.01, elected_second=0.13)

ISOLATED = cluster_round(
    "isolate_primary",
    span("n1", "before", 50, 50),
    span("n1", "during", 1644, 0, 900, last_second=2.1),
    span("n2", "during", 300, 200),
)
"""The old primary went on."""
