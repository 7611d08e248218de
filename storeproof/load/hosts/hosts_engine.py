"""One engine made of those of several hosts: clients are shared out, all start at the same moment, and what they counted is added."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic, monotonic_ns, sleep
from typing import Final
from zlib import crc32

from storeproof.contract.values import Layout
from storeproof.load.engine import EngineName, LoadFailed, OperationCounts, Plan, RunResult, label, require_success, silent_store
from storeproof.load.hosts.load_host import Chosen, Ran
from storeproof.load.hosts.remote_host import ANSWER_SECONDS, RemoteHost, close_all, news_of, tell, wait_for
from storeproof.load.quality.ceiling import Ceiling
from storeproof.stats.latency import merged

_AHEAD_NS: Final = 150_000_000
"""From the order to the start of a round: it has reached all hosts by then."""
_AHEAD_NS_PER_CLIENT: Final = 300_000
_LOOK_SECONDS: Final = 1.0
"""Between two looks at hosts that are at work."""
_END_SECONDS: Final = 0.005
"""The same, when the round is over."""


class HostsEngine:
    """The engines of all hosts, which chose the same kind."""

    def __init__(self, hosts: Sequence[RemoteHost], chosen: Chosen) -> None:
        self.name: EngineName = chosen.name
        self.fixed_numbers = chosen.fixed_numbers
        self._hosts = hosts

    def start(self, plan: Plan) -> HostsRun:
        """Begin a round, when all hosts have their orders."""
        ahead = _AHEAD_NS + _AHEAD_NS_PER_CLIENT * len(plan.numbers)
        start_ns = max(monotonic_ns() + ahead, plan.start_ns)
        hosts = self._hosts[: len(plan.numbers)]
        plans = [replace(each, start_ns=start_ns + host.ahead_ns) for host, each in zip(hosts, shares(plan, len(self._hosts)), strict=True)]
        tell(hosts, "go", [(each,) for each in plans])
        return HostsRun(plan, hosts, plans, start_ns)

    def fill(self, layout: Layout, records: int, article_store: Path | None = None, fixed_numbers: bool = False) -> None:
        """Write the records 0 to records - 1, from the first host."""
        first = self._hosts[:1]
        tell(first, "fill", [(layout, records, article_store, fixed_numbers)])
        wait_for(first)

    def ceiling(self, plan: Plan) -> Ceiling:
        """The client ceiling of all hosts together, measured on all at once."""
        hosts = self._hosts[: len(plan.numbers)]
        tell(hosts, "ceiling", [(each,) for each in shares(plan, len(self._hosts))])
        found: list[Ceiling] = wait_for(hosts)
        rates = [each.rate for each in found if each.rate is not None]
        if len(rates) < len(found):
            return Ceiling(None, next(each.reason for each in found if each.rate is None))
        return Ceiling(sum(rates))

    def close(self) -> None:
        close_all(self._hosts)


class HostsRun:
    def __init__(self, plan: Plan, hosts: Sequence[RemoteHost], plans: Sequence[Plan], start_ns: int) -> None:
        self.begins_ns = start_ns
        self._plan = plan
        self._hosts = hosts
        self._plans = plans

    def stop(self) -> None:
        for host in self._hosts:
            with contextlib.suppress(LoadFailed):
                host.ask("stop")

    def join(self) -> RunResult:
        """Wait for the end. A host that is gone is an error of this round, and its share is not put on by another."""
        plan = self._plan
        end = self.begins_ns / 1e9 + plan.seconds
        try:
            while (left := end - monotonic()) > 0:
                sleep(min(left, _LOOK_SECONDS))
                news_of(self._hosts)
            found = news_of(self._hosts)
            while not all(each.done for each in found):
                if monotonic() > end + plan.patience + ANSWER_SECONDS:
                    raise silent_store(plan)
                sleep(_END_SECONDS)
                found = news_of(self._hosts)
        except BaseException:  # also an interrupt: the others do not go on without the one that is gone
            self.stop()
            raise
        return require_success(self._combined([each.found for each in found if isinstance(each.found, Ran)]))

    def _combined(self, ran: Sequence[Ran]) -> RunResult:
        begun = [each.begins_ns - host.ahead_ns for host, each in zip(self._hosts, ran, strict=True)]
        apart_ns = max(begun) - min(begun) + max(host.uncertain_ns for host in self._hosts)
        named = [
            replace(each.result, samples=tuple(f"{host.name}: {text}" for text in each.result.samples))
            for host, each in zip(self._hosts, ran, strict=True)
        ]
        return replace(combined(self._plan, self._plans, named), apart=apart_ns / 1e9 / self._plan.seconds)


def shares(plan: Plan, hosts: int) -> list[Plan]:
    """The plan of each host that has a client: each in turn has one, and the offered rate is shared out likewise.

    Each has a seed of its own, since requests of an open loop would be due on all hosts at the same moments.
    """
    found = []
    numbers = plan.numbers
    for host in range(min(hosts, len(numbers))):
        mine = numbers[host::hosts]
        seed = crc32(f"{plan.seed}:host {host}".encode())
        threads = min(plan.threads, len(mine))
        found.append(replace(plan, share=mine, rate=plan.rate * len(mine) / len(numbers), seed=seed, threads=threads))
    return found


def combined(plan: Plan, plans: Sequence[Plan], results: Sequence[RunResult]) -> RunResult:
    """The sum of what hosts found, each with its share of a plan."""
    clients = [client for its in plans for client in its.numbers]
    positions = dict(zip(clients, (count for each in results for count in each.positions), strict=True))
    removed = dict(zip(clients, (count for each in results for count in each.removed), strict=True))
    rate = sum(each.request_rate for each in results) or 1.0
    lags = [each.schedule_lag for each in results if each.schedule_lag is not None]
    return RunResult(
        operations={label(mix): OperationCounts.total([each.operations[label(mix)] for each in results]) for mix in plan.mix},
        throughput=sum(each.throughput for each in results),
        request_rate=sum(each.request_rate for each in results),
        clients=len(plan.numbers),
        # Means over requests: a host counts by the requests that it sent in a second.
        busy_seconds=sum(each.busy_seconds * each.request_rate for each in results) / rate,
        pause_seconds=sum(each.pause_seconds * each.request_rate for each in results) / rate,
        cpu_seconds=sum(each.cpu_seconds for each in results),
        elapsed_seconds=max(each.elapsed_seconds for each in results),
        cores=sum(each.cores for each in results),
        positions=tuple(positions[client] for client in plan.numbers),
        indeterminate=tuple(number for each in results for number in each.indeterminate),
        samples=tuple(text for each in results for text in each.samples),
        removed=tuple(removed[client] for client in plan.numbers),
        schedule_lag=merged(lags) if lags else None,
        missed_sends=sum(each.missed_sends for each in results),
        waiting_seconds=sum(each.waiting_seconds for each in results),
        hosts=tuple(results),
    )
