"""What happened in the rounds of one fault on one store: all that their verdict depends on.

All times are nanoseconds on the clock of the operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from storeproof.evidence.audit import AuditEvidence
from storeproof.evidence.cluster_round import ClusterEvidence
from storeproof.evidence.crash_states import CrashEvidence
from storeproof.evidence.io_errors import ErrorsEvidence
from storeproof.evidence.transactions import TransactionsEvidence
from storeproof.evidence.transfers import TransferEvidence
from storeproof.history import Operation, Reach, Transaction, Transfer
from storeproof.spec.guarantee import LoadShape


@dataclass(frozen=True, slots=True)
class Broken:
    """The store was unusable after the fault."""

    reason: str
    log: str
    """The last lines of its log."""
    needs_repair: bool
    """It starts, and then answers with errors."""


@dataclass(slots=True)
class RoundEvidence:
    """One round; filled in as it goes on."""

    shape: LoadShape
    began: int
    """When its load began."""
    struck: int = 0
    load_ended: int = 0
    second_fault: bool = False
    recovered: float | None = None
    """Seconds from the start to the first answer; None if it did not answer."""
    unstartable: int | None = None
    """When it was given up to start it; None if it started."""
    audit: AuditEvidence | None = None
    broken: Broken | None = None
    spoiled: bool = False
    """The round ended in a way that says nothing about the store: it is not counted, and was repeated on a new store."""
    reach: Reach | None = None
    """What of the load was in the store's files when the fault struck; None: it did not strike, or before format 1.1; or on a cluster."""
    cluster: ClusterEvidence | None = None
    """Of a fault of the nodes of a cluster, or of the network between them."""
    transfers: TransferEvidence | None = None
    """What clients transferred, if that is what they did, and its books were read; all else that they sent is in `StoreEvidence`."""
    transactions: TransactionsEvidence | None = None
    """What clients saw in transactions of a mix, if that is what they sent, to the reads of all records in the end."""


@dataclass(slots=True)
class StoreEvidence:
    """The rounds on one store, from its first start to its end. A store that the machine spoiled is followed by another one."""

    case: str
    seed: str
    """Of all random choices."""
    target: str
    """The store and its variant, `store:variant`."""
    cuts_off: bool
    """Whether the fault takes the disk away from a store that still runs: what it answers then is unknown."""
    rounds: list[RoundEvidence] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    """All of them, in order of invocation."""
    crash: CrashEvidence | None = None
    """Of a store whose disk was recorded, in place of rounds."""
    errors: ErrorsEvidence | None = None
    """Of a store whose disk failed, in place of rounds."""
    transactions: TransactionsEvidence | None = None
    """Of clients whose transactions are judged by what they saw, in place of rounds."""

    @property
    def requests(self) -> Iterator[Operation | Transaction | Transfer]:
        """The operations, or the transfers or transactions of all rounds, in order of invocation."""
        yield from self.operations
        for each in self.rounds:
            yield from each.transfers.sent if each.transfers is not None else ()
            yield from each.transactions.sent if each.transactions is not None else ()
