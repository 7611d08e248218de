"""SAMPLE DATA. Invented figures in the shape of a real result, for tests of the reports only; never published, never shipped."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from storeproof.outcome import Outcome, Stage, count, worst
from storeproof.result.machine import Environment
from storeproof.result.measured.outage import OutageBin, OutageEvent, OutagePart, OutageRecord
from storeproof.result.measurement import Interval, Latency, Measurement, RoundNumbers, TrendRecord
from storeproof.result.missing import MissingDemand
from storeproof.result.model import (
    CapabilityResult,
    Durability,
    EditionUsed,
    GuaranteeRecord,
    OutcomeRecord,
    ProfileVerdict,
    Result,
    RunInfo,
    StoreResult,
    WorstLoss,
)
from storeproof.result.part import Gate
from storeproof.stats.intervals import grade
from storeproof.stats.trend import trend

TARGETS = (
    ("sqlite", "SQLite", "wal-full", "power_loss", "process_crash", "SQLite 3.40.1", 4_000),
    ("redis", "Redis", "aof-always", "power_loss", "process_crash", "Redis 7.0.15", 9_000),
    ("redis", "Redis", "volatile", "volatile", "volatile", "Redis 7.0.15", 21_000),
    ("valkey", "Valkey", "aof-everysec", "process_crash", "process_crash", "Valkey 9.1.2", 20_000),
    ("mongodb", "MongoDB", "default", "process_crash", "clean_restart", "MongoDB 6.0.5", 6_000),
    ("mongodb", "MongoDB", "journaled", "power_loss", "process_crash", "MongoDB 6.0.5", 2_500),
    ("tarantool", "Tarantool", "memtx-tree-fsync", "power_loss", "process_crash", "Tarantool 2.6.0", 3_300),
    ("memcached", "Memcached", "volatile", "volatile", "volatile", "memcached 1.6.18", 24_000),
    ("mariadb", "MariaDB", "innodb-flush-0", "clean_restart", "clean_restart", "MariaDB 10.11.19", 5_000),
)

SWEEP = (1, 8, 32, 64, 128, 256)

WORKLOADS = (
    ("single-put-distinct-90", "Put one value, 90 % of the keys new", "single_key", "put", (0,), 1, (50,), 100, 1.0),
    ("single-put-distinct-100", "Put one value, every key new", "single_key", "put", (0,), 1, (50,), 100, 1.02),
    ("single-get", "Get one value", "single_key", "get", (0,), 1, (50,), 100, 1.3),
    ("hash10-put", "Put a ten-field hash in one request (HMSET)", "hash10", "put", (0, 1), 1, (50,), 1000, 0.6),
    ("hash10-get", "Get a ten-field hash in one request (HMGET)", "hash10", "get", (0,), 1, (50,), 1000, 0.9),
    ("document10-insert-1", "Insert ten-field documents, one a request", "document10", "put", (0, 1), 1, (50,), 1000, 0.5),
    ("document10-insert-10", "Insert ten-field documents, ten a request", "document10", "put_many", (0, 1), 10, (50,), 1000, 1.9),
    ("document10-insert-100", "Insert ten-field documents, a hundred a request", "document10", "put_many", (0, 1), 100, (50,), 1000, 3.1),
    ("nested-put", "Put a nested aggregate", "nested", "put", (0, 1), 1, (50,), 420, 0.5),
    ("nested-get", "Get a nested aggregate", "nested", "get", (0,), 1, (50,), 420, 0.8),
    ("nested-set-path", "Update one path of a nested aggregate", "nested", "set_path", (0, 3), 1, (50,), 20, 0.4),
    ("row-get", "Read a row by its primary key", "row", "get", (0,), 1, SWEEP, 20, 1.2),
    ("row-load", "Load rows in bulk, a hundred a request", "row", "put_many", (0, 1), 100, (1,), 20, 2.2),
)

_HISTOGRAM = "HISTFAAAADZ4nJNpmSzMwMAgwgABzFCaEYilP/RtYLD/ABE47HyC8S//Ccb7nCcYZ7OdYHzLcoIRABbdDVA="
"""500 samples of 10 to 50 µs: the format has no invented ones."""

STEADY = TrendRecord(change=0.001, probability=0.8, drifting=False)
DRIFTING = TrendRecord(change=-0.031, probability=0.002, drifting=True)

HOSTILE_DETAIL = "<script>alert(1)</script> | a pipe, `ticks`, \x1b[31mESC\x1b[0m and \x00 NUL & an é"


def sample_result(targets: Sequence[tuple[str, str, str, str, str, str, int]] = TARGETS, scale: str = "standard", seed: int = 7) -> Result:
    """A whole result; every outcome occurs, and one detail is hostile to every format. It is frozen, and shared by all that ask for it."""
    return _sample_result(tuple(targets), scale, seed)


@cache
def _sample_result(targets: tuple[tuple[str, str, str, str, str, str, int], ...], scale: str, seed: int) -> Result:
    rng = random.Random(seed)
    return Result(
        edition=EditionUsed(version="2026.11", hash="0123456789abcdef"),
        run=RunInfo(
            id="sample-0001",
            started="2026-11-21T10:00:00Z",
            seconds=1834.2,
            command="pytest suites/ --store all --endpoint redis=redis://:***@sample.example:6379/0",
            seed=seed,
            scale=scale,
            storeproof="0.1.0",
        ),
        environment=sample_environment(),
        stores=[sample_store(*target, rng=rng) for target in targets],
    )


def sample_environment(**changed: object) -> Environment:
    """A machine that does not exist."""
    fields: dict[str, object] = {
        "cpu": "Sample CPU 3000",
        "cores": 2,
        "memory_bytes": 8 * 2**30,
        "kernel": "Linux 6.1.0 x86_64",
        "disk": "/dev/sample (Sample SSD, not rotational)",
        "filesystem": "ext4 (rw,relatime)",
        "fsync_us": 812.0,
        "loopback_us": 21.5,
        "python": "CPython 3.11.7",
        "packages": {"redis": "8.1.0", "pymongo": "4.20.0"},
    }
    return Environment.model_validate(fields | changed)


def sample_store(
    store: str, title: str, variant: str, claimed: str, proven: str | None, version: str | None, speed: float, *, rng: random.Random
) -> StoreResult:
    """One store in one variant."""
    outcomes = sample_outcomes(rng)
    return StoreResult(
        store=store,
        title=title,
        variant=variant,
        topology="single",
        version=version,
        launch="process",
        settings={"appendonly": "yes", "appendfsync": "always"} if store == "redis" else {},
        durability=sample_durability(claimed, proven, rng),
        capabilities=sample_capabilities(outcomes),
        outcomes=outcomes,
        counts=count(each.outcome for each in outcomes),
        measurements=[
            sample_measurement(workload, clients, indexes, speed, rng)
            for workload in WORKLOADS
            for clients in workload[6]
            for indexes in workload[4]
        ],
        profiles=[
            ProfileVerdict(profile="cache", verdict="conforms", missing=[]),
            ProfileVerdict(
                profile="system_of_record",
                verdict="does_not_conform",
                missing=[
                    MissingDemand(
                        kind="guarantee", name="power_loss", outcome=Outcome.UNSUPPORTED, reason="the variant claims only volatile"
                    )
                ],
            ),
            ProfileVerdict(
                profile="document_store",
                verdict="incomplete",
                missing=[MissingDemand(kind="capability", name="path.set", case="002", outcome=Outcome.NOT_RUN)],
            ),
        ],
    )


def sample_outcomes(rng: random.Random) -> list[OutcomeRecord]:
    """Outcomes of every kind, most of them a pass."""
    rare = [outcome for outcome in Outcome if outcome is not Outcome.PASS]
    found = []
    for group, size in (
        ("point", 6),
        ("batch", 4),
        ("field", 6),
        ("path", 8),
        ("counter", 3),
        ("conditional", 5),
        ("expiry", 3),
        ("scan", 6),
    ):
        found += [(f"capabilities.{group}.basic/{number:03d}", Stage.CORRECTNESS) for number in range(1, size + 1)]
    found += [(f"stateful.{model}", Stage.CORRECTNESS) for model in ("single_key", "hash10", "document10", "nested", "row", "counter")]
    found += [(f"durability.{fault}", Stage.DURABILITY) for fault in ("clean_restart", "process_crash")]
    found += [(f"performance.{workload[0]}", Stage.PERFORMANCE) for workload in WORKLOADS]
    records = []
    for position, (case, stage) in enumerate(found):
        outcome = rare[position // 5] if position % 5 == 0 and position // 5 < len(rare) else Outcome.PASS
        history = "put('k', b'1') -> None\nget('k') -> b'0', right is b'1'"
        detail = "" if outcome is Outcome.PASS else f"{outcome}: {HOSTILE_DETAIL}\n{history}"
        records.append(OutcomeRecord(id=case, revision=1, stage=stage, outcome=outcome, detail=detail, seconds=rng.uniform(0.01, 2)))
    return records


def sample_capabilities(outcomes: Iterable[OutcomeRecord]) -> list[CapabilityResult]:
    """The roll-up of the cases; the last capability is not claimed."""
    cases: dict[str, list[Outcome]] = {}
    for each in outcomes:
        if each.id.startswith("capabilities."):
            cases.setdefault(each.id.removeprefix("capabilities.").partition("/")[0], []).append(each.outcome)
    return [
        CapabilityResult(
            capability=name,
            claimed=name != "scan.basic",
            outcome=worst(found),
            cases=len(found),
            passed=sum(each in (Outcome.PASS, Outcome.UNDECLARED) for each in found),
        )
        for name, found in cases.items()
    ]


def sample_durability(claimed: str, proven: str | None, rng: random.Random) -> Durability:
    """Two faults struck; the second one loses something where the claim was not proven."""
    kept = proven not in ("volatile", "clean_restart", None)
    rungs = [
        sample_guarantee(
            "clean_restart", Outcome.UNSUPPORTED if proven == "volatile" else Outcome.PASS, 5200 if proven == "volatile" else 0, rng
        ),
        sample_guarantee("process_crash", Outcome.PASS if kept else Outcome.FAIL, 0 if kept else 53, rng),
        sample_guarantee("power_loss", Outcome.NOT_RUN, 0, rng, rounds=0),
    ]
    return Durability(
        claimed=claimed,
        proven=proven,
        guarantees=rungs,
        **{
            name: sum(getattr(rung, name) for rung in rungs)
            for name in ("rounds", "acknowledged", "unknown", "lost", "resurrected", "reverted", "torn", "invented", "miscounted")
        },
    )


def sample_guarantee(name: str, outcome: Outcome, lost: int, rng: random.Random, rounds: int = 5) -> GuaranteeRecord:
    """What one fault did."""
    return GuaranteeRecord(
        guarantee=name,
        outcome=outcome,
        rounds=rounds,
        acknowledged=15_840 if rounds else 0,
        unknown=24 if rounds else 0,
        lost=lost,
        resurrected=0,
        reverted=0,
        torn=1 if lost else 0,
        invented=0,
        miscounted=0,
        recovery_seconds=[rng.uniform(0.02, 0.9) for _ in range(rounds)],
        faults_by_load={"burst": rounds} if rounds else {},
        faults_with_loss=1 if lost else 0,
        lost_operations=lost + 2 if lost else 0,
        loss_bound=(0.6574 if lost else 0.4507) if rounds else None,
        worst_loss=WorstLoss(shape="suffix", records=lost, window_ms=12.5) if lost else None,
        detail="" if rounds else "no power cut on this machine; run as root with loop devices",
    )


def sample_measurement(
    workload: tuple[str, str, str, str, tuple[int, ...], int, Iterable[int], int, float],
    clients: int,
    indexes: int,
    speed: float,
    rng: random.Random,
) -> Measurement:
    """One workload at one number of clients, five rounds."""
    name, title, model, operation, _, batch, _, payload, factor = workload
    knee = clients / (clients + 12) * 1.2
    level = speed * factor * knee * (0.8 if indexes else 1.0)
    rounds = [level * rng.uniform(0.95, 1.05) for _ in range(5)]
    median = statistics.median(rounds)
    p50 = clients * batch / median * 1e6
    limited, broken = rng.random() < 0.1, rng.random() < 0.04
    spread = (max(rounds) - min(rounds)) / 2 / median
    drift = trend(rounds)
    return Measurement(
        workload=name,
        title=title,
        model=model,
        operation=operation,
        indexes=indexes,
        batch=batch,
        clients=clients,
        engine="driver",
        load_model="closed",
        payload_bytes=payload,
        rounds=[RoundNumbers(seconds=0.6, operations=int(each * 0.6), throughput=each, errors=0, misses=0) for each in rounds],
        throughput=Interval(median=median, low=min(rounds), high=max(rounds), unit="records/s" if batch > 1 else "operations/s"),
        latency_us=Latency(
            mean=p50 * 1.2,
            p50=p50,
            p95=p50 * 1.8,
            p99=p50 * 3.1,
            p999=None if clients < 8 else p50 * 6,
            max=p50 * 14,
            samples=int(median * 3 / batch),
        ),
        errors=0,
        misses=0,
        gates={
            "client_cpu": Gate(ok=not limited, value=0.97 if limited else 0.61, limit=0.9),
            "errors": Gate(ok=not broken, value=0.02 if broken else 0.0, limit=0.001),
            "littles_law": Gate(ok=True, value=0.012, limit=0.05),
        },
        verified=True,
        grade=grade(spread),
        at_least=limited,
        trend=TrendRecord(change=drift.change, probability=drift.probability, drifting=drift.drifting),
        invalid=["errors"] if broken else [],
        histogram=_HISTOGRAM,
    )


def sample_outage(fault: Any, **changed: Any) -> OutageRecord:
    """An outage of a second: nothing is answered in it, and all that had waited comes after it."""
    bins = [OutageBin(second=number / 10, ok=40, errors=0, p50_us=200.0, max_us=900.0) for number in range(-7, 0)]
    bins += [OutageBin(second=number / 10, ok=0, errors=0, p50_us=1e6 - number * 1e5, max_us=1e6) for number in range(10)]
    bins += [OutageBin(second=1.0, ok=440, errors=8, p50_us=None, max_us=None)]
    bins += [OutageBin(second=number / 10, ok=40, errors=0, p50_us=200.0, max_us=900.0) for number in range(11, 28)]
    record = OutageRecord(
        fault=fault,
        outcome=Outcome.PASS,
        clients=8,
        rate=400,
        unavailable_seconds=1.002,
        degraded_seconds=1.05,
        errors=8,
        missed_sends=0,
        before=OutagePart(requests=280, p50_us=200.0, p99_us=900.0, max_us=1000.0),
        during=OutagePart(requests=400, p50_us=500_000.0, p99_us=990_000.0, max_us=1_000_000.0),
        after=OutagePart(requests=700, p50_us=210.0, p99_us=70_000.0, max_us=80_000.0),
        acknowledged=600,
        unknown=8,
        lost=0,
        claimed=True,
        gates={"schedule_lag_ms": Gate(ok=True, value=0.3, limit=5.0)},
        events=[OutageEvent(name="fault", second=0.0), OutageEvent(name="start", second=0.9), OutageEvent(name="back", second=1.0)],
        bins=bins,
        detail="",
    )
    return record.model_copy(update=changed)
