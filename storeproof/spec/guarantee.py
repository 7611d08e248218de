"""Guarantees: what an acknowledged write survives, and the fault that tests it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Strict

from storeproof.spec.base import Name, SpecFile

GuaranteeName = Literal["volatile", "clean_restart", "process_crash", "power_loss", "node_loss"]

LADDER: tuple[GuaranteeName, ...] = ("volatile", "clean_restart", "process_crash", "power_loss", "node_loss")
"""From weakest to strongest; claiming one claims all below it."""

NodeGuaranteeName = Literal["one_node_crash", "all_nodes_crash"]

NODES: tuple[NodeGuaranteeName, ...] = ("one_node_crash", "all_nodes_crash")
"""Guarantees of a cluster, outside the ladder: surviving a node crash does not imply surviving a crash of all processes."""


LoadShape = Literal["burst", "stream", "bulk", "compaction"]
"""What clients do when the fault strikes.

`burst`: one client has just got its last acknowledgement. `stream`: concurrent clients write. `bulk`: batches are written.
`compaction`: the store rewrites its own files (compaction, checkpoint or snapshot) while clients write.
"""


class Guarantee(SpecFile):
    """One guarantee of the ladder, or one of a cluster."""

    guarantee: Literal[GuaranteeName, NodeGuaranteeName]
    title: str
    promise: str
    fault: Name | None
    """The fault that tests it; none for `volatile`."""
    load: Annotated[tuple[LoadShape, ...], Strict(False)] = ()
    """Load shapes under which it strikes, each of them in every round."""
    second_fault: bool = False
    """Whether the fault strikes again during recovery."""
