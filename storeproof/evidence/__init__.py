"""The evidence of durability: what clients did in the rounds of a fault, and what was read back, so that it can be judged again.

A run writes it beside its result, as one file of JSON lines in gzip.
"""

from storeproof.evidence.audit import AuditEvidence
from storeproof.evidence.cluster_round import ClusterEvidence, Connection, NodeAudit, Second, Takeover
from storeproof.evidence.file import EVIDENCE, evidence_file, member_of, read_evidence
from storeproof.evidence.notation import EvidenceDamaged
from storeproof.evidence.rounds import Broken, RoundEvidence, StoreEvidence

__all__ = [
    "EVIDENCE",
    "AuditEvidence",
    "Broken",
    "ClusterEvidence",
    "Connection",
    "EvidenceDamaged",
    "NodeAudit",
    "RoundEvidence",
    "Second",
    "StoreEvidence",
    "Takeover",
    "evidence_file",
    "member_of",
    "read_evidence",
]
