"""The speeds of the first screen are of one run, and so is every ratio."""

from __future__ import annotations

import pytest

from storeproof.report.parts.speeds import SPEEDS
from storeproof.site.costs import command, cost_tables, foremost
from storeproof.site.script_data import speed_ratios
from storeproof.site.speeds import widest
from tests.site.made import content, rate, result, sources, store

GET, PUT = "single-get", "single-put-distinct-100"


def test_the_run_with_most_numbers_is_shown() -> None:
    """Not the newest: a row that it lacks is empty, and never filled from another run."""
    wide = result(store("redis:a", rate(GET, 1000)), store("valkey:a", rate(GET, 900)), run="wide", started="2026-01-01T00:00:00Z")
    new = result(store("mysql:a", rate(GET, 500)), run="new", started="2026-02-01T00:00:00Z")
    tables = content(wide, new).tables
    main = widest(tables)
    assert main is not None
    assert main.source.result.run.id == "wide"
    (column,) = [each for each in main.columns if each.cells]
    assert column.cells.keys() == {"redis:a", "valkey:a"}


def test_a_run_of_more_workloads_is_shown_before_one_of_more_variants() -> None:
    """One workload of many variants leaves the other columns empty."""
    broad = result(store("redis:a", rate(GET, 1000), rate(PUT, 900)), run="broad", started="2026-01-01T00:00:00Z")
    long = result(*(store(f"redis:{each}", rate(GET, 900)) for each in "abcd"), run="long", started="2026-02-01T00:00:00Z")
    main = widest(content(broad, long).tables)
    assert main is not None
    assert main.source.result.run.id == "broad"


def test_runs_without_these_workloads_have_no_table() -> None:
    """YCSB has none of the four."""
    assert content(result(store("redis:a", rate("ycsb-a", 1000)))).tables == []
    assert widest([]) is None


def test_one_number_of_clients_for_all_stores() -> None:
    """The one at which most stores have a valid number, without indexes."""
    clients = [rate(GET, 1000, clients=1), rate(GET, 5000, clients=50), rate(GET, 4000, clients=50, indexes=1)]
    made = result(store("redis:a", *clients), store("valkey:a", rate(GET, 900, clients=50)))
    (table,) = content(made).tables
    column = table.columns[list(SPEEDS).index(GET)]
    assert column.clients == 50
    assert column.cells["redis:a"].throughput.median == 5000


def test_ratios_are_within_one_run_and_refused_where_durability_differs() -> None:
    """An equal guarantee has a ratio, an unequal one has the reason."""
    made = result(
        store("redis:a", rate(PUT, 2000)), store("valkey:a", rate(PUT, 1000)), store("mysql:a", rate(PUT, 900), proven="volatile")
    )
    (table,) = content(made).tables
    found = {(each.a, each.b): each.pair for each in speed_ratios(table)}
    assert found.keys() == {("redis:a", "valkey:a"), ("redis:a", "mysql:a"), ("valkey:a", "mysql:a")}
    ratio = found["redis:a", "valkey:a"].ratio
    assert ratio is not None
    assert ratio.middle == pytest.approx(2)
    refused = found["redis:a", "mysql:a"]
    assert refused.ratio is None
    assert any("durability" in each for each in refused.refused)


def test_what_durability_costs_is_the_share_of_the_fastest_variant_in_the_same_run() -> None:
    """Here alone unlike durability is set side by side; the fastest comes first."""
    made = result(store("pg:on", rate(PUT, 400), proven="power_loss"), store("pg:off", rate(PUT, 1000), proven="clean_restart"))
    (table,) = cost_tables(sources(made), "pg")
    assert [each.side.store.variant for each in table.rows] == ["off", "on"]
    fastest, slower = table.rows
    assert fastest.to_fastest is None
    assert slower.to_fastest is not None
    assert slower.to_fastest.ratio is not None
    assert slower.to_fastest.ratio.middle == pytest.approx(0.4)


def test_variants_of_two_runs_are_never_set_into_a_ratio() -> None:
    """Each run has one variant: the cost is not measured, and the page has the command that would measure it."""
    one, two = (result(store(f"pg:{name}", rate(PUT, 400)), run=name) for name in ("on", "off"))
    assert cost_tables(sources(one, two), "pg") == []
    assert "--store=pg:all" in command("pg")


def test_the_page_of_a_variant_begins_with_the_tables_that_have_it() -> None:
    """Of four that the store has, a page shows three; what was measured twice is shown once, from the preferred run."""
    wide = result(*(store(f"pg:{name}", *(rate(each, 400) for each in (PUT, "hash10-put", "nested-put"))) for name in "abc"), run="wide")
    narrow = result(*(store(f"pg:{name}", rate("ycsb-a", 400)) for name in "ad"), run="narrow", started="2026-01-01T00:00:00Z")
    again = result(*(store(f"pg:{name}", rate("ycsb-a", 500)) for name in "ad"), run="again", started="2026-02-01T00:00:00Z")
    tables = cost_tables(sources(wide, narrow, again), "pg")
    assert [each.workload for each in tables] == [PUT, "hash10-put", "nested-put", "ycsb-a"]
    assert [each.workload for each in foremost(tables)] == [PUT, "hash10-put", "nested-put"]
    first, *others = foremost(tables, "d")
    assert (first.source.result.run.id, len(others)) == ("again", 2)


def test_a_number_that_is_not_valid_comes_last_and_has_no_ratio() -> None:
    """It is not the rate of what was to be measured."""
    made = result(store("pg:on", rate(PUT, 400)), store("pg:off", rate(PUT, 9000, invalid=["errors"])))
    (table,) = cost_tables(sources(made), "pg")
    assert [each.side.store.variant for each in table.rows] == ["on", "off"]
    assert table.rows[1].to_fastest is not None
    assert table.rows[1].to_fastest.ratio is None


def test_the_first_screen_has_a_main_table_only_where_something_was_measured() -> None:
    """A site without speeds is a site."""
    assert content(result(store("redis:a"))).main is None


def test_a_row_has_no_number_of_another_version() -> None:
    """It is of the server whose capabilities it shows: what an older one reached is not its speed."""
    number = rate(GET, 1000)
    older = result(store("redis:a", number).model_copy(update={"version": "Redis 7.0"}), run="older", started="2026-01-01T00:00:00Z")
    newer = result(store("redis:a", number).model_copy(update={"version": "Redis 8.2"}), run="newer", started="2026-02-01T00:00:00Z")
    assert [each.source.result.run.id for each in content(older, newer).tables] == ["newer"]
