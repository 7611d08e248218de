"""What the fronts of composite stores did for reads: hit rates, a start with an empty front, and a hot copy that expires."""

from __future__ import annotations

from storeproof import units
from storeproof.report import formatting
from storeproof.report.tables import Cell, Table
from storeproof.result.model import Result

NOTE = (
    "The layer counts the reads that the front answers. Clients are threads of one Python process, and each number was measured once: "
    "these rates and times compare roughly with each other, and not with those of workloads. With uniform keys the hit rate is the share "
    "of the records that the front keeps. Cold start: the front is killed, starts again, and is read at a fixed rate until the hit rate "
    "of 200 reads is within five points of what it was. Dogpile: a key that all clients read expires, and some of them ask the home."
)


def hit_rates(result: Result) -> Table:
    rows = [
        [
            Cell(formatting.name_of(store), "strong"),
            Cell(f"{units.size(each.front_bytes)} for {units.size(each.payload_bytes)}"),
            Cell(each.distribution),
            Cell(f"{each.hit_rate:.1%}", "strong"),
            Cell(units.whole(each.rate)),
            Cell(units.micros(each.p50_us)),
            Cell(units.micros(each.p99_us)),
            Cell(units.whole(each.reads), "dim"),
        ]
        for store in result.stores
        for each in store.cache.hit_rates
    ]
    header = ("store:variant", "memory of the front, payload", "keys", "hit rate", "reads/s", "p50", "p99", "reads")
    return Table(header, rows, "No hit rate was measured in this run.", frozenset(range(3, 8)))


def cold_starts(result: Result) -> Table:
    rows = [
        [
            Cell(formatting.name_of(store), "strong"),
            Cell(f"{each.hit_rate_before:.1%}"),
            Cell(f"{each.hit_rate_first:.1%}"),
            Cell("not seen", "open") if each.back_seconds is None else Cell(units.seconds(each.back_seconds), "strong"),
            Cell(units.whole(each.home_reads)),
            Cell(units.micros(each.p99_before_us)),
            Cell(units.micros(each.p99_us)),
            Cell(f"{units.whole(each.rate)}/s, {units.whole(each.records)} records", "dim"),
        ]
        for store in result.stores
        for each in store.cache.cold_starts
    ]
    header = (
        "store:variant", "hit rate before", "of the first reads after", "back after", "reads of the home", "p99 before", "p99 meanwhile",
        "load",
    )  # fmt: skip
    return Table(header, rows, "No front was started empty in this run.", frozenset(range(1, 7)))


def dogpiles(result: Result) -> Table:
    rows = [
        [
            Cell(formatting.name_of(store), "strong"),
            Cell(f"{each.home_reads_median:g}", "strong"),
            Cell(units.whole(each.home_reads_most)),
            Cell(units.micros(each.p99_us)),
            Cell(units.micros(each.p99_otherwise_us)),
            Cell(f"{units.whole(each.expiries)} expiries, {units.whole(each.clients)} clients", "dim"),
        ]
        for store in result.stores
        for each in store.cache.dogpiles
    ]
    header = ("store:variant", "reads of the home (median)", "at most", "p99 around an expiry", "p99 otherwise", "load")
    return Table(header, rows, "No hot key expired in this run.", frozenset(range(1, 5)))


def all_tables(result: Result) -> list[tuple[str, Table]]:
    """The tables with rows, each with its title."""
    found = [("Hit rate", hit_rates(result)), ("Cold start", cold_starts(result)), ("Dogpile", dogpiles(result))]
    return [(title, table) for title, table in found if table.rows]
