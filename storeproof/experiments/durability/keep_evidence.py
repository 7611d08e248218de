"""Keeps the evidence of the rounds on a store until the run writes its result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from storeproof.contract import Unknown
from storeproof.errors import Halted, MachineFailed
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
    if evidence.crash is not None:
        evidence.crash.states = [replace(each, broken=printable(redact(each.broken, secrets))) for each in evidence.crash.states]
    if evidence.errors is not None:
        for tried in evidence.errors.tried:
            tried.broken = printable(redact(tried.broken, secrets))
    if evidence.transactions is not None:
        evidence.transactions.refusal = printable(redact(evidence.transactions.refusal, secrets))
    sut.record.evidence.append(member_of(evidence))


@contextmanager
def attempted(sut: StoreUnderTest, evidence: StoreEvidence) -> Iterator[None]:
    """An attempt that fails before there is any evidence is one too, of which nothing is known."""
    try:
        yield
    except (MachineFailed, Unknown, Halted):
        keep_evidence(sut, evidence)
        raise
