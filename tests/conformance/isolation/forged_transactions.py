"""Forgeries of the transactions in the first round of a fault."""

from __future__ import annotations

from dataclasses import replace

from storeproof.evidence import StoreEvidence
from storeproof.history import Transaction


def transactions(evidence: StoreEvidence) -> list[Transaction]:
    """Those of the first round."""
    kept = evidence.rounds[0].transactions
    assert kept is not None
    return kept.sent


def read_back_older(evidence: StoreEvidence) -> None:
    """What was read in the end shows of a record the version before the last one."""
    sent, reader = transactions(evidence), transactions(evidence)[-1]
    read = next(each for each in reader.accesses if each.version is not None)
    writer = next(each for each in sent if any(one.action == "write" and one.version == read.version for one in each.accesses))
    older = next(each.version for each in writer.accesses if each.action == "read" and each.key == read.key)
    accesses = tuple(replace(each, version=older) if each is read else each for each in reader.accesses)
    sent[-1] = replace(reader, accesses=accesses)


def forget_a_transaction(evidence: StoreEvidence) -> None:
    """One that wrote."""
    sent = transactions(evidence)
    sent.remove(next(each for each in sent if each.outcome == "ok" and any(one.action == "write" for one in each.accesses)))


def lose_a_commits_reply(evidence: StoreEvidence) -> None:
    """So that nothing is promised of it."""
    sent = transactions(evidence)
    place = next(number for number, each in enumerate(sent) if each.outcome == "ok")
    sent[place] = sent[place].without_reply()


def move_a_transaction(evidence: StoreEvidence) -> None:
    """To the next round."""
    later = evidence.rounds[1].began + 1_000
    transactions(evidence)[-1] = replace(transactions(evidence)[-1], invoked=later, completed=later + 9_000)


def drop_the_transactions(evidence: StoreEvidence) -> None:
    """Of a round that counts."""
    evidence.rounds[0].transactions = None


def another_level(evidence: StoreEvidence) -> None:
    """A weaker one."""
    kept = evidence.rounds[0].transactions
    assert kept is not None
    kept.level = "read_committed"
