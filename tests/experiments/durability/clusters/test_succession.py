"""What is seen of a failover before the first write: who promoted, when the loss was detected, and when another node was elected."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic_ns
from typing import Any

import pytest

from storeproof.contract import Refused, Unknown
from storeproof.evidence import EvidenceDamaged, Succession
from storeproof.experiments.durability.clusters.kept_rounds import check_succession
from storeproof.experiments.durability.strikes import succession_watch
from storeproof.experiments.durability.strikes.succession_watch import SuccessionWatch
from storeproof.faults.isolate_primary import IsolatePrimary
from storeproof.faults.lossy_links import LossyLinks
from tests.experiments.durability.memory_cluster import MemoryCluster
from tests.experiments.durability.struck_cluster import kept, rounds_on, short, struck

__all__ = ["short"]
LONG_AGO = 3600.0


class Told:
    """A cluster that says what the test lists."""

    def __init__(self, *named: str, missed: Callable[[int], float | None] = lambda _: None, promotes: str | None = None) -> None:
        """`named`: in each answer, none where it is empty. `missed`: by how many answers were given."""
        self.asked = 0
        self._named, self._missed, self._promotes = named, missed, promotes

    def successor_of(self, node: str) -> str:
        assert node == "n1", "the struck one is not asked"
        self.asked += 1
        if not (named := self._named[self.asked - 1]):
            raise Unknown("no node takes writes")
        return named

    def missed(self, node: str) -> float | None:
        assert node == "n1"
        return self._missed(self.asked)

    def fail_over(self) -> str | None:
        return self._promotes


def watched(told: Told, answers: int) -> tuple[int, Succession, int]:
    """Ask that often; when that began, what was seen, and when it ended."""
    began = monotonic_ns()
    cluster: Any = told
    with SuccessionWatch(cluster, "n1", began) as watch:
        for _ in range(answers):
            time.sleep(0.02)
            with suppress(Unknown):
                watch.ask()
    return began, watch.seen(monotonic_ns()), monotonic_ns()


@pytest.mark.parametrize("named", [("", "", "n2"), ("", "n3", "n2"), ("", "n2", "", "n2")])
def test_it_was_elected_between_two_answers(named: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one that did not name it, and the first that did since; the other one was missed before that."""
    monkeypatch.setattr(succession_watch, "_LOOK_SECONDS", 0.001)
    began, seen, ended = watched(Told(*named, missed=lambda _: 0.0), len(named))
    assert seen.missed is not None
    assert seen.before is not None
    assert seen.elected is not None
    assert began <= seen.missed <= seen.elected <= ended
    assert began <= seen.before < seen.elected
    assert not seen.promoted


def test_one_that_takes_writes_all_along_is_not_elected() -> None:
    """As of a cluster in which all nodes do: its first answer does not show since when. That another one is missed may still be told."""
    assert watched(Told("n2"), 1)[1] == Succession(promoted=False, missed=None, elected=None, before=None)
    _, seen, ended = watched(Told("n2", missed=lambda _: 0.0), 1)
    assert seen.missed is not None
    assert seen.missed <= ended


def test_what_is_told_of_an_earlier_failover_is_none_of_this() -> None:
    """A node says since when it stood for election, or refuses to."""

    def refuses(_: int) -> float:
        raise Refused("it is closed")

    for missed in (lambda _: LONG_AGO, refuses):
        assert watched(Told("", "n2", missed=missed), 2)[1].missed is None


def test_a_loss_may_be_told_when_another_is_elected_but_not_be_later() -> None:
    """The new primary says when it stood for election. That one is missed only later was not what it was elected for."""
    assert watched(Told("", "n2", missed=lambda asked: 0.0 if asked > 1 else None), 2)[1].missed is None

    def slow(asked: int) -> float | None:
        time.sleep(0.06 if asked > 2 else 0)
        return 0.03 if asked > 2 else None

    _, seen, _ = watched(Told("", "", "n2", missed=slow), 3)
    assert seen.missed is not None
    assert seen.elected is not None
    assert seen.missed <= seen.elected


def test_an_operator_promotes_and_detects_nothing() -> None:
    """It took from the request to its end, whatever is asked later."""
    began, seen, ended = watched(Told("n2", missed=lambda _: 0.0, promotes="n2"), 1)
    assert (seen.promoted, seen.missed) == (True, None)
    assert seen.before is not None
    assert seen.elected is not None
    assert began <= seen.before <= seen.elected <= ended


class Telling(MemoryCluster):
    """Its others miss the primary before they elect another one, which they do when they were asked twice."""

    def __init__(self, *, synchronous: bool) -> None:
        super().__init__(synchronous=synchronous)
        self._asked = 0

    def successor_of(self, node: str) -> str:
        self._asked += 1
        if self._asked % 3:
            raise Unknown("none is elected yet")
        return super().successor_of(node)

    def missed(self, node: str) -> float | None:
        return 0.0


def test_a_round_keeps_the_parts_of_its_failover() -> None:
    """Also as its evidence has it: see `struck`. A fault of all nodes has none."""
    first, second = struck(Telling(synchronous=True), IsolatePrimary()).cluster_rounds
    for record in (first, second):
        parts = record.failover
        assert parts is not None
        assert parts.promoted_by == "store"
        moments = [record.strike_second, parts.detected_second, parts.before_second, parts.elected_second, record.failover_second]
        known = [each for each in moments if each is not None]
        assert len(known) == len(moments)
        assert known == sorted(known)
    assert all(each.failover is None for each in struck(Telling(synchronous=True), LossyLinks()).cluster_rounds)


def test_parts_that_no_run_sees_are_damage() -> None:
    """A failover that was not, or none that was; and parts out of their order."""
    rounds = rounds_on(Telling(synchronous=True), IsolatePrimary())
    rounds.run()
    cluster = kept(rounds).rounds[0].cluster
    assert cluster is not None
    check_succession(cluster, "it")
    assert cluster.succession is not None
    assert cluster.failed_over is not None
    strike, after = cluster.strike, cluster.failed_over + 1
    for damaged in (
        Succession(False, after, None, None),
        Succession(False, strike - 1, None, None),
        Succession(False, None, after, strike),
        Succession(False, None, strike, after - 1),
        Succession(False, None, strike, None),
        Succession(True, None, None, None),
        Succession(True, strike, strike, strike),
    ):
        cluster.succession = damaged
        with pytest.raises(EvidenceDamaged, match="failover"):
            check_succession(cluster, "it")
    cluster.succession, cluster.failed_over = Succession(False, None, None, None), None
    with pytest.raises(EvidenceDamaged, match="or there was none"):
        check_succession(cluster, "it")
