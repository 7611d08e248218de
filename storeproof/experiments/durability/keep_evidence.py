"""Keeps the evidence of the rounds on a store until the run writes its result."""

from __future__ import annotations

from dataclasses import replace

from storeproof.evidence import StoreEvidence, member_of
from storeproof.printable import printable
from storeproof.result.redact import redact
from storeproof.store_under_test import StoreUnderTest


def keep_evidence(sut: StoreUnderTest, evidence: StoreEvidence) -> None:
    """Keep it packed, with the passwords masked that a store's log may hold; also of a store that did not come to its first round, so that
    no attempt is missing."""
    secrets = sut.secrets()
    for each in evidence.rounds:
        if each.broken is not None:
            reason, log = (printable(redact(text, secrets)) for text in (each.broken.reason, each.broken.log))
            each.broken = replace(each.broken, reason=reason, log=log)
    sut.record.evidence.append(member_of(evidence))
