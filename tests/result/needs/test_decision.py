"""Candidates beside each other: the nearest first, the front, and what one need less would buy."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.errors import UsageError
from storeproof.outcome import Outcome
from storeproof.report.decision.words import headline
from storeproof.result.model import StoreResult
from storeproof.result.needs.decision import decide
from storeproof.spec.questions.needs import NeedsFile
from tests.result.claimed import around, number, result
from tests.result.needs.needed import SHAPE, capability, decided, known, needs, struck, verdicts
from tests.shipped import SHIPPED

EXPIRY = "expiry.put-expiring"
HELD = [struck("clean_restart"), struck("process_crash"), struck("power_loss")]
NEEDS: dict[str, Any] = {
    "must": [EXPIRY],
    "guarantee": "power_loss",
    "load": {"mix": [{"operation": "get"}], "rate": 1000},
}


def shown(target: str, rate: float = 2000, *, expires: bool = True, lost: int = 0) -> StoreResult:
    """A store in which everything was tried."""
    faults = [*HELD[:2], struck("power_loss", lost)]
    cases = [SHAPE, *capability(EXPIRY, Outcome.PASS if expires else Outcome.UNSUPPORTED)]
    return known(target, number("single-get", *around(rate)), cases=cases, faults=faults)


def test_one_that_all_needs_are_met_by_comes_first() -> None:
    """However many others there are."""
    decision = decided(needs(**NEEDS), shown("mongodb:journaled", expires=False), shown("redis:aof-always"))
    assert [each.name for each in decision.meeting] == ["redis:aof-always"]
    assert decision.candidates[0].meets_all
    assert [each.need.name for each in decision.candidates[1].missed] == [EXPIRY]


def test_needs_that_no_store_meets() -> None:
    """Each misses something, and none is hidden."""
    decision = decided(needs(**NEEDS), shown("mongodb:journaled", expires=False), shown("redis:aof-everysec", lost=5))
    assert not decision.meeting
    assert not decision.possible
    assert {each.name: [found.need.name for found in each.missed] for each in decision.candidates} == {
        "mongodb:journaled": [EXPIRY],
        "redis:aof-everysec": ["power_loss"],
    }


def test_needs_that_every_store_meets() -> None:
    """All are named, the fastest first, and no need is worth dropping."""
    stores = result(shown("redis:aof-always", 3000), shown("mariadb:innodb-flush-1", 2000), shown("mongodb:journaled", 4000))
    decision = decided(needs(**NEEDS), stores)
    assert [each.name for each in decision.meeting] == ["mongodb:journaled", "redis:aof-always", "mariadb:innodb-flush-1"]
    assert headline(decision) == "mongodb:journaled, redis:aof-always and mariadb:innodb-flush-1 meet every need."
    assert (decision.dropped, decision.looser) == ((), ())
    assert [each.name for each in decision.front] == ["mongodb:journaled"]


def test_one_need_less_lets_others_in_and_says_what_they_are_worth() -> None:
    """Rates are compared where they are of one run."""
    stores = (shown("redis:aof-always"), shown("redis:volatile", 5000, lost=9), shown("mongodb:journaled", expires=False))
    without = {each.need.name: each for each in decided(needs(**NEEDS), result(*stores)).dropped}
    assert without["power_loss"].candidates == ("redis:volatile",)
    assert without["power_loss"].gain == pytest.approx(2.5)
    assert without[EXPIRY].candidates == ("mongodb:journaled",)
    apart = {each.need.name: each for each in decided(needs(**NEEDS), *stores).dropped}
    assert apart["power_loss"].gain is None


def test_what_one_need_less_buys_is_set_against_the_fastest_that_meets_it() -> None:
    """Not against the slowest; and nothing is said where that one may be as fast, since the load generator was the limit."""
    fast, slow, loose = shown("redis:aof-always", 4000), shown("mariadb:innodb-flush-1", 1000), shown("redis:volatile", 8000, lost=9)
    (without,) = decided(needs(**NEEDS), result(fast, slow, loose)).dropped
    assert without.gain == pytest.approx(2)
    assert not without.at_least
    limited = [each.model_copy(update={"at_least": True}) for each in (fast.measurements[0], loose.measurements[0])]
    at_most = result(fast.model_copy(update={"measurements": limited[:1]}), slow, loose)
    assert [each.gain for each in decided(needs(**NEEDS), at_most).dropped] == [None]
    at_least = result(fast, slow, loose.model_copy(update={"measurements": limited[1:]}))
    assert [each.at_least for each in decided(needs(**NEEDS), at_least).dropped] == [True]


def test_a_rate_that_was_not_shown_is_no_headroom() -> None:
    """So that one which lacks more does not stay on the front by a number that decides nothing."""
    asked = NEEDS | {"load": {"mix": [{"operation": "get"}], "rate": 1000}}
    role = needs(**asked).roles["data"]
    file = needs(**asked).model_copy(update={"roles": {"data": role, "more": role}})
    decision = decided(file, result(shown("redis:aof-always", 1500), shown("redis:volatile", 9000, lost=9)))
    assert [each.headroom for each in decision.candidates] == [None, None]
    assert [each.name for each in decision.front] == ["redis:aof-always"]


@pytest.mark.slow
def test_a_looser_alternative_that_a_profile_takes_is_offered() -> None:
    """To a need that alone keeps a store from meeting all; one that lacks it too, or that misses more, is not named."""
    swept = [*capability(EXPIRY, Outcome.UNSUPPORTED), *capability("expiry.swept")]
    stores = (
        known("mongodb:journaled", cases=[SHAPE, *swept]),
        known("mariadb:innodb-flush-1", cases=[SHAPE, *capability(EXPIRY, Outcome.UNSUPPORTED)]),
        known("tarantool:memtx-tree-fsync", cases=swept),
    )
    (looser,) = decided(needs(must=[EXPIRY]), *stores).looser
    assert (looser.instead.name, looser.candidates) == ("expiry.swept", ("mongodb:journaled",))
    strict = {"any_of": ["expiry.hidden", EXPIRY, "expiry.swept"]}
    assert decided(needs(must=[strict]), *stores).looser == (), "the loosest of all is asked for"


def test_a_candidate_that_another_beats_is_not_on_the_front() -> None:
    """One that is faster and lacks more stays."""
    stores = (shown("redis:aof-always", 3000), shown("mariadb:innodb-flush-1", 2000), shown("redis:volatile", 9000, lost=9))
    assert {each.name for each in decided(needs(**NEEDS), result(*stores)).front} == {"redis:aof-always", "redis:volatile"}


def test_rates_of_two_machines_beat_nothing() -> None:
    """The slower one may be the faster store."""
    decision = decided(needs(**NEEDS), shown("redis:aof-always", 3000), shown("mariadb:innodb-flush-1", 2000))
    assert len(decision.front) == 2


def test_a_wish_decides_between_those_that_meet_the_needs() -> None:
    """And keeps none of them from meeting all."""
    file = needs(should=[EXPIRY])
    stores = (
        known("mongodb:journaled", cases=[SHAPE, *capability(EXPIRY, Outcome.UNSUPPORTED)]),
        known("redis:volatile", cases=[SHAPE, *capability(EXPIRY)]),
    )
    decision = decided(file, *stores)
    assert [each.name for each in decision.meeting] == ["redis:volatile", "mongodb:journaled"]
    assert [each.need.name for each in decision.meeting[1].wishes_missed] == [EXPIRY]


def test_named_candidates_have_a_store_for_each_role() -> None:
    """One that no result holds is not shown, with the command."""
    file = NeedsFile.model_validate(
        {
            "format": "1.0",
            "decision": "d",
            "question": "One or two?",
            "roles": {"cache": {"model": "single_key", "must": [EXPIRY]}, "home": {"model": "single_key", "guarantee": "power_loss"}},
            "candidates": {
                "two": {"cache": "redis:volatile", "home": "mongodb:journaled"},
                "one": {"cache": "postgresql:synchronous-commit-on", "home": "postgresql:synchronous-commit-on"},
            },
        }
    )
    decision = decided(file, shown("redis:volatile", lost=9), shown("mongodb:journaled", expires=False))
    assert [each.name for each in decision.meeting] == ["two"]
    assert set(verdicts(decision)["one"].values()) == {"not shown"}
    assert decision.candidates[1].open[0].command == "pytest suites/ --needs=FILE --store=postgresql:synchronous-commit-on --scale=standard"


def test_results_of_another_server_are_left_out_with_the_reason() -> None:
    """The latest says which server it is; an earlier one of the same is joined."""
    late = result(known("redis:volatile", cases=[SHAPE]), run="late", started="2026-03-01T00:00:00Z")
    other = result(known("redis:volatile", cases=capability(EXPIRY), version="Redis 6.0.1"), run="other", started="2026-01-01T00:00:00Z")
    same = result(known("redis:volatile", cases=capability(EXPIRY)), run="same", started="2026-02-01T00:00:00Z")
    decision = decided(needs(must=[EXPIRY]), late, other)
    assert decision.evidence["redis:volatile"].left_out == ("run other of 2026-01-01: its version is Redis 6.0.1, not Product 1.2",)
    assert not decision.meeting
    assert decided(needs(must=[EXPIRY]), late, same).meeting


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ({"settings": {"appendonly": "no"}}, "its setting appendonly is no, not yes"),
        ({"binary_digest": "sha256:b"}, "it is another binary"),
        ({"image_digest": "sha256:b"}, "it is another image"),
    ],
)
def test_what_tells_two_servers_apart(there: dict[str, Any], words: str) -> None:
    """Settings, and the program where both results know it."""
    settings = {"settings": {"appendonly": "yes"}, "binary_digest": "sha256:a", "image_digest": "sha256:a"}
    late = result(known("redis:volatile", **settings), run="late", started="2026-03-01T00:00:00Z")
    early = result(known("redis:volatile", **(settings | there)), run="early", started="2026-01-01T00:00:00Z")
    assert decided(needs(), late, early).evidence["redis:volatile"].left_out == (f"run early of 2026-01-01: {words}",)


def test_the_size_of_the_cache_tells_no_servers_apart() -> None:
    """It is the scale's."""
    sizes = [{"storageEngine": "wiredTiger", "wiredTigerCacheSizeGB": size} for size in ("2", "4")]
    runs = [result(known("mongodb:journaled", settings=each), run=f"r{n}") for n, each in enumerate(sizes)]
    assert decided(needs(), *runs).evidence["mongodb:journaled"].left_out == ()


def test_results_without_a_store_are_refused() -> None:
    """Nothing can be said, and the message says what to give."""
    with pytest.raises(UsageError, match="hold no store that was reached"):
        decide(needs(), [], SHIPPED)
    with pytest.raises(UsageError, match="no result holds a store of a candidate; they hold redis:volatile"):
        decided(needs(candidates={"a": {"data": "mongodb:journaled"}}), known("redis:volatile"))
