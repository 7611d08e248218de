"""What a store says of its isolation levels, and the transactions under which it is held to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile

Guarantees = Literal[
    "read_committed",
    "parallel_snapshot_isolation",
    "snapshot_isolation",
    "strong_session_snapshot_isolation",
    "strong_snapshot_isolation",
    "serializable",
    "strong_session_serializable",
    "strict_serializable",
]
"""What transactions guarantee: levels of the literature, which say exactly what they forbid (`storeproof.check.isolation.levels`), whatever
a store calls its own. `strong_session` ones keep the order of each client, `strong` and `strict` ones real time."""

AnomalyKind = Literal[
    "G0", "G1a", "G1b", "G1c", "own-writes", "fuzzy-read", "lost-update", "G-single", "G-nonadjacent", "G2-item", "G2"
]  # fmt: skip
"""What is wrong between transactions: Adya's names ("Weak Consistency", 1999), and Elle's (Kingsbury and Alvaro, 2020).

Cycles: of `ww` (`G0`); of `ww` and `wr` (`G1c`); with one `rw` (`G-single`, as of read skew); with several, no two of them adjacent
(`G-nonadjacent`, as of a long fork); with two adjacent ones (`G2-item`, as of write skew; `G2` if it takes a read by a condition).

Others: a version of a refused transaction was read (`G1a`), or one that its transaction replaced itself (`G1b`). A transaction does not
read the last version that it wrote (`own-writes`), or reads a record twice and finds two versions that others wrote (`fuzzy-read`). Two
transactions replaced the same version, which both had read (`lost-update`).
"""

AnomalyOrder = Literal["item", "process", "realtime"]
"""What shows an anomaly: reads and writes alone, also the order of each client's transactions, or also real time."""

ANOMALIES: Final[Mapping[AnomalyKind, str]] = {
    "G0": "dirty write (G0)",
    "G1a": "aborted read (G1a)",
    "G1b": "intermediate read (G1b)",
    "G1c": "circular information flow (G1c)",
    "own-writes": "own write not read back",
    "fuzzy-read": "non-repeatable read",
    "lost-update": "lost update",
    "G-single": "read skew (G-single)",
    "G-nonadjacent": "long fork (G-nonadjacent)",
    "G2-item": "write skew (G2-item)",
    "G2": "write skew by a condition (G2)",
}
"""In words. G-single and G-nonadjacent have more than read skew and long fork among them, which are the best known."""

ORDERS: Final[Mapping[AnomalyOrder, str]] = {"item": "", "process": " by the order of one client", "realtime": " by real time"}
"""What shows an anomaly, as it stands after the name of its kind; nothing where reads and writes alone do."""

Share = Annotated[float, Field(ge=0, le=1, strict=False)]


def in_words(level: Guarantees) -> str:
    """`serializable`, `snapshot isolation`."""
    return level.replace("_", " ")


class Promise(Frozen):
    """What a store guarantees, and the words that it rests on."""

    guarantees: Guarantees
    """The level of the literature that it comes to."""
    says: str
    """The maker's own sentence."""
    source: Annotated[str, Field(pattern=r"^https?://")]
    """Where it stands."""


class LevelClaim(Promise):
    """What a store guarantees at one of its levels: the name of a level says less than its maker's documents do."""

    across_nodes: Promise | None = None
    """What holds of a cluster's transactions together, if some are sent to other nodes than the rest; None: the maker does not say."""


class TransactionMix(SpecFile):
    """One file of `spec/isolation/`: random transactions of concurrent clients, which read records and replace or extend some."""

    mix: Name
    title: str
    model: Name
    """Of the records. They are absent at first."""
    records: Literal["values", "lists", "groups"] = "values"
    """`values`: a transaction replaces only what it has read. `lists`: the store appends to them without a read before (`single_key`).
    `groups`: as values, and found by the group that a field has (`nested`)."""
    clients: PositiveInt
    keys: PositiveInt
    """Records that are contended for at a time."""
    writes: PositiveInt
    """Of one record, after which a new one takes its place."""
    reads: Annotated[tuple[PositiveInt, PositiveInt], Strict(False)]
    """The smallest and largest number of records that a transaction reads; each is as likely."""
    searched: Share = 0.0
    """Of the reads of groups: of a whole one, by its field."""
    reads_only: Share
    """Of the transactions: they replace nothing."""
    replaced: Share
    """Of the records that one of the others reads."""
    read_again: Share
    """Of the records that a transaction has read, at its end."""
    rolled_back: Share
    """Of the transactions, on purpose."""
    beside: int = Field(ge=0)
    """Other records in the same collection."""
    readers: NonNegativeInt = 0
    """Further clients of a cluster, whose transactions read all records that are contended for, and nothing else."""
    readers_at: Literal["nodes", "primary"] = "nodes"
    """`nodes`: at the primary and at each other node in turn. `primary`: all at the primary, the control of such a mix."""

    @model_validator(mode="after")
    def _can_be_drawn(self) -> Self:
        least, most = self.reads
        if not least <= most <= self.keys:
            raise RuleError(f"found {least} to {most}; allowed: up to {self.keys}, the number of keys, the smaller number first", "reads")
        return self

    @property
    def of_a_cluster(self) -> bool:
        """Whether it takes one: it has clients for the reads of its nodes."""
        return self.readers > 0

    @property
    def across_nodes(self) -> bool:
        """Whether its transactions are sent to several nodes of a cluster."""
        return self.of_a_cluster and self.readers_at == "nodes"

    @property
    def reading(self) -> TransactionMix:
        """That of its readers."""
        return self.model_copy(update={"reads": (self.keys, self.keys), "reads_only": 1.0, "searched": 0.0, "rolled_back": 0.0})
