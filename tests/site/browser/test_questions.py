"""Questions that a new user brings, put to the site of the published results: each is answered within three interactions.

The answers that are expected are those of the results, as Python joins them; the site's scripts find them on their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from storeproof import units
from storeproof.report.decision.words import headline
from storeproof.report.parts.speeds import SPEEDS
from storeproof.report.parts.stale_reads import stale_of
from storeproof.site.costs import cost_tables, foremost
from storeproof.site.joined_results import SiteVariant
from storeproof.site.script_data import speed_ratios
from storeproof.site.site_content import SiteContent
from tests.site.browser.visitor import Visitor

MOST = 3


def tried(published: SiteContent) -> list[SiteVariant]:
    """The variants that the first screen has."""
    return [each for each in published.variants if each.answers]


def keeping(published: SiteContent, guarantee: str) -> Iterator[SiteVariant]:
    """Those that lost nothing by a fault."""
    return (each for each in tried(published) if guarantee in each.losses and each.losses[guarantee][0].state == "kept")


def row(variant: str) -> str:
    """The link to the page of a variant, on the first screen."""
    return f'#table tr[data-variant="{variant}"] th a'


def test_who_keeps_every_write_in_a_power_cut_and_searches_japanese(visit: Visitor, published: SiteContent) -> None:
    """Which stores keep every write in a power cut and have full-text search in Japanese?"""
    visit.choose("keeps every acknowledged write through", "a power cut")
    visit.type("must have", "Japanese")
    visit.press("Enter")
    expected = [each for each in keeping(published, "power_loss") if published.answers[each.name]["text.language-ja"].shown]
    assert expected
    assert visit.answer.startswith(f"{len(expected)} of {len(tried(published))} variants ")
    assert "every acknowledged write through a power cut and ha" in visit.answer
    assert all(f"{each.title} ({each.variant})" in visit.answer.partition("Not tested")[0] for each in expected)
    assert visit.interactions <= MOST


def test_what_postgresql_lacks_as_a_cache(visit: Visitor, published: SiteContent) -> None:
    """What does PostgreSQL lack as a cache? The cell leads to the reason."""
    visit.click('#table tr[data-variant="postgresql:synchronous-commit-on"] td[data-label="cache"] a')
    (postgresql,) = [each for each in published.variants if each.name == "postgresql:synchronous-commit-on"]
    (reason, things), *_ = postgresql.roles["cache"].by_reason()
    said = visit.after("role.cache")
    assert reason in said
    assert all(published.title(each) in said for thing in things for each in thing.split(" or "))
    assert visit.interactions <= MOST


def test_what_synchronous_commit_costs_postgresql(visit: Visitor, published: SiteContent) -> None:
    """How much slower is PostgreSQL with synchronous_commit on than off? The ratio of one run, or what would measure it."""
    visit.click(row("postgresql:synchronous-commit-on"))
    said = visit.after("cost")
    tables = cost_tables(published.sources, "postgresql")
    shown = [each for table in tables for each in table.rows if each.side.store.variant == "synchronous-commit-on"]
    if shown:
        assert any(each.to_fastest and each.to_fastest.ratio and f"{each.to_fastest.ratio.middle:.3g} ×" in said for each in shown)
    else:
        assert "Not measured" in said
        assert "--store=postgresql:all" in said
    assert visit.interactions <= MOST


def test_what_an_append_only_log_costs_redis(visit: Visitor, published: SiteContent) -> None:
    """How much slower does Redis write with a log that is synced at each write than without persistence?"""
    visit.click(row("redis:aof-always"))
    table, *_ = foremost(cost_tables(published.sources, "redis"), "aof-always")
    (shown,) = [each for each in table.rows if each.side.store.variant == "aof-always"]
    assert shown.to_fastest is not None
    ratio = shown.to_fastest.ratio
    assert (f"{ratio.middle:.3g} ×" if ratio else "no ratio") in visit.after("cost")
    assert visit.interactions <= MOST


def test_which_store_is_cache_and_document_store_in_one(visit: Visitor, published: SiteContent) -> None:
    """Can one store be my cache and my document store?"""
    visit.click("#filters [value=cache]")
    visit.click("#filters [value=document_store]")
    both = [each for each in tried(published) if {each.roles[name].verdict for name in ("cache", "document_store")} == {"meets"}]
    if both:
        assert all(f"{each.title} ({each.variant})" in visit.answer for each in both)
    else:
        assert visit.answer.startswith(f"None of {len(tried(published))} variants can be cache and documents. Nearest: ")
    assert visit.interactions <= MOST


def test_how_much_memcached_loses_when_it_is_killed(visit: Visitor, published: SiteContent) -> None:
    """How much does Memcached lose by kill -9, and did it promise not to? It stands on the first screen."""
    (memcached,) = [each for each in published.variants if each.store == "memcached"]
    loss, _ = memcached.losses["process_crash"]
    assert visit.cell("memcached:volatile", "kill -9").split("\n") == [loss.text, loss.promise]
    assert visit.interactions == 0


def test_how_many_times_as_fast_as_mariadb_redis_reads_values(visit: Visitor, published: SiteContent) -> None:
    """By a ratio within one run, with its interval."""
    visit.follow("Compare")
    names = {each.name: each for each in published.variants}
    for label, name in (("first", "redis:aof-always"), ("second", "mariadb:innodb-flush-1")):
        visit.page.get_by_label(label, exact=True).select_option(value=str(list(names).index(name)))
        visit.interactions += 1
    assert published.main is not None
    (found,) = [
        each
        for each in speed_ratios(published.main)
        if (each.a, each.b) == ("redis:aof-always", "mariadb:innodb-flush-1") and list(SPEEDS)[each.column] == "single-get"
    ]
    said = visit.page.locator("#compared").inner_text()
    assert (f"{found.pair.ratio.middle:.3g} ×" if found.pair.ratio else found.pair.refused[0]) in said
    assert visit.interactions <= MOST


def test_what_is_asked_of_a_time_to_live_and_who_can(visit: Visitor, published: SiteContent) -> None:
    """What exactly is asked for a record with a time to live, and who has it?"""
    visit.follow("Capabilities")
    visit.type("Search", "time to live store")
    visit.follow("Store a record with a time to live")
    assert 'put expiring "alpha", "brief", 1' in visit.after("question")
    said = visit.after("answers")
    can = [each.title for each in tried(published) if published.answers[each.name]["expiry.put-expiring"].shown]
    assert can
    assert all(title in said for title in can)
    assert visit.interactions <= MOST


def test_which_settings_mariadb_ran_with(visit: Visitor, published: SiteContent) -> None:
    """And how large its cache was, which decides a speed as much as the store does."""
    visit.click(row("mariadb:innodb-flush-1"))
    (mariadb,) = [each for each in published.variants if each.name == "mariadb:innodb-flush-1"]
    said = visit.after("settings")
    assert all(value in said for value in mariadb.best.store.settings.values())
    assert "innodb_buffer_pool_size" in said
    assert visit.interactions <= MOST


def test_whether_the_loss_of_tarantool_is_known(visit: Visitor) -> None:
    """Why does Tarantool lose synced writes, and how do I repeat it?"""
    visit.click(row("tarantool:memtx-tree-fsync"))
    assert "without O_SYNC" in visit.after("known")
    assert "pytest suites/ --store=tarantool:memtx-tree-fsync --scale=standard" in visit.after("repeat")
    assert visit.interactions <= MOST


def test_what_clients_see_when_mongodb_is_killed(visit: Visitor, published: SiteContent) -> None:
    """How long is it away, and what is lost?"""
    visit.click(row("mongodb:journaled"))
    (mongodb,) = [each for each in published.variants if each.name == "mongodb:journaled"]
    assert mongodb.outages is not None
    (crash,) = [each for each in mongodb.outages.store.outages if each.fault == "crash"]
    assert units.seconds(crash.unavailable_seconds) in visit.after("outages")
    assert visit.interactions <= MOST


def test_who_answers_within_ten_milliseconds_and_survives_a_kill(visit: Visitor, published: SiteContent) -> None:
    """Which stores answer 99 of 100 of ten thousand requests a second within 10 ms, and lose nothing by kill -9?"""
    visit.choose("keeps every acknowledged write through", "kill -9")
    visit.choose("99 of 100 reads and writes of values, at", "10,000 a second")
    visit.choose("within", "10 ms")
    assert published.paced is not None
    place = published.paced.rates.index(10_000)
    fast = {name for name, times in published.paced.times.items() if (time := times[place]) is not None and 0 < time <= 10_000}
    expected = [each for each in keeping(published, "process_crash") if each.name in fast]
    assert expected
    said = visit.answer.partition("Not tested")[0]
    assert said.startswith(f"{len(expected)} of ")
    assert all(f"{each.title} ({each.variant})" in said for each in expected)
    assert visit.interactions <= MOST


def test_whether_one_store_is_enough(visit: Visitor, published: SiteContent) -> None:
    """Can one store be our session cache and our catalogue? The answer leads to its evidence."""
    (decision,) = published.decisions
    visit.follow(decision.needs.question)
    assert visit.answer == headline(decision)
    best = decision.candidates[0]
    at, judged = next((at, each) for at, each in enumerate(best.judged, 1) if each.need.subject == "rate")
    visit.click(f".matrix tbody tr:first-child > :nth-child({at + 1}) a")
    assert visit.page.locator(":target").inner_text() == judged.need.role
    assert best.targets[judged.need.role].replace(":", ".") in visit.page.url
    assert visit.interactions <= MOST


def test_how_stale_a_cache_before_mongodb_gets_and_what_avoids_it(visit: Visitor, published: SiteContent) -> None:
    """Two policies side by side: with locks none is stale."""
    visit.follow("Compare")
    names = [each.name for each in published.variants]
    compared = ("redis-over-mongodb:cache-aside", "redis-over-mongodb:write-through")
    for label, name in zip(("first", "second"), compared, strict=True):
        visit.page.get_by_label(label, exact=True).select_option(value=str(names.index(name)))
        visit.interactions += 1
    aside, through = (stale_of(published.variants[names.index(name)].best.store) for name in compared)
    assert aside is not None
    assert through is not None
    _, one, other, _ = visit.page.locator("#compared tr", has_text="stale reads").locator("th, td").all()
    assert one.inner_text().startswith(f"{units.short(aside.stale)} of {units.short(aside.reads)}")
    assert other.inner_text() == f"none of {units.short(through.reads)}"
    assert (aside.stale > 0, through.stale) == (True, 0)
    assert visit.interactions <= MOST


def test_what_a_cut_link_and_a_cold_cache_do_to_a_pair(visit: Visitor, published: SiteContent) -> None:
    """What if the cache hangs, or starts empty? Both are on the page of the pair."""
    visit.click(row("redis-over-mongodb:cache-aside"))
    (pair,) = [each for each in published.variants if each.name == "redis-over-mongodb:cache-aside"]
    hung = next(each for each in pair.best.store.outcomes if each.id == "durability.front_link/hang")
    assert hung.why in visit.after("stale")
    (cold,) = next(each.store.cache.cold_starts for each in pair.joined if each.store.cache.cold_starts)
    assert cold.back_seconds is not None
    assert units.seconds(cold.back_seconds) in visit.after("cache")
    assert visit.interactions <= MOST


def test_which_stores_have_transactions(visit: Visitor, published: SiteContent) -> None:
    """The group of that name, and not the first title that has the word."""
    visit.type("must have", "transaction")
    visit.press("Enter")
    assert visit.page.url.endswith("#must=transactions.commit")
    can = [each for each in tried(published) if published.answers[each.name]["transactions.commit"].shown]
    assert visit.answer.startswith(f"{len(can)} of {len(tried(published))} variants ")
    assert visit.interactions <= MOST


def test_who_comes_nearest_to_a_response_time_that_none_has(visit: Visitor, published: SiteContent) -> None:
    """Which store answers 40,000 requests a second within 1 ms, 99 times of 100? None; the fastest is named first, with its time."""
    visit.choose("99 of 100 reads and writes of values, at", "40,000 a second")
    visit.choose("within", "1 ms")
    assert published.paced is not None
    place = published.paced.rates.index(40_000)
    known = {name: time for name, times in published.paced.times.items() if (time := times[place]) is not None}
    assert -1.0 in known.values(), "some do not keep up"
    micros, fastest = min((time, name) for name, time in known.items() if time > 0)
    assert micros > 1000
    (variant,) = [each for each in tried(published) if each.name == fastest]
    assert f"Nearest: {variant.title} ({variant.variant}), without 1 ms (it takes {units.micros(micros)})" in visit.answer
    assert visit.interactions <= MOST


def test_whether_valkey_does_what_redis_does(visit: Visitor, published: SiteContent) -> None:
    """Side by side; what one lacks would be listed."""
    visit.follow("Compare")
    names = [each.name for each in published.variants]
    for label, name in (("first", "valkey:aof-always"), ("second", "redis:aof-always")):
        visit.page.get_by_label(label, exact=True).select_option(value=str(names.index(name)))
        visit.interactions += 1
    one, other = (
        {each for each, answer in published.answers[f"{name}:aof-always"].items() if answer.shown} for name in ("valkey", "redis")
    )
    same = visit.answer == "Valkey (aof-always) and Redis (aof-always) have the same capabilities."
    assert same == (one == other)
    assert visit.interactions <= MOST
