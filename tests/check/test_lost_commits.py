"""Commits that were acknowledged before a fault, and of which what is read after it shows nothing."""

from __future__ import annotations

import pytest

from storeproof.check import lost_commits
from tests.check.transactions import transactions

STRIKE = 10
"""Columns of the notation; what begins to the right of it began after the fault."""
BEFORE, CHAIN = "|-|       x?- x=1", "   |-|    x?1 x=2"


HISTORIES = {
    "the last version is there": ((BEFORE, CHAIN, "             |-| x?2"), []),
    "a later one is": ((BEFORE, CHAIN, "             |-| x?2 x=3", "                 |-| x?3"), []),
    "the last one is not": ((BEFORE, CHAIN, "             |-| x?1"), ["2"]),
    "none is": ((BEFORE, CHAIN, "             |-| x?-"), ["1", "2"]),
    "another one was written in its place": ((BEFORE, CHAIN, "             |-| x?1 x=3"), ["2"]),
    "its reply was lost": ((BEFORE, "   |-?    x?1 x=2", "             |-| x?1"), []),
    "it was rolled back": ((BEFORE, "   |-no   x?1 x=2", "             |-| x?1"), []),
    "it ended after the fault": ((BEFORE, "   |----------|  x?1 x=2", "             |-| x?1"), []),
    "the read began before the fault": ((BEFORE, CHAIN, "      |---------| x?1"), []),
    "the read was rolled back": ((BEFORE, CHAIN, "             |-no x?1"), []),
    "an unknown one lies between": ((BEFORE, "   |-?    x?1 x=2", "      |-|  x?2 x=3", "             |-| x?1"), ["3"]),
    "an append to a list": ((BEFORE, "   |-|    x=2<1", "             |-| x?1"), ["2"]),
    "a blind write has no place": ((BEFORE, "   |-|    x=2", "             |-| x?1"), []),
    "it replaced its own version": ((BEFORE, "   |-|    x?1 x=2 x=3", "             |-| x?1"), ["3"]),
    "its intermediate version is there": ((BEFORE, "   |-|    x?1 x=2 x=3", "             |-| x?2"), ["3"]),
    "what is read again is another one": ((BEFORE, CHAIN, "             |-| x?2 x=3 x?3"), []),
}


@pytest.mark.parametrize(("lines", "lost"), HISTORIES.values(), ids=HISTORIES)
def test_a_commit_is_lost_if_an_older_version_is_read_after_the_fault(lines: tuple[str, ...], lost: list[str]) -> None:
    """And only if that is certain: of two that replaced the same version the later one may have overwritten the other."""
    found = lost_commits(transactions(*lines), STRIKE)
    assert sorted(each.version for each in found) == lost
    assert all("was committed, and afterwards" in str(each) for each in found)


def test_of_two_that_replaced_one_version_neither_is_lost() -> None:
    """Where updates may be lost, one overwrites the other."""
    history = transactions(BEFORE, CHAIN, "   |-|    x?1 x=3", "             |-| x?3")
    assert lost_commits(history, STRIKE) == []
