"""The evidence of durability: what clients did in the rounds of a fault, and what was read back, so that it can be judged again.

A run writes it beside its result, as one file of JSON lines in gzip.
"""

from storeproof.evidence.audit import AuditEvidence
from storeproof.evidence.cluster_round import ClusterEvidence, Connection, NodeAudit, Second, Succession, Takeover
from storeproof.evidence.crash_states import MOST_TRIED, CrashEvidence, StateEvidence
from storeproof.evidence.file import EVIDENCE, evidence_file, member_of, read_evidence
from storeproof.evidence.io_errors import MOST_CALLS, ErrorEvidence, ErrorsEvidence
from storeproof.evidence.notation import EvidenceDamaged
from storeproof.evidence.rounds import Broken, RoundEvidence, StoreEvidence
from storeproof.evidence.transactions import TransactionsEvidence
from storeproof.evidence.transfers import TransferEvidence

__all__ = [
    "EVIDENCE",
    "MOST_CALLS",
    "MOST_TRIED",
    "AuditEvidence",
    "Broken",
    "ClusterEvidence",
    "Connection",
    "CrashEvidence",
    "ErrorEvidence",
    "ErrorsEvidence",
    "EvidenceDamaged",
    "NodeAudit",
    "RoundEvidence",
    "Second",
    "StateEvidence",
    "StoreEvidence",
    "Succession",
    "Takeover",
    "TransactionsEvidence",
    "TransferEvidence",
    "evidence_file",
    "member_of",
    "read_evidence",
]
