"""Guarantees: what an acknowledged write survives, and the faults that test it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple, get_args

from pydantic import Strict

from storeproof.spec.base import Name, SpecFile

GuaranteeName = Literal["volatile", "clean_restart", "process_crash", "power_loss"]

LADDER: tuple[GuaranteeName, ...] = ("volatile", "clean_restart", "process_crash", "power_loss")
"""From weakest to strongest; claiming one claims all below it."""


def rank(guarantee: str | None) -> int:
    """The place on the ladder, from 0; -1 for none, and for a guarantee of a cluster."""
    return next((place for place, name in enumerate(LADDER) if name == guarantee), -1)


NodeGuaranteeName = Literal["one_node_crash", "all_nodes_crash", "node_loss", "partition"]

NODES: tuple[NodeGuaranteeName, ...] = ("one_node_crash", "all_nodes_crash", "node_loss", "partition")
"""Guarantees of a cluster, outside the ladder: a cluster that keeps all data when a node is lost may lose all when all processes crash."""

NETWORKED: tuple[NodeGuaranteeName, ...] = ("node_loss", "partition")
"""The guarantees whose faults need a topology: nodes with a network between them."""


class FaultName(NamedTuple):
    """What tests a guarantee."""

    alone: str
    """As at the head of a column."""
    in_sentence: str


FAULT_WORDS: Final[Mapping[str, FaultName]] = {
    "clean_restart": FaultName("clean restart", "a clean restart"),
    "process_crash": FaultName("kill -9", "kill -9"),
    "power_loss": FaultName("power cut", "a power cut"),
    "one_node_crash": FaultName("crash of one node", "the crash of one node"),
    "all_nodes_crash": FaultName("crash of all nodes", "the crash of all nodes"),
    "node_loss": FaultName("loss of a node", "the loss of a node"),
    "partition": FaultName("partition", "a partition"),
}
"""By guarantee."""

SUDDEN: tuple[GuaranteeName | NodeGuaranteeName, ...] = ("process_crash", "power_loss", *NETWORKED)
"""Those whose faults strike without warning: under each kind of workload, of records, contended keys, transfers, sessions and
transactions."""

CRASHES: tuple[GuaranteeName, ...] = ("process_crash", "power_loss")
"""Those about the end of one server without warning: each state of its files that it may leave is tried."""

CrashModel = Literal["kernel", "ext4", "torn", "writeback", "posix"]
"""What a crash may leave of a server's files.

`kernel`: all that reached the kernel; the process ended, the machine did not. `ext4`: names in order, new pages in order and before their
size, overwritten pages alone. `torn`: the same, and overwritten pages in part. `writeback`: a size without its pages. `posix`: nothing but
what was synced has to be there, and anything else may be.
"""

IoError = Literal["eio_write", "eio_sync", "eio_read", "enospc", "short_write"]
"""How a call fails that a disk gets: a write, sync or read with EIO; a write that needs space with ENOSPC; a write of half its bytes."""

IO_ERRORS: tuple[IoError, ...] = get_args(IoError)

LoadShape = Literal["burst", "stream", "bulk", "compaction"]
"""What clients do when the fault strikes.

`burst`: one client has just got its last acknowledgement. `stream`: concurrent clients write. `bulk`: batches are written.
`compaction`: the store rewrites its own files (compaction, checkpoint or snapshot) while clients write.
"""


class Guarantee(SpecFile):
    """One guarantee of the ladder, or one of a cluster."""

    FORMAT = (1, 2)

    guarantee: Literal[GuaranteeName, NodeGuaranteeName]
    title: str
    promise: str
    fault: Name | None
    """The fault that tests it; none for `volatile`."""
    further_faults: Annotated[tuple[Name, ...], Strict(False)] = ()
    """More faults that test it; each strikes in as many rounds as the first, or in fewer at a scale that says so."""
    load: Annotated[tuple[LoadShape, ...], Strict(False)] = ()
    """Load shapes under which it strikes, each of them in every round."""
    crash_model: CrashModel | None = None
    """What a crash may leave of a server's files; none where no server ends without warning."""
    second_fault: bool = False
    """Whether the fault strikes again during recovery."""

    @property
    def faults(self) -> tuple[str, ...]:
        """All that test it, in the order in which they take turns."""
        return (*([] if self.fault is None else [self.fault]), *self.further_faults)
