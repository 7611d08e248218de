"""The examples, and what the published results answer to them: held as data that was checked by hand, and told on a page."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest

from storeproof.report.decision.words import headline
from storeproof.result.needs.decision import Decision, decide
from storeproof.result.needs.joined_results import ReadResult
from storeproof.result.needs.judged_need import NeedVerdict
from storeproof.result.needs.published import published_evidence
from storeproof.spec.editions.frozen import frozen_editions, load_edition
from storeproof.spec.questions.read_needs import read_needs
from tests.architecture.installed import CHECKOUT

EXAMPLES = CHECKOUT / "examples"
PAGE = CHECKOUT / "reports" / "DECISIONS.md"


class Answer(NamedTuple):
    meeting: tuple[str, ...]
    """All candidates that meet every need, the nearest first."""
    other: str
    """A candidate that does not."""
    need: str
    """What decides against it."""
    verdict: NeedVerdict
    why: str
    """Part of the reason."""


NOT_MET, NOT_SHOWN = NeedVerdict.NOT_MET, NeedVerdict.NOT_SHOWN
POSTGRESQL = "postgresql:synchronous-commit-on"
NO_EXPIRY = "PostgreSQL has no expiry of rows"
ANY_EXPIRY = "expiry.hidden or expiry.put-expiring or expiry.swept"
IN_MYSQL = ("redis-over-mysql:cache-aside", "redis-over-mysql:write-through")
CACHED = ("memcached-over-postgresql:cache-aside", "memcached-over-postgresql:write-through")
IN_MONGODB = ("redis-over-mongodb:cache-aside", "redis-over-mongodb:write-through")
SPACES = "PostgreSQL's parser splits words at spaces and punctuation"
LOST = "84,609 of 457,384 acknowledged writes lost (18 %) in 15 faults"
FORGOT = "49,164 of 60,823 acknowledged writes lost (81 %) in 5 faults"
QUEUES = ("mariadb:innodb-flush-1", *CACHED, "mongodb:journaled", POSTGRESQL, *IN_MONGODB, "redis:aof-always", "sqlite:wal-full")
ANSWERS = {
    "all-in-one-database": Answer(("mongodb:replica-set",), POSTGRESQL, ANY_EXPIRY, NOT_MET, NO_EXPIRY),
    "sessions": Answer(("redis:aof-always", "mongodb:journaled"), POSTGRESQL, ANY_EXPIRY, NOT_MET, NO_EXPIRY),
    "edge": Answer((), "sqlite:wal-full", "back within 1 s", NOT_SHOWN, "the machine has 1 and 256 MiB"),
    "japanese-search": Answer(("sqlite:wal-full", "mysql:innodb", *IN_MYSQL), POSTGRESQL, "text.language-ja", NOT_MET, SPACES),
    "three-nodes": Answer((), "redis-sentinel", "node_loss", NOT_MET, LOST),
    "after-memcached": Answer(
        ("valkey:aof-always", "redis:aof-always", "redis-stack:aof-always"), "redis:volatile", "clean_restart", NOT_MET, FORGOT
    ),
    "queue": Answer(QUEUES, "redis:volatile", "power_loss", NOT_MET, FORGOT),
    "cache-and-database": Answer((), "redis-and-postgresql", "2,000 operations/s", NOT_SHOWN, "no workload of this mix is specified"),
    "one-store-or-two": Answer(
        ("mongodb:journaled",), POSTGRESQL, "expiry.put-expiring or expiry.hidden or expiry.swept", NOT_MET, NO_EXPIRY
    ),
}


@cache
def evidence() -> tuple[ReadResult, ...]:
    return tuple(published_evidence())


@cache
def answered(name: str) -> Decision:
    """By the newest frozen edition, as `storeproof decide` does."""
    newest = load_edition([*frozen_editions()][-1])
    return decide(read_needs(EXAMPLES / f"{name}.yaml", newest), evidence(), newest)


def test_each_example_has_its_answer_here() -> None:
    """One that is added is checked by hand, and told on the page."""
    assert {each.stem for each in EXAMPLES.glob("*.yaml")} == ANSWERS.keys()


@pytest.mark.parametrize("name", ANSWERS)
def test_the_published_results_answer_it_as_they_should(name: str) -> None:
    """Which candidates meet all, and what decides against another."""
    expected, found = ANSWERS[name], answered(name)
    assert tuple(each.name for each in found.meeting) == expected.meeting
    other = next(each for each in found.candidates if each.name == expected.other)
    against = next(each for each in (*other.missed, *other.open) if each.need.name == expected.need)
    assert (against.verdict, expected.why in against.reason) == (expected.verdict, True), against.reason


@pytest.mark.parametrize("name", ANSWERS)
def test_the_page_says_the_question_and_the_answer(name: str) -> None:
    """In the words of the command."""
    page = PAGE.read_text()
    assert f"## {answered(name).needs.question}\n" in page
    assert f"[{name}.yaml](../examples/{name}.yaml)" in page
    assert f": **{headline(answered(name))}**" in page


def test_the_clusters_of_the_page_lost_what_it_says() -> None:
    """Each count of the page is that of a reason."""
    clusters = {each.name: each for each in answered("three-nodes").candidates}
    for name, fault, lost in (
        ("redis-sentinel", "node_loss", "84,609 of 457,384"),
        ("postgresql-asynchronous", "node_loss", "18,253 of 187,873"),
        ("mongodb-w-1", "node_loss", "12,079 of 164,346"),
        ("redis-sentinel-wait-1", "partition", "6 of 805,741"),
    ):
        reason = next(each.reason for each in clusters[name].judged if each.need.name == fault)
        assert reason.startswith(f"{lost} acknowledged writes lost")
        assert lost in PAGE.read_text()
    for name in ("etcd", "mongodb-linearizable"):
        assert [each.need.subject for each in clusters[name].open] == ["model"]
