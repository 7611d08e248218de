"""The wire engine against redis-benchmark, in pairs on one server: rates, and processor time of the client for each operation.

Not collected by pytest, since it takes some minutes and a quiet machine: `nox -s pairs`, or `python -m tests.load.pairs`. It needs Redis'
own `redis-server` and `redis-benchmark`. Both send the same command with as many bytes, about the same keys, over as many connections, one
request in flight on each, to a server without persistence. The two take turns, and in every other pair the other one begins: what the
machine does meanwhile, it does to both. A ratio is the median over the pairs.
"""

from __future__ import annotations

import argparse
import csv
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from storeproof.contract.address import Address
from storeproof.contract.values import Layout
from storeproof.load.driver.driver_engine import DriverEngine
from storeproof.load.job import Engine, EngineName, Plan
from storeproof.load.wire.wire_engine import WireEngine
from storeproof.spec import Mix
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

RECORDS = 100_000
_KEY = "key:__rand_int__"
"""redis-benchmark writes twelve digits, as our keys have."""
_TEXT = "x" * 100


@dataclass(frozen=True)
class Pair:
    """One operation, in our words and in those of redis-benchmark."""

    title: str
    model: str
    mix: Mix
    command: tuple[str, ...]
    """The key's place is `_KEY`."""


_FIELDS = tuple(word for number in range(10) for word in (f"field{number}", _TEXT))
PAIRS = (
    Pair("SET", "single_key", Mix(operation="put", keys="uniform"), ("SET", _KEY, _TEXT)),
    Pair("GET", "single_key", Mix(operation="get", keys="uniform"), ("GET", _KEY)),
    Pair("HSET, 10 fields", "hash10", Mix(operation="put", keys="uniform"), ("HSET", _KEY, *_FIELDS)),
    Pair("HGETALL", "hash10", Mix(operation="get", keys="uniform"), ("HGETALL", _KEY)),
)


@dataclass(frozen=True)
class Figures:
    """Of one turn."""

    rate: float
    """Operations a second."""
    processor: float
    """Microseconds of the client's processor time for each."""


def ours(engine: Engine, plan: Plan) -> Figures:
    """One round of an engine of ours, in which every operation must succeed."""
    found = engine.start(plan).join()
    if found.errors or found.misses:
        sys.exit(f"{found.errors} errors and {found.misses} misses: {found.samples}")
    return Figures(found.throughput, found.cpu_seconds / found.ok * 1e6)


def theirs(address: Address, layout: Layout, pair: Pair, clients: int, requests: int) -> Figures:
    """One run of redis-benchmark."""
    command = [word.replace(_KEY, f"{layout.name}:{_KEY}") for word in pair.command]
    options = ["-h", address.host, "-p", str(address.port), "-c", str(clients), "-n", str(requests), "-r", str(RECORDS), "--csv"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["redis-benchmark", *options, *command], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    *_, row = csv.reader(line for line in done.stdout.splitlines() if line.startswith('"'))
    return Figures(float(row[1]), processor / requests * 1e6)


def take_turns(engine: Engine, address: Address, pair: Pair, plan: Plan, turns: int) -> list[tuple[Figures, Figures]]:
    """Ours and theirs, in pairs."""
    expected = theirs(address, plan.layout, pair, plan.clients, 20_000).rate
    requests = max(int(expected * plan.seconds), 1000)
    ours(engine, replace(plan, seconds=0.3))
    found = []
    for turn in range(turns):
        current = replace(plan, number=turn + 1, seed=turn)
        if turn % 2:
            other = theirs(address, plan.layout, pair, plan.clients, requests)
            found.append((ours(engine, current), other))
        else:
            mine = ours(engine, current)
            found.append((mine, theirs(address, plan.layout, pair, plan.clients, requests)))
    return found


def row(title: str, clients: int, found: Sequence[tuple[Figures, Figures]]) -> str:
    """A line of the table: medians."""
    rates = [mine.rate / other.rate for mine, other in found]
    processor = [mine.processor / other.processor for mine, other in found]
    middle = statistics.median
    return (
        f"| {title} | {clients} | {middle(mine.rate for mine, _ in found):,.0f} | {middle(other.rate for _, other in found):,.0f} "
        f"| **{middle(rates):.2f}** ({min(rates):.2f} to {max(rates):.2f}) | {middle(mine.processor for mine, _ in found):.2f} "
        f"| {middle(other.processor for _, other in found):.2f} | **{middle(processor):.2f}** |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("wire", "driver"), default="wire")
    parser.add_argument("--clients", type=int, nargs="+", default=[50, 256, 1024])
    parser.add_argument("--turns", type=int, default=7, help="pairs of each")
    parser.add_argument("--seconds", type=float, default=2.0, help="of one turn of one of the two")
    told = parser.parse_args()
    if shutil.which("redis-benchmark") is None:
        sys.exit("redis-benchmark is not on PATH: apt-get install redis-tools")
    name: EngineName = told.engine
    spec = SHIPPED
    (target,) = spec.targets(["redis:volatile"])
    sut = StoreUnderTest(spec, target, Options(scale=spec.scales["smoke"], seed=1, launch="process"), lambda _: None)
    handle = sut.launch("the pairs")
    driver = DriverEngine(target, handle.address)
    engine: Engine = driver if name == "driver" else WireEngine(target, handle.address, driver)
    print(f"{name} against redis-benchmark: {told.turns} pairs of {told.seconds:g} s each, {RECORDS:,} keys, no persistence", flush=True)
    print("| operation | connections | ours /s | theirs /s | rate, ratio | ours, µs of CPU | theirs | CPU, ratio |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    try:
        for clients in told.clients:
            for pair in PAIRS:
                layout = sut.layout(pair.model)
                session = sut.connect(handle)
                session.collection(layout).prepare()
                plan = Plan(layout, (pair.mix,), clients, told.seconds, 0, RECORDS, fixed_numbers=engine.fixed_numbers)
                engine.fill(layout, RECORDS, fixed_numbers=engine.fixed_numbers)
                print(row(pair.title, clients, take_turns(engine, handle.address, pair, plan, told.turns)), flush=True)
                session.close()
    finally:
        engine.close()
        driver.close()
        handle.close()


if __name__ == "__main__":
    main()
