"""The pages of isolation: what is claimed of each level, what was seen, and what was not tried."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from storeproof.check import strongest
from storeproof.outcome import Outcome
from storeproof.result.model import StoreResult
from storeproof.site import build_site
from storeproof.site.isolation_pages import answer, isolation_pages
from storeproof.site.rendering import Renderer
from tests.result.needs.levels import MIXES, level_case, level_cases, seen
from tests.site.made import content, result, tried
from tests.site.pages import Read, broken_links, read_pages

ANSWERED = ("key_access.put-get", Outcome.PASS)
SKEW = seen("G2-item", after=33)
SOONER = seen("G2-item", after=21)


def store(name: str, *cases: object) -> StoreResult:
    """`store:variant` that was tried at these levels."""
    made = tried(name, ANSWERED)
    return made.model_copy(update={"outcomes": [*made.outcomes, *cases]})


POSTGRESQL = store(
    "postgresql:synchronous-commit-on",
    *level_cases("repeatable_read", guarantees="snapshot_isolation"),
    level_case("serializable", MIXES[0], Outcome.FAIL, SKEW, seen("G-single", "realtime", forbidden=False, after=3)),
    level_case("serializable", MIXES[1], Outcome.FAIL, SOONER),
    *level_cases("serializable", MIXES[2:]),
)
MADE = content(
    result(POSTGRESQL, store("memcached:volatile"), store("own:x", level_case("snapshot", guarantees="snapshot_isolation")), run="r1"),
    result(store("sqlite:wal-full"), run="r2"),
)


@pytest.fixture(scope="module")
def files() -> Mapping[str, str]:
    """The files of the site."""
    return build_site(MADE)


@pytest.fixture(scope="module")
def pages(files: Mapping[str, str]) -> dict[str, Read]:
    """Its pages."""
    return read_pages(files)


def test_every_link_arrives_and_ids_are_unique(files: Mapping[str, str], pages: dict[str, Read]) -> None:
    """Also on a page with several pictures."""
    assert broken_links(pages, files) == []
    assert all(len(each.page.ids) == len(set(each.page.ids)) for each in pages.values())
    assert files["isolation/postgresql.html"].count("<svg") == 2


def test_the_first_line_is_the_answer(pages: dict[str, Read]) -> None:
    """How many levels nothing refutes, and which one does not keep its word."""
    answers = (
        "begin(repeatable_read) holds as snapshot isolation, as far as 1,200 transactions show.",
        "begin(serializable) of postgresql:synchronous-commit-on does not hold: write skew (G2-item), after 21 commits.",
        "1 level was not tried.",
    )
    for path in ("isolation/postgresql.html", "store/postgresql.html", "store/postgresql.synchronous-commit-on.html"):
        assert " ".join(answers) in pages[path].page.text
    assert "2 levels hold, as far as 1,500 transactions show." in pages["isolation.html"].page.text
    assert "No isolation level is claimed, and none was tried." in pages["store/memcached.volatile.html"].page.text
    assert "No result has tried a level" in pages["isolation/sqlite.html"].page.text


def test_a_level_has_its_claim_in_the_makers_words_and_what_was_seen(pages: dict[str, Read]) -> None:
    """With the strongest guarantee that is not refuted, and how soon the first anomaly was seen."""
    page = pages["isolation/postgresql.html"].page
    assert "as if transactions had been executed one after another" in page.text
    assert "https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE" in page.links
    (row,) = [line for line in _rows(pages["isolation/postgresql.html"].text) if "✘ fail" in line]
    assert row[1:7] == [
        "serializable",
        "✘ fail",
        "strong session snapshot isolation",
        "write skew (G2-item), after 21 commits; forbidden",
        "1,200",
        "1,000",
    ]
    assert row[7] == "4"
    assert "../run/r1.html#isolation.postgresql.synchronous-commit-on.serializable.many-keys" in page.links
    assert "Not tried: synchronous-commit-on" in page.text, "read_committed was not"


def test_all_stores_are_beside_each_other(pages: dict[str, Read]) -> None:
    """Variants by levels; what was not tried is said to be so, and a store without levels is named below."""
    rows = {line[0]: line[1:] for line in _rows(pages["isolation.html"].text)}
    claims = "✘ serializable: write skew (G2-item), after 21 commits"
    assert rows["postgresql:synchronous-commit-on"] == ["read committed: not tried", "✔ snapshot isolation", "–", claims]
    assert rows["sqlite:wal-full"] == ["–", "–", "–", "serializable: not tried"]
    assert rows["own:x"] == ["–", "–", "✔ snapshot isolation", "–"]
    assert "They claim no level, and were tried at none: memcached:volatile." in pages["isolation.html"].page.text


def test_the_search_over_capabilities_finds_it(files: Mapping[str, str], pages: dict[str, Read]) -> None:
    """By its name, that of a level, or that of an anomaly."""
    (row,) = [line for line in files["capabilities.html"].splitlines() if 'href="isolation.html">What' in line]
    assert all(word in row for word in ("isolation", "serializable", "write skew", "lost update"))
    words = dict(zip([each.name for each in MADE.variants if each.answers], _rows(files["capabilities.html"])[0][1:], strict=True))
    assert words == {
        "postgresql:synchronous-commit-on": "fails",
        "memcached:volatile": "no level",
        "own:x": "not refuted",
        "sqlite:wal-full": "not tried",
    }
    assert "isolation.html" in pages["index.html"].page.links


def test_a_site_without_levels_says_so() -> None:
    """As one of caches alone."""
    made = content(result(store("memcached:volatile")))
    assert "None of these stores has a level." in dict(isolation_pages(made, Renderer(made)))["isolation.html"]
    assert answer([]) == "No isolation level is claimed, and none was tried."


def test_too_few_transactions_are_no_verdict() -> None:
    """Neither for the level nor against it."""
    made = content(result(store("sqlite:wal-full", level_case("serializable", MIXES[0], Outcome.INCONCLUSIVE, contended=9))))
    assert answer(made.levels["sqlite:wal-full"]).startswith("Of 1 level there were too few transactions to say.")
    assert "? serializable" in dict(isolation_pages(made, Renderer(made)))["isolation.html"]


def test_wrong_data_is_told_where_no_anomaly_is() -> None:
    """As the case says it."""
    torn = level_case("serializable", MIXES[0], Outcome.FAIL, detail="data that no client wrote was read: k1 is torn; 9 rolled back")
    made = content(result(store("sqlite:wal-full", torn)))
    assert "does not hold: data that no client wrote was read: k1 is torn; 9 rolled back." in answer(made.levels["sqlite:wal-full"])


def test_what_a_preferred_result_says_is_shown() -> None:
    """An inconclusive mix does not hide what another result says of it."""
    newer = result(
        store("sqlite:wal-full", level_case("serializable", MIXES[0], Outcome.INCONCLUSIVE)), started="2026-12-02T00:00:00Z", run="new"
    )
    older = result(store("sqlite:wal-full", *level_cases("serializable", MIXES[:2])), started="2026-12-01T00:00:00Z", run="old")
    (level,) = content(newer, older).levels["sqlite:wal-full"]
    assert [(each.counts.mix, each.found.source.result.run.id) for each in level.tried] == [(MIXES[0], "old"), (MIXES[1], "old")]


def test_only_cases_of_the_level_itself_are_counted() -> None:
    """What transactions show across a fault, or across nodes, is another question."""
    across = level_case("serializable", MIXES[0], Outcome.FAIL, seen("G2-item")).model_copy(
        update={"id": "durability.isolation/power_loss"}
    )
    nodes = level_case("serializable", "across-nodes", Outcome.PASS, seen("G-nonadjacent"))
    (level,) = content(result(store("sqlite:wal-full", across, nodes))).levels["sqlite:wal-full"]
    assert not level.tried


def test_the_strongest_guarantees_that_are_left() -> None:
    """One, or two of which neither is stronger, or none."""
    assert strongest(set()) == ["strict_serializable"]
    assert strongest({("G2-item", "item")}) == ["strong_snapshot_isolation"]
    assert strongest({("G2-item", "process")}) == ["strong_snapshot_isolation", "serializable"]
    assert strongest({("lost-update", "item")}) == ["read_committed"]
    assert strongest({("G1a", "item")}) == []


def _rows(page: str) -> list[list[str]]:
    """The texts of the cells of the body of each table."""
    rows = re.findall(r"<tr[^>]*><th scope=\"row\".*?</tr>", page, flags=re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in rows]
    return [[re.sub("<[^>]+>", "", cell).replace("&quot;", '"') for cell in row] for row in cells]
