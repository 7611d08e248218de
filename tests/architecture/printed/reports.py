"""What reports/README.md says in numbers, as `says.py` has it of the other pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from storeproof.outcome import Outcome
from storeproof.report.speed import numbers as marks
from storeproof.result.compare import pair_of
from storeproof.result.measured.isolation import IsolationCounts
from storeproof.result.model import StoreResult
from tests.architecture.printed.published import cluster_row, lost, machine, minutes, number, numbers, run, sides, store, struck, times
from tests.architecture.printed.says import CLUSTERS, DURABILITY, Says, only_by_power, variants, without_waiting, word
from tests.shipped import SHIPPED

_CACHES = ("redis-over-mongodb", "memcached-over-postgresql", "redis-over-mysql", "more-caches")
_CRASH_STATES = ("crash-states-keys", "crash-states-databases")
_ISOLATION = ("2026-11-29-isolation", "isolation-innodb")
_SPEEDS = ("redis-over-mongodb-speeds", "memcached-over-postgresql-speeds")


def _memory() -> str:
    (found,) = {
        f"{run(name).environment.memory_bytes / 2**30:.0f}" for name in (*DURABILITY, *_CACHES, *_SPEEDS, *CLUSTERS, "series", "speeds")
    }
    return found


def _faster_again() -> tuple[str, str]:
    """The least and the most by which three stores wrote values faster the second time, in percent."""
    chosen = ("sqlite:wal-full", "postgresql:synchronous-commit-on", "mariadb:innodb-flush-1")
    first, again = (
        [number(name, each, "single-put-distinct-100").throughput.median for each in chosen] for name in ("speeds", "speeds-again")
    )
    gained = [100 * (now / then - 1) for then, now in zip(first, again, strict=True)]
    return f"{min(gained):.0f}", f"{max(gained):.0f}"


def _broken_claims() -> list[str]:
    """Variants that claim to survive a power cut and were not shown to."""
    return [
        f"{each.store}:{each.variant}" for name in DURABILITY for each in run(name).stores
        if each.durability.claimed == "power_loss" and each.durability.proven != "power_loss"
    ]  # fmt: skip


def _rounds(name: str) -> tuple[int, int, int]:
    """Rounds that were run again on a slow machine, that count, and that count on a slow machine."""
    speeds = [each.machine_speed for _, each in numbers(name)]
    counted = sum(len(each.rounds) for _, each in numbers(name))
    return sum(each.repeated for each in speeds if each), counted, sum(each.slow for each in speeds if each)


def _hash(name: str) -> str:
    return f"{round(number(name, 'redis:aof-always', 'hash10-put').throughput.median, -2):,.0f}"


def _stale() -> str:
    details = [
        each.detail for name in _CACHES for found in run(name).stores for each in found.outcomes if each.id.startswith("stale_reads")
    ]
    return f"{max(float(age) for each in details for age in re.findall(r'([0-9.]+) ms at most', each)):.0f}"


def _fresh(variant: str) -> int:
    """Rounds of a way of caching in which no read was stale; none in which one was."""
    outcomes = [
        each for name in _CACHES for found in run(name).stores if found.variant == variant
        for each in found.outcomes if each.id.startswith("stale_reads") and each.outcome is Outcome.PASS
    ]  # fmt: skip
    assert all("none was stale" in each.detail for each in outcomes)
    return sum(int(each.detail.partition(" rounds")[0]) for each in outcomes)


def _processor(variant: str, workload: str) -> str:
    cost = number("redis-over-mongodb-speeds", variant, workload).cost
    assert cost is not None
    return f"{cost.cpu_us:.0f}"


def _write_behind(guarantee: str) -> str:
    return lost("more-caches", "redis-over-mongodb:write-behind", guarantee).counts.replace("≥ ", "")


def _transfers(name: str, variant: str) -> tuple[int, int]:
    """Acknowledged ones that are missing, of how many."""
    details = [each.detail for each in store(name, variant).outcomes if each.id.startswith("durability.transfers/")]
    missing = [int(each) for detail in details for each in re.findall(r"(\d+) acknowledged transfers are missing", detail)]
    return sum(missing), sum(int(each) for detail in details for each in re.findall(r"(\d+) transfers acknowledged", detail))


def _share(variant: str) -> str:
    """Of the rate of the same store's fastest variant, as the picture has it."""
    own = [side for side in sides("durability-cost").values() if side.store.store == variant.partition(":")[0]]
    rates = {side.name: next(iter(side.store.measurements)) for side in own}
    fastest = max((side for side in own if not rates[side.name].invalid), key=lambda side: rates[side.name].throughput.median)
    found = pair_of(sides("durability-cost")[variant], rates[variant], fastest, rates[fastest.name], {"durability"})
    assert found.ratio is not None, found.refused
    return f"{found.ratio.middle:.2f}"


def _of_series(*, grade: str, **wanted: Any) -> int:
    found = [(each, measured) for each, measured in numbers("series") if measured.grade == grade and not measured.invalid]
    if "store" in wanted:
        return sum(each.store == wanted["store"] for each, _ in found)
    large = ("size-10000", "size-100000", "fields-100")
    return sum(measured.record in large for _, measured in found) if wanted else len(found)


def _undecided(*parts: str) -> int:
    """Cases of MariaDB without a verdict, by a part of their ids."""
    found = [each.id for each in store("series", "mariadb:innodb-flush-1").outcomes if each.outcome is Outcome.INCONCLUSIVE]
    return sum(any(part in each for part in parts) for each in found)


def _bounds(name: str, product: str, clients: int = 0) -> int:
    return sum(
        each.at_least and not each.invalid and found.store == product and clients in (0, each.clients) for found, each in numbers(name)
    )


def _drifts(name: str) -> tuple[str, str]:
    changes = [abs(each.trend.change) for _, each in numbers(name) if each.trend.drifting and not each.invalid]
    return f"{100 * min(changes):.1f}", f"{100 * max(changes):.1f}"


def _loopback(name: str) -> str:
    return f"{run(name).environment.loopback_us:.0f}"


def _ndb(guarantee: str) -> str:
    return lost("mysql-ndb", "mysql-ndb:gcp-2000", guarantee).percent.removeprefix("≥ ")


def _unlike() -> int:
    return sum(
        int(each) for found in store("tarantool-nodes", "tarantool:three-instances-sync").outcomes if found.id == "durability.partition"
        for each in re.findall(r"times: (\d+) records differ", found.detail)
    )  # fmt: skip


def _clustered() -> Iterator[Says]:
    for name in CLUSTERS:
        for each in run(name).stores:
            row = cluster_row(name, f"{each.store}:{each.variant}")
            if each.variant == "three-instances-sync":  # its first guarantee ended early
                row = row.replace("| 0 | 0 | 0 |", "| 0 of 1 | | |", 1)
            elif each.store == "valkey":  # counters have no place in the rounds
                (counters,) = re.findall(
                    r"kill_primary: (\d+) miscounted of counter(?: \||;)", struck(name, "valkey:sentinel", "node_loss").detail
                )
                row = row.replace("| 0 |", f"| 1 ({counters} counters) |", 1)
            yield Says("{}", lambda row=row: (row,))  # type: ignore[misc]


def reports() -> list[Says]:
    """Of reports/README.md."""
    return [
        Says("| {} {} min |", lambda: (machine("keys", "databases", "2026-11-27-mysql"), minutes("keys", "databases", "2026-11-27-mysql"))),
        Says("| {} {} min |", lambda: (machine("speeds", "speeds-again", "outages"), minutes("speeds", "speeds-again", "outages"))),
        Says("| {} {} min |", lambda: (machine("2026-11-28-redis", "redis-again"), minutes("2026-11-28-redis", "redis-again"))),
        Says("| {} {} min |", lambda: (machine("one-store-or-two"), minutes("one-store-or-two"))),
        Says("| {} {} min; speeds {} |", lambda: (machine(*_CACHES, *_SPEEDS), minutes(*_CACHES), minutes(*_SPEEDS))),
        Says("| {} {} min |", lambda: (machine(*CLUSTERS), minutes(*CLUSTERS))),
        Says(
            "| {} {} min; cost {} min |",
            lambda: (machine(*DURABILITY, "durability-cost"), minutes(*DURABILITY), minutes("durability-cost")),
        ),
        Says("| {} {} min |", lambda: (machine("series", "redis-and-mongodb"), minutes("series", "redis-and-mongodb"))),
        Says("| {} {} min |", lambda: (machine(*_CRASH_STATES), minutes(*_CRASH_STATES))),
        Says("| {} {} min |", lambda: (machine(*_ISOLATION), minutes(*_ISOLATION))),
        Says("| {} {} min |", lambda: (machine("isolation-nodes"), minutes("isolation-nodes"))),
        Says("| {} {} min |", lambda: (machine("2026-12-01-disks"), minutes("2026-12-01-disks"))),
        Says("one after the other: the {} variants of single servers", lambda: (sum(len(run(name).stores) for name in _CRASH_STATES),)),
        Says("under a fresh start for {} seconds; then calls of the disk failed in turn, for {} seconds each kind", _seconds_of_states),
        Says("{} transactions at {} levels of {} variants, {} of them contended", _transactions),
        Says(
            "a lost update was there after {} to {} commits",
            lambda: _first("lost-update", lambda level, guarantees: level == "repeatable_read" and guarantees == "read_committed"),
        ),
        Says(
            "was there after {} commits, with `synchronous_commit = on` after {} and with `remote_apply` after {}",
            lambda: tuple(map(_fork, ("standbys-local", "standbys-on", "standbys-remote-apply"))),
        ),
        Says("at the primary showed none in {} transactions", lambda: (_at_the_primary(),)),
        Says("which it allows, after {} to {}.", lambda: _first("G2-item", lambda _, guarantees: guarantees == "snapshot_isolation")),
        Says("| {} {} min |", lambda: (machine("2026-11-27-ycsb"), minutes("2026-11-27-ycsb"))),
        Says("| {} {} min |", lambda: (machine("2026-11-27-full-aggregates"), minutes("2026-11-27-full-aggregates"))),
        Says("| {} {} min |", lambda: (machine("full-rows"), minutes("full-rows"))),
        Says("| {} {} min |", lambda: (machine("ycsb-logs"), minutes("ycsb-logs"))),
        Says("| {} {} min |", lambda: (machine("mysql-ndb"), minutes("mysql-ndb"))),
        Says("| {} {} min |", lambda: (machine("2026-11-27-rows", "ndb-proof"), minutes("2026-11-27-rows", "ndb-proof"))),
        Says(
            "{} cases in {} minutes",
            lambda: (len(store("2026-11-28-redis", "redis:aof-always").outcomes), minutes("2026-11-28-redis")),
        ),
        Says("right after it, in {} minutes", lambda: (minutes("redis-again"),)),
        Says("virtual machines with {} GiB", lambda: (_memory(),)),
        Says("values that SQLite, PostgreSQL and MariaDB wrote, {} to {} % faster the second time", _faster_again),
        Says("{} variants lost nothing in 20 rounds of kill -9", lambda: (word(only_by_power()).capitalize(),)),
        Says(
            "Of the variants that claim to survive a power cut, {} did not: the {} `fsync` variants of Tarantool 2.6.0",
            lambda: (word(len(_broken_claims())), word(sum("tarantool" in each for each in _broken_claims()))),
        ),
        Says(
            "of {} variants of {} stores.\n\n[The same plan",
            lambda: (word(len(run("outages").stores)), word(len({each.store for each in run("outages").stores}))),
        ),
        Says(
            "2026-11-27: {} variants of {} stores in interleaved rounds",
            lambda: (word(len(run("2026-11-27-ycsb").stores)), word(len({each.store for each in run("2026-11-27-ycsb").stores}))),
        ),
        Says(
            "hashes written with 50 clients ({} a second, then {}, a number of grade {})",
            lambda: (_hash("2026-11-28-redis"), _hash("redis-again"), number("redis-again", "redis:aof-always", "hash10-put").grade),
        ),
        Says(
            "{} and {} rounds were run again, {} and {} count, of which {} and {} are of a slow machine",
            lambda: tuple(f"{each:,}" for pair in zip(_rounds("2026-11-28-redis"), _rounds("redis-again"), strict=True) for each in pair),
        ),
        Says("at most {} ms after the write that they missed", lambda: (_stale(),)),
        Says("none was, in {} rounds with four pairs", lambda: (_fresh("write-through"),)),
        Says("No read of it was stale in {} rounds", lambda: (_fresh("write-behind"),)),
        Says(
            "takes {} µs of processor time in Redis and MongoDB, and {} in MongoDB alone; a write {} and {}.",
            lambda: tuple(
                _processor(variant, workload)
                for workload in ("hash10-get", "hash10-put")
                for variant in ("redis-over-mongodb:cache-aside", "mongodb:journaled")
            ),
        ),
        Says(
            "{} acknowledged operations in five clean restarts, at least {} in twenty crashes, and at least {} in twenty power cuts",
            lambda: tuple(map(_write_behind, ("clean_restart", "process_crash", "power_loss"))),
        ),
        *_clustered(),
        Says("lost {} to {} % of all that they acknowledged", without_waiting),
        Says("{} records of other instances stayed unlike the primary's", lambda: (_unlike(),)),
        Says(
            "across the same {} faults",
            lambda: (sum(struck("postgresql-nodes", "postgresql:standbys-on", each).rounds for each in ("node_loss", "partition")),),
        ),
        Says(
            "all of {} acknowledged transfers",
            lambda: (f"{_transfers('mongodb-linearizable-nodes', 'mongodb:three-members-linearizable')[1]:,}",),
        ),
        Says("all {} acknowledged transfers are there", lambda: (f"{_transfers('postgresql-nodes', 'postgresql:standbys-on')[1]:,}",)),
        Says(
            "With `local` {} of {} transfers are missing",
            lambda: tuple(f"{each:,}" for each in _transfers("postgresql-nodes", "postgresql:standbys-local")),
        ),
        Says("![What {} variants lose", lambda: (variants(),)),
        Says("Ten stores in all of their {} variants", lambda: (variants(),)),
        Says("write values under new keys to all {} variants", lambda: (len(run("durability-cost").stores),)),
        Says(
            "leaves Redis {} of the rate of its fastest variant, Valkey {} to {}, MongoDB {}, PostgreSQL at most {}, SQLite {}, "
            "Tarantool {} to {}, and InnoDB of MariaDB {}.",
            lambda: tuple(
                map(
                    _share,
                    (
                        "redis:aof-always-notifying",
                        "valkey:aof-always-notifying",
                        "valkey:aof-always",
                        "mongodb:journaled",
                        "postgresql:synchronous-commit-on",
                        "sqlite:wal-full",
                        "tarantool:vinyl-fsync",
                        "tarantool:memtx-tree-fsync",
                        "mariadb:innodb-flush-1",
                    ),
                )
            ),
        ),
        Says(
            "Of the {} D, {} are of values of 10 or 100 kB or of a hundred fields, and {} are of PostgreSQL",
            lambda: (_of_series(grade="D"), _of_series(grade="D", large=True), _of_series(grade="D", store="postgresql")),
        ),
        Says("{} of {} rounds are of such moments", lambda: tuple(f"{each:,}" for each in (_rounds("series")[2], _rounds("series")[1]))),
        Says(
            "for documents that 50 clients insert ({}), values of 10 and 100 kB ({}) and a hundred fields written ({})",
            lambda: (_undecided("document10-insert"), _undecided("size-10000"), _undecided("fields-100")),
        ),
        Says("Of the lower bounds {} are PostgreSQL's", lambda: (_bounds("2026-11-27-ycsb", "postgresql"),)),
        Says("What drifts does so by {} to {} % a round: B", lambda: _drifts("2026-11-27-ycsb")),
        Says(
            "The bounds are Tarantool with 256 clients ({}), Redis ({})",
            lambda: (_bounds("ycsb-logs", "tarantool", 256), _bounds("ycsb-logs", "redis")),
        ),
        Says("What drifts does so by {} to {} % a round, all", lambda: _drifts("ycsb-logs")),
        Says("in 7 µs and not in {}", lambda: (_loopback("ycsb-logs"),)),
        Says(
            "MariaDB read {} times as many rows a second as MongoDB, and MySQL {} times.",
            lambda: tuple(
                f"{times('full-rows', each, 'mongodb:journaled', 'row-get', 100):.1f}"
                for each in ("mariadb:innodb-flush-1", "mysql:innodb")
            ),
        ),
        Says(
            "it lost {} or more by kill -9 of all its processes, {} or more by a power cut and {} or more by a crash of all its nodes",
            lambda: tuple(map(_ndb, ("process_crash", "power_loss", "all_nodes_crash"))),
        ),
        Says(
            "It answers {} of {} capabilities",
            lambda: (
                sum(each.outcome in (Outcome.PASS, Outcome.UNDECLARED) for each in store("mysql-ndb", "mysql-ndb:gcp-2000").capabilities),
                len(store("mysql-ndb", "mysql-ndb:gcp-2000").capabilities),
            ),
        ),
        Says(
            "With 128 clients MongoDB read {} times as many rows a second as the cluster, and InnoDB of MariaDB {} times as many.",
            lambda: tuple(
                f"{times('2026-11-27-rows', each, 'mysql-ndb:gcp-2000-no-force-send', 'row-get', 128, ['topology']):.2g}"
                for each in ("mongodb:default", "mariadb:innodb-flush-0")
            ),
        ),
    ]


def _seconds_of_states() -> tuple[str, str]:
    scale = SHIPPED.scales["standard"].durability
    return f"{scale.crash_states.seconds:.0f}", f"{scale.io_errors.seconds:.0f}"


def _levels() -> list[tuple[StoreResult, IsolationCounts]]:
    """Each level and mix that was tried; none showed what it forbids."""
    found = [(each, case.isolation) for name in _ISOLATION for each in run(name).stores for case in each.outcomes if case.isolation]
    assert not any(seen.forbidden for _, counts in found for seen in counts.anomalies)
    return found


def _transactions() -> tuple[str, str, str, str]:
    """Committed ones; levels, variants; contended ones."""
    found = _levels()
    levels = {(each.store, each.variant, counts.level) for each, counts in found}
    variants = {(each.store, each.variant) for each, _ in found}
    committed, contended = (sum(getattr(counts, what) for _, counts in found) for what in ("committed", "contended"))
    return f"{committed:,}", str(len(levels)), word(len(variants)), f"{contended:,}"


def _first(kind: str, wanted: Callable[[str, str], bool]) -> tuple[int, int]:
    """The least and the most commits to the first of a kind, at some levels."""
    after = [
        seen.after for _, counts in _levels() if wanted(counts.level, counts.guarantees) for seen in counts.anomalies if seen.kind == kind
    ]
    return min(after), max(after)


def _fork(variant: str) -> str:
    """Commits until the first long fork."""
    cases = [each.isolation for each in store("isolation-nodes", f"postgresql:{variant}").outcomes if each.isolation]
    (after,) = [seen.after for counts in cases for seen in counts.anomalies if seen.kind == "G-nonadjacent"]
    return f"{after:,}"


def _at_the_primary() -> str:
    """Transactions of the control."""
    cases = [each for store in run("isolation-nodes").stores for each in store.outcomes if each.id.endswith("/at-the-primary")]
    counts = [each.isolation for each in cases if each.isolation]
    assert counts
    assert not any(each.anomalies for each in counts)
    return f"{sum(each.committed for each in counts):,}"


def counts(folders: list[str]) -> set[str]:
    """How each of some runs counts its numbers, by grade and mark."""
    return {marks.count([each for _, each in numbers(folder)]) for folder in folders}
