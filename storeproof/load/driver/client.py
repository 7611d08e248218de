"""One client of the driver engine: one session, with one request in flight."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Event
from time import monotonic_ns, sleep
from typing import Any, Final

from storeproof.contract import Breach, Collection, Refused, Unknown, Unsupported
from storeproof.load.arrivals import Schedule
from storeproof.load.calls import BoundOperation, bind_operation
from storeproof.load.engine import Plan, label, operation_name
from storeproof.records.arguments import Arguments, arguments_of
from storeproof.records.distributions import Draw
from storeproof.records.keys import NewKeys, draw_existing
from storeproof.records.self_verifying import recipe
from storeproof.spec.workload import Mix

LOST_CAUSE: Final = 100
"""Errors in a row after which a client gives up: the store is gone, or refuses all."""
ROUND: Final = 1 << 24
"""Requests of one client that a round's write ids have room for."""
_SAMPLES: Final = 3


@dataclass
class ClientCounts:
    """What one client saw of one operation: its times one by one, in nanoseconds, since a histogram takes longer to record."""

    ok: int = 0
    misses: int = 0
    errors: int = 0
    malformed: int = 0
    latencies: array[int] = field(default_factory=lambda: array("q"))
    responses: array[int] = field(default_factory=lambda: array("q"))
    """Open loop: of the same requests, from when they were due."""


@dataclass
class ClientResult:
    """What one client did in one round; times in nanoseconds. Filled while the client runs."""

    client: int
    counts: list[ClientCounts]
    position: int
    """New keys used, in this round and before."""
    removed: int = 0
    """How many of the new keys were removed again."""
    ended_ns: int = 0
    elapsed: int = 0
    settled: int = 0
    """From its start to its first reply; 0 before."""
    settled_ok: int = 0
    """Successful records by then."""
    busy: int = 0
    """In calls of the store's client."""
    pause: int = 0
    """Between calls: arguments made, replies verified."""
    requests: int = 0
    schedule_lags: array[int] = field(default_factory=lambda: array("q"))
    """Open loop: from when a request was due, and its client free, to when it was sent."""
    indeterminate: list[int] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    broken: bool = False
    """A reply was lost or the contract broken: the session is not to be used again."""

    @classmethod
    def of(cls, plan: Plan, client: int) -> ClientResult:
        """Before the round."""
        position, removed = (each[client] if each else 0 for each in (plan.positions, plan.removed))
        return cls(client, [ClientCounts() for _ in plan.mix], position, removed)

    @property
    def ok(self) -> int:
        """Successful records."""
        return sum(each.ok for each in self.counts)

    def answered(self, begun: int, sent: int, ended: int) -> None:
        """A request has ended."""
        self.busy += ended - sent
        self.requests += 1
        if self.requests == 1:
            self.settled, self.settled_ok = ended - begun, self.ok

    def rate(self, longest: int) -> float:
        """Successful records per second, as `RunResult.throughput` says: in a closed loop from its first reply to its last, and without a
        second one in the time of the client that took `longest`."""
        if self.schedule_lags:
            return self.ok * 1e9 / self.elapsed
        if self.elapsed > self.settled:
            return (self.ok - self.settled_ok) * 1e9 / (self.elapsed - self.settled)
        return self.ok * 1e9 / longest if longest else 0.0

    @property
    def errors(self) -> int:
        return sum(each.errors + each.malformed for each in self.counts)


@dataclass(frozen=True)
class _Step:
    mix: Mix
    arguments: Arguments
    bound: BoundOperation
    counts: ClientCounts


def run_client(
    collection: Collection, plan: Plan, result: ClientResult, start_ns: int, halt: Event, schedule: Schedule | None = None
) -> None:
    """Send requests from `start_ns` (monotonic) on for as long as the plan says, or until `halt` is set.

    The request that is in flight at the deadline is finished and counted, and the client's own time ends with it:
    a rate taken over whole requests has no error from the last one being cut. With a schedule, which is an open loop, requests are
    sent when they are due, and the time is everyone's.
    """
    random = Random(f"{plan.seed}:{result.client}")
    fresh = NewKeys(plan.known, result.client, plan.clients, result.position, random, result.removed, plan.indeterminate)
    steps = [_step(collection, plan, place, counts, fresh, random) for place, counts in enumerate(result.counts)]
    pick = _chooser(steps, fresh, random)
    sequence = plan.number * ROUND
    in_a_row = 0
    clock = monotonic_ns
    halted = halt.is_set

    sleep(max(0.0, (start_ns - clock()) / 1e9))
    begun = ended = clock()
    deadline = begun + int(plan.seconds * 1e9)  # on a busy machine a client may wake up late: it still has its whole time
    due = 0
    while ended < deadline and in_a_row < LOST_CAUSE and not halted():
        if schedule is not None:
            if (taken := schedule.take()) is None:
                break
            sleep(max(0.0, ((due := taken) - clock()) / 1e9))
            if clock() >= schedule.deadline:
                schedule.give_up()
                break
        step = pick()
        todo = step.bound
        args, numbers = step.arguments(sequence)
        sequence += 1
        sent, free = clock(), ended
        result.pause += sent - free
        try:
            reply = todo.call(*args)
            ended = clock()
            if wrong := todo.wrong(args, reply):
                raise Breach(f"{todo.operation.name}: {wrong}")
        except Exception as failure:  # noqa: BLE001 - an adapter may leak anything; each is counted, none ends the round
            ended = clock()
            if todo.operation.writes:
                result.indeterminate.extend(numbers)
                fresh.indeterminate.update(numbers)
            _note(failure, step, result)
            in_a_row += 1
        else:
            in_a_row = 0
            missed, size = todo.missed(reply), len(numbers) or 1  # a request for no certain record counts as one
            counts = step.counts
            counts.misses += missed
            counts.ok += size - missed
            if missed < size:
                counts.latencies.append(ended - sent)
                if schedule is not None:
                    counts.responses.append(ended - due)
        if schedule is not None:
            result.schedule_lags.append(sent - max(due, free))
        result.answered(begun, sent, ended)
    result.ended_ns = ended
    result.elapsed = ended - begun if schedule is None else max(ended, schedule.deadline) - start_ns
    result.position, result.removed = fresh.position, fresh.removed


def _note(failure: Exception, step: _Step, result: ClientResult) -> None:
    if isinstance(failure, (Refused, Unsupported)):
        step.counts.errors += 1
    elif isinstance(failure, Unknown):
        step.counts.errors += 1
        result.broken = True
    else:
        step.counts.malformed += 1
        result.broken = True
    if len(result.samples) < _SAMPLES:
        result.samples.append(f"{label(step.mix)}: {type(failure).__name__}: {failure}")


def _chooser(steps: list[_Step], fresh: NewKeys, random: Random) -> Callable[[], _Step]:
    """Draws a step by weight; one that removes is drawn only while there is something to remove."""
    if len(steps) == 1:
        only = steps[0]
        return lambda: only
    wheel = [step for step in steps for _ in range(step.mix.weight)]
    draw, size = random.random, len(wheel)

    def any_of_all() -> _Step:
        return wheel[int(draw() * size)]

    def any_that_can() -> _Step:
        while (step := any_of_all()).mix.keys == "oldest" and not fresh.any_left:
            pass
        return step

    return any_that_can if any(step.mix.keys == "oldest" for step in steps) else any_of_all


def _step(collection: Collection, plan: Plan, place: int, counts: ClientCounts, fresh: NewKeys, random: Random) -> _Step:
    """A mix made ready: what to call, and how its arguments are made. Replies are verified by the caller, as the guard does."""
    mix = plan.mix[place]
    ready = bind_operation(collection, plan, mix)
    if mix.request is not None:
        arguments = _asking(plan.requests[place], random)
    else:
        draw = _draw(mix, plan.known, fresh, random)
        made, writer = recipe(plan.layout.model, article_store=plan.article_store, fixed_numbers=plan.fixed_numbers), fresh.client + 1
        arguments = arguments_of(operation_name(mix), mix, made, draw, lambda sequence: f"{writer}:{sequence}", random.random)
    return _Step(mix, arguments, ready, counts)


def _draw(mix: Mix, known: int, fresh: NewKeys, random: Random) -> Draw:
    match mix.keys:
        case None | "new":
            return fresh.draw(mix.distinct)
        case "oldest":
            return fresh.oldest
        case keys:
            return draw_existing(keys, known, fresh, random)


def _asking(requests: Sequence[tuple[Any, ...]], random: Random) -> Arguments:
    """One of the requests that were made ready."""
    draw, size = random.random, len(requests)
    return lambda _sequence: (requests[int(draw() * size)], ())
