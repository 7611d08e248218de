"""What a store promises to keep, and the fault that tests the promise."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Strict

from storeproof.spec.base import Name, SpecFile

GuaranteeName = Literal["volatile", "clean_restart", "process_crash", "power_loss", "node_loss"]

LADDER: tuple[GuaranteeName, ...] = ("volatile", "clean_restart", "process_crash", "power_loss", "node_loss")
"""From the weakest to the strongest: who claims a rung claims all below it."""

NodeGuaranteeName = Literal["one_node_crash", "all_nodes_crash"]

NODES: tuple[NodeGuaranteeName, ...] = ("one_node_crash", "all_nodes_crash")
"""Promises of a cluster, beside the ladder: one that keeps everything when a node crashes may keep little when all processes do."""


LoadShape = Literal["burst", "stream", "bulk", "compaction"]
"""What goes on when the fault strikes.

`burst`: the last of some acknowledgements was given just now. `stream`: concurrent clients write. `bulk`: batches are loaded.
`compaction`: the store writes its own files anew, by its compaction, checkpoint or snapshot, while clients write.
"""


class Guarantee(SpecFile):
    """One rung of the ladder, or a promise beside it."""

    guarantee: Literal[GuaranteeName, NodeGuaranteeName]
    title: str
    promise: str
    fault: Name | None
    """The fault that tests it; none for `volatile`, which promises nothing."""
    load: Annotated[tuple[LoadShape, ...], Strict(False)] = ()
    """What goes on when it strikes: each of these in every round."""
    second_fault: bool = False
    """Whether the fault strikes a second time, while the store recovers from the first."""
