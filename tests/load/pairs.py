"""The wire engine against redis-benchmark or go-ycsb, in pairs on one server: rates, and processor time of the client for each operation.

Not collected by pytest, since it takes some minutes and a quiet machine: `nox -s pairs`, or `python -m tests.load.pairs`. It needs
`redis-server` and the other program on PATH. Both send the same commands with as many bytes, about as many keys, over as many connections,
one request in flight on each, to a server without persistence. The two take turns, and in every other pair the other one begins: what the
machine does meanwhile, it does to both. A ratio is the median over the pairs.

go-ycsb has records of its own in the same server. It reads ten fields by their names (HMGET), and we read the whole hash (HGETALL).
"""

from __future__ import annotations

import argparse
import csv
import re
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from storeproof.contract.address import Address
from storeproof.contract.values import Layout
from storeproof.load.driver.driver_engine import DriverEngine
from storeproof.load.engine import Engine, EngineName, Plan
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
    """What is asked, in our words and in those of the other program."""

    title: str
    model: str
    mix: tuple[Mix, ...]
    theirs: tuple[str, ...]
    """The command of redis-benchmark, in which the key's place is `_KEY`; the properties of go-ycsb."""


_FIELDS = tuple(word for number in range(10) for word in (f"field{number}", _TEXT))
_PUT, _GET = (Mix(operation=name, keys="uniform") for name in ("put", "get"))
COMMANDS = (
    Pair("SET", "single_key", (_PUT,), ("SET", _KEY, _TEXT)),
    Pair("GET", "single_key", (_GET,), ("GET", _KEY)),
    Pair("HSET, 10 fields", "hash10", (_PUT,), ("HSET", _KEY, *_FIELDS)),
    Pair("HGETALL", "hash10", (_GET,), ("HGETALL", _KEY)),
)
YCSB = tuple(
    Pair(
        f"YCSB {name.upper()}",
        "usertable",
        SHIPPED.workloads[f"ycsb-{name}"].mix,
        (f"readproportion={read}", f"updateproportion={1 - read}"),
    )
    for name, read in (("a", 0.5), ("c", 1))
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


def redis_benchmark(address: Address, layout: Layout, pair: Pair, clients: int, requests: int) -> Figures:
    """One run of it."""
    command = [word.replace(_KEY, f"{layout.name}:{_KEY}") for word in pair.theirs]
    options = ["-h", address.host, "-p", str(address.port), "-c", str(clients), "-n", str(requests), "-r", str(RECORDS), "--csv"]
    said, processor = _run("redis-benchmark", *options, *command)
    *_, row = csv.reader(line for line in said.splitlines() if line.startswith('"'))
    return Figures(float(row[1]), processor / requests * 1e6)


def go_ycsb(address: Address, _layout: Layout, pair: Pair, clients: int, requests: int) -> Figures:
    """One run of it, on the records of `fill_go_ycsb`."""
    said, processor = _run(*_go_ycsb("run", address, clients, requests, *pair.theirs, "requestdistribution=zipfian"))
    if "_ERROR" in said:
        sys.exit(said[-2000:])
    (rate,) = re.findall(r"^TOTAL .* OPS: ([0-9.]+)", said, re.MULTILINE)
    return Figures(float(rate), processor / requests * 1e6)


def fill_go_ycsb(address: Address) -> None:
    """Its records: ten fields of 100 bytes each, as ours."""
    _run(*_go_ycsb("load", address, 16, RECORDS))


def _go_ycsb(command: str, address: Address, clients: int, requests: int, *properties: str) -> Sequence[str]:
    every = ("workload=core", f"recordcount={RECORDS}", f"operationcount={requests}", f"threadcount={clients}", *properties)
    places = ("redis.datatype=hash", f"redis.addr={address.host}:{address.port}")
    return ("go-ycsb", command, "redis", *(word for each in (*every, *places) for word in ("-p", each)))


def _run(*command: str) -> tuple[str, float]:
    """What a program says, and the seconds of processor time that it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


AGAINST: Mapping[str, tuple[Sequence[Pair], Callable[[Address, Layout, Pair, int, int], Figures]]] = {
    "redis-benchmark": (COMMANDS, redis_benchmark),
    "go-ycsb": (YCSB, go_ycsb),
}


def take_turns(engine: Engine, theirs: Callable[[int], Figures], plan: Plan, turns: int) -> list[tuple[Figures, Figures]]:
    """Ours and theirs, in pairs. `theirs`: by the number of its requests."""
    expected = theirs(20_000).rate
    requests = max(int(expected * plan.seconds), 1000)
    ours(engine, replace(plan, seconds=0.3))
    found = []
    for turn in range(turns):
        current = replace(plan, number=turn + 1, seed=turn)
        if turn % 2:
            other = theirs(requests)
            found.append((ours(engine, current), other))
        else:
            mine = ours(engine, current)
            found.append((mine, theirs(requests)))
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
    parser.add_argument("--against", choices=AGAINST, default="redis-benchmark")
    parser.add_argument("--engine", choices=("wire", "driver"), default="wire")
    parser.add_argument("--clients", type=int, nargs="+", default=[50, 256, 1024])
    parser.add_argument("--turns", type=int, default=7, help="pairs of each")
    parser.add_argument("--seconds", type=float, default=2.0, help="of one turn of one of the two")
    told = parser.parse_args()
    if shutil.which(told.against) is None:
        sys.exit(f"{told.against} is not on PATH; docs/ENGINE.md says how it is installed")
    every, program = AGAINST[told.against]
    name: EngineName = told.engine
    spec = SHIPPED
    (target,) = spec.targets(["redis:volatile"])
    sut = StoreUnderTest(spec, target, Options(scale=spec.scales["smoke"], seed=1, launch="process"), lambda _: None)
    handle = sut.launch("the pairs")
    driver = DriverEngine(target, handle.address)
    engine: Engine = driver if name == "driver" else WireEngine(target, handle.address, driver)
    print(f"{name} against {told.against}: {told.turns} pairs of {told.seconds:g} s each, {RECORDS:,} keys, no persistence", flush=True)
    print("| operation | connections | ours /s | theirs /s | rate, ratio | ours, µs of CPU | theirs | CPU, ratio |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    try:
        if program is go_ycsb:
            fill_go_ycsb(handle.address)
        for clients in told.clients:
            for pair in every:
                layout = sut.layout(pair.model)
                session = sut.connect(handle)
                session.collection(layout).prepare()
                plan = Plan(layout, pair.mix, clients, told.seconds, 0, RECORDS, fixed_numbers=engine.fixed_numbers)
                engine.fill(layout, RECORDS, fixed_numbers=engine.fixed_numbers)
                theirs = partial(program, handle.address, layout, pair, clients)
                print(row(pair.title, clients, take_turns(engine, theirs, plan, told.turns)), flush=True)
                session.close()
    finally:
        engine.close()
        driver.close()
        handle.close()


if __name__ == "__main__":
    main()
