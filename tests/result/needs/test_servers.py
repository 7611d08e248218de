"""Results are joined where they are of one server; which one that is, is said by the preferred result."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from storeproof.outcome import Outcome
from storeproof.result.compare import Side
from storeproof.result.model import Result
from storeproof.result.needs.servers import of_one_server, preference
from tests.result.claimed import given, result, store
from tests.site.made import tried

ONE, TWO, THREE = "key_access.put-get", "key_access.delete", "text.language-ja"


def joined(*results: Result) -> tuple[list[str], list[str]]:
    """The versions that are kept, and those that are left out."""
    sides: Sequence[Side] = [Side(each, each.stores[0]) for each in results]
    kept, left_out = of_one_server(sides, None)
    return [str(each.store.version) for each in kept], [str(each.store.version) for each, _ in left_out]


def test_what_is_large_enough_comes_first_then_what_is_newer() -> None:
    """A time without a zone is UTC; one that cannot be read is the oldest."""
    runs = [
        result(run="smoke", started="2026-03-01T00:00:00Z", scale="smoke"),
        result(run="old", started="2026-01-01T00:00:00Z"),
        result(run="odd", started="yesterday", scale="full"),
        result(run="new", started="2026-02-01T00:00:00"),
    ]
    assert [each.run.id for each in sorted(runs, key=preference, reverse=True)] == ["new", "old", "odd", "smoke"]


def test_a_store_that_was_given_less_is_no_evidence_before_one_with_all() -> None:
    """Although it is newer: a server that uses several cores is slower on one."""
    runs = [given(result(run="part"), [0], [1], 2), result(run="all", started="2020-01-01T00:00:00Z")]
    assert [each.run.id for each in sorted(runs, key=preference, reverse=True)] == ["all", "part"]


@pytest.mark.parametrize(
    ("found", "confined"),
    [
        (given(result(run="given"), [0, 1], [0, 1], 2, "2 cores: client and server share them"), ""),
        (given(result(run="given"), [0], [1], 2), "1 core"),
        (given(result(run="given"), [0], [0], 2, "shared"), "1 core"),
        (given(result(run="given"), [0, 1], [2, 3], 4), ""),
        (given(result(run="given"), [0], [2, 3], 4), "1 core"),
        (given(result(run="given"), [0, 1], [2, 3], 4, memory=2**30), "2 cores and 1 GiB"),
        (given(result(run="given"), [], [], 4, "nothing was parted"), ""),
        (result(run="older format"), ""),
    ],
)
def test_a_store_is_given_less_by_fewer_cores_or_less_memory(found: Result, confined: str) -> None:
    """Than are its own by default: all of two or three, all but the load generator's of more."""
    assert found.environment.confined_to == confined


def test_a_run_of_a_few_cases_does_not_say_which_server_it_is() -> None:
    """One of most cases does, although it is older; without one the first does."""
    few = result(tried("redis:x", (ONE, Outcome.PASS), (TWO, Outcome.EXCLUDED), (THREE, Outcome.NOT_RUN), version="9"))
    most = result(tried("redis:x", (ONE, Outcome.PASS), (TWO, Outcome.FAIL), (THREE, Outcome.NOT_RUN), version="8"))
    assert joined(few, most) == (["8"], ["9"])
    assert joined(few, result(store("redis:x", version="7", capabilities=[]))) == (["9"], ["7"])


def test_a_server_that_was_never_reached_is_none() -> None:
    """And says nothing about another."""
    assert joined(result(store("redis:x", version=None))) == ([], [])
    assert joined(result(store("redis:x", version=None)), result(store("redis:x", version="7"))) == (["7"], [])
