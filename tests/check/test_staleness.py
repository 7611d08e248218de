"""Stale reads: each kind of read that is one, and each that looks like one and is not."""

from __future__ import annotations

import pytest

from storeproof.check import staleness, together
from tests.check.accesses import accesses

STALE = {
    "the value before": ("put a |--|", "put b      |--|", "get -> a         |--|"),
    "a value of long ago": ("put a |--|", "put b      |--|", "put c           |--|", "get -> a              |--|"),
    "a value that was deleted": ("put a |--|", "del -> yes |--|", "get -> a         |--|"),
    "absence, though a put was acknowledged": ("put a |--|", "get -> nothing |--|"),
    "absence, though a put followed the delete": ("del -> no |-|", "put a        |-|", "get -> nothing     |-|"),
    "absence, which a delete explains only later": ("put a |-|", "get -> nothing  |-|", "del -> yes             |-|"),
    "an unknown newer write beside an acknowledged one": ("put a |-|", "put b   |-|", "put c   |-?", "get -> a      |-|"),
}
FRESH = {
    "the last value": ("put a |--|", "put b      |--|", "get -> b         |--|"),
    "the newer write is not acknowledged when the read is sent": ("put a |--|", "put b      |----|", "get -> a       |------|"),
    "two writes at once, in either order": ("put a |-----|", "put b   |-|", "get -> a         |-|"),
    "the newer write is unknown": ("put a |--|", "put b      |--?", "get -> a         |--|"),
    "the newer write was refused": ("put a |--|", "put b      |--no", "get -> a           |--|"),
    "an unknown write takes effect late": ("put a |--?", "put b      |--|", "get -> a         |--|"),
    "absence before the first write": ("get -> nothing |--|", "put a           |--|"),
    "absence after a delete": ("put a |--|", "del -> yes |--|", "get -> nothing      |--|"),
    "absence while a delete is under way": ("put a |--|", "del -> yes    |------|", "get -> nothing    |-|"),
    "absence after an unknown delete": ("put a |--|", "del |--?", "get -> nothing      |--|"),
    "a read without an answer": ("put a |--|", "put b      |--|", "get               |--?"),
}


@pytest.mark.parametrize("name", STALE)
def test_a_stale_read_is_found(name: str) -> None:
    """It is the only one, and the write that it missed had been acknowledged before it was sent."""
    found = staleness(accesses(*STALE[name]))
    (stale,) = found.stale
    assert found.reads == 1
    assert stale.newer.outcome == "ok"
    assert stale.age_ns > 0
    assert not found.unexplained


@pytest.mark.parametrize("name", FRESH)
def test_other_reads_are_not(name: str) -> None:
    """What concurrency or a lost reply explains is not stale."""
    found = staleness(accesses(*FRESH[name]))
    assert found.stale == ()
    assert not found.unexplained


def test_the_age_counts_from_the_first_newer_write() -> None:
    """Later writes make a value no older than the first one made it; the columns of this notation are 10 ns."""
    found = staleness(accesses("put a |-|", "put b     |-|", "put c         |-|", "get -> a           |-|"))
    (stale,) = found.stale
    assert stale.newer.write_id == "b"
    assert stale.age_ns == stale.read.invoked - (stale.newer.completed or 0)
    assert "get -> a, sent" in str(stale)
    assert "after put b was acknowledged" in str(stale)


def test_what_no_write_wrote_is_unexplained() -> None:
    """It is neither stale nor fresh, and neither is the value of a refused write."""
    found = staleness(accesses("put a |--|", "put b |--no", "get -> c       |--|", "get -> b       |--|"))
    assert [each.answer for each in found.unexplained] == ["c", "b"]
    assert found.stale == ()


def test_several_keys_are_added_up() -> None:
    """Reads, stale reads and ages of all; one history has one key only."""
    one, other = (staleness(accesses(*STALE[name])) for name in ("the value before", "a value of long ago"))
    both = together([one, other])
    assert both.reads == 2
    assert both.ages_ms == sorted(one.ages_ms + other.ages_ms)
    with pytest.raises(ValueError, match="one key"):
        staleness(accesses("add +1 -> 1 |--|"))
