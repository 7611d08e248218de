"""One client of the driver engine: a closed loop over one session, with one request in flight."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Event
from time import monotonic_ns, sleep
from typing import Any, Final

from storeproof.contract import OPERATIONS, Breach, Collection, Refused, Unknown, Unsupported, why_not
from storeproof.contract.operations import Operation, wrong_reply
from storeproof.contract.values import MISSING
from storeproof.errors import UsageError
from storeproof.load.article_records import ArticleRecipe
from storeproof.load.distributions import Draw
from storeproof.load.engine import Plan, called, label
from storeproof.load.keys import NewKeys, existing
from storeproof.load.records import Recipe, recipe
from storeproof.spec.workload import Mix

LOST_CAUSE: Final = 100
"""Errors in a row after which a client gives up: the store is gone, or refuses all."""
ROUND: Final = 1 << 24
"""Requests of one client that a round's stamps have room for."""
_SAMPLES: Final = 3

Arguments = Callable[[int], tuple[tuple[Any, ...], tuple[int, ...]]]
"""(sequence) -> the arguments of the call, and the numbers of the keys that they name."""


@dataclass
class Tally:
    """What one client saw of one operation."""

    ok: int = 0
    misses: int = 0
    errors: int = 0
    malformed: int = 0
    latencies: array[int] = field(default_factory=lambda: array("q"))


@dataclass
class ClientResult:
    """What one client did in one round; times in nanoseconds. Filled while the client runs."""

    client: int
    tallies: list[Tally]
    position: int
    """New keys used, in this round and before."""
    removed: int = 0
    """Of these, how many were removed again."""
    ended_ns: int = 0
    elapsed: int = 0
    busy: int = 0
    """In calls of the store's client."""
    pause: int = 0
    """Between calls: arguments made, replies verified."""
    requests: int = 0
    doubtful: list[int] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    broken: bool = False
    """A reply was lost or the contract broken: the session is not to be used again."""

    @classmethod
    def of(cls, plan: Plan, client: int) -> ClientResult:
        """Before the round."""
        position, removed = (counts[client] if counts else 0 for counts in (plan.positions, plan.removed))
        return cls(client, [Tally() for _ in plan.mix], position, removed)

    @property
    def ok(self) -> int:
        """Successful records."""
        return sum(tally.ok for tally in self.tallies)

    @property
    def errors(self) -> int:
        """Requests that failed."""
        return sum(tally.errors + tally.malformed for tally in self.tallies)


@dataclass(frozen=True)
class _Step:
    mix: Mix
    arguments: Arguments
    call: Callable[..., Any]
    missed: Callable[[Any], int]
    operation: Operation
    tally: Tally


def run_client(collection: Collection, plan: Plan, result: ClientResult, start_ns: int, halt: Event) -> None:
    """Send requests from `start_ns` (monotonic) on for as long as the plan says, or until `halt` is set.

    The request that is in flight at the deadline is finished and counted, and the client's own time ends with it:
    a rate taken over whole requests has no error from the last one being cut.
    """
    random = Random(f"{plan.seed}:{result.client}")
    fresh = NewKeys(plan.known, result.client, plan.clients, result.position, random, result.removed, plan.unsure)
    steps = [_step(collection, plan, place, tally, fresh, random) for place, tally in enumerate(result.tallies)]
    pick = _chooser(steps, fresh, random)
    sequence = plan.number * ROUND
    in_a_row = 0
    clock = monotonic_ns
    layout = plan.layout
    halted = halt.is_set

    sleep(max(0.0, (start_ns - clock()) / 1e9))
    begun = ended = clock()
    deadline = begun + int(plan.seconds * 1e9)  # on a busy machine a client may wake up late: it still has its whole time
    while ended < deadline and in_a_row < LOST_CAUSE and not halted():
        step = pick()
        args, numbers = step.arguments(sequence)
        sequence += 1
        sent = clock()
        result.pause += sent - ended
        try:
            reply = step.call(*args)
            ended = clock()
            if wrong := wrong_reply(step.operation, layout, args, reply):
                raise Breach(f"{step.operation.name}: {wrong}")
        except Exception as failure:  # noqa: BLE001 - an adapter may leak anything; each is counted, none ends the round
            ended = clock()
            if step.operation.writes:
                result.doubtful.extend(numbers)
                fresh.unsure.update(numbers)
            _note(failure, step, result)
            in_a_row += 1
        else:
            in_a_row = 0
            missed, size = step.missed(reply), len(numbers) or 1  # a request for no certain record counts as one
            tally = step.tally
            tally.misses += missed
            tally.ok += size - missed
            if missed < size:
                tally.latencies.append(ended - sent)
        result.busy += ended - sent
        result.requests += 1
    result.ended_ns, result.elapsed = ended, ended - begun
    result.position, result.removed = fresh.position, fresh.removed


def _never(_reply: Any) -> int:
    return 0


def _if_none(reply: Any) -> int:
    return 1 if reply is None else 0


def _if_false(reply: Any) -> int:
    return 0 if reply else 1


def _if_missing(reply: Any) -> int:
    return 1 if reply is MISSING else 0


def _nones(reply: Any) -> int:
    return sum(1 for each in reply if each is None)


def _if_empty(reply: Any) -> int:
    return 0 if reply else 1


def _if_nothing_found(reply: Any) -> int:
    return 0 if reply.total else 1


MISSED: Final[Mapping[str, Callable[[Any], int]]] = {
    "get": _if_none,
    "put": _never,
    "exists": _if_false,
    "get_many": _nones,
    "put_many": _never,
    "get_field": _if_none,
    "set_field": _never,
    "get_path": _if_missing,
    "set_path": _if_false,
    "increment": _never,
    "put_if_absent": _if_false,
    "delete": _if_false,
    "find": _if_empty,
    "count_where": _if_empty,
    "aggregate": _if_empty,
    "browse": _if_nothing_found,
}
"""(reply) -> how many of the records that a request was about were not there; for each operation the engine can run.

What is asked is asked of words and values of records that are there: an empty answer is one that was missed.
"""


def _note(failure: Exception, step: _Step, result: ClientResult) -> None:
    if isinstance(failure, (Refused, Unsupported)):
        step.tally.errors += 1
    elif isinstance(failure, Unknown):
        step.tally.errors += 1
        result.broken = True
    else:
        step.tally.malformed += 1
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


def _step(collection: Collection, plan: Plan, place: int, tally: Tally, fresh: NewKeys, random: Random) -> _Step:
    """A mix made ready: what to call, and how its arguments are made. Replies are verified by the caller, as the guard does."""
    mix = plan.mix[place]
    name = called(mix)
    if name not in MISSED:
        raise UsageError(f"the driver engine does not run `{name}`; it runs {', '.join(sorted(MISSED))}")
    operation = OPERATIONS[name]
    if not isinstance(collection, operation.family):
        raise Unsupported(f"{name} on {plan.layout.model.model}: {why_not(collection, operation.family.__name__)}")
    if mix.request is not None:
        arguments = _asking(plan.requests[place], random)
    else:
        draw = _draw(mix, plan.known, fresh, random)
        made, writer = recipe(plan.layout.model, shelf=plan.shelf, fixed_numbers=plan.fixed_numbers), fresh.client + 1
        arguments = arguments_of(name, mix, made, draw, lambda sequence: f"{writer}:{sequence}")
    return _Step(mix, arguments, getattr(collection, name), MISSED[name], operation, tally)


def _draw(mix: Mix, known: int, fresh: NewKeys, random: Random) -> Draw:
    match mix.keys:
        case None | "new":
            return fresh.draw(mix.distinct)
        case "oldest":
            return fresh.oldest
        case keys:
            return existing(keys, known, fresh, random)


def _asking(requests: Sequence[tuple[Any, ...]], random: Random) -> Arguments:
    """One of the requests that were made ready."""
    draw, size = random.random, len(requests)
    return lambda _sequence: (requests[int(draw() * size)], ())


def arguments_of(name: str, mix: Mix, made: Recipe | ArticleRecipe, draw: Draw, stamp: Callable[[int], str]) -> Arguments:
    """How the arguments of an operation are made. `stamp` is of a request: it names the writer, of which 0 is who loaded the data."""
    make, key_at = made.make, made.key

    def key_only(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        return (key_at(number),), (number,)

    def key_and_record(sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        key = key_at(number)
        return (key, make(key, stamp(sequence))), (number,)

    def many_keys(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        numbers = tuple(draw() for _ in range(mix.batch))
        return ([key_at(number) for number in numbers],), numbers

    def many_records(sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        numbers = tuple(dict.fromkeys(draw() for _ in range(mix.batch)))
        text = stamp(sequence)
        return ({(key := key_at(number)): make(key, text) for number in numbers},), numbers

    path: Any = mix.path[0] if name.endswith("_field") and mix.path else mix.path

    def key_and_path(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        return (key_at(number), path), (number,)

    def key_path_and_part(sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        key = key_at(number)
        return (key, path, made.part(key, stamp(sequence), mix.path)), (number,)

    def key_and_one(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        return (key_at(number), 1), (number,)

    return {
        "put": key_and_record,
        "put_if_absent": key_and_record,
        "get_many": many_keys,
        "put_many": many_records,
        "get_field": key_and_path,
        "get_path": key_and_path,
        "set_field": key_path_and_part,
        "set_path": key_path_and_part,
        "increment": key_and_one,
    }.get(name, key_only)
