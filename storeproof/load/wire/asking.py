"""What a client asks next: an operation by weight, and the keys that it is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from storeproof.load.wire.request import Job, Op, Patch
from storeproof.load.wire.tally import Count
from storeproof.load.wire.writing import Place, Writer, places
from storeproof.records.distributions import NOTHING_LOADED, Newest, drawn, sequential
from storeproof.records.filler import pick
from storeproof.records.keys import NewKeys

_AGAIN: Final = 100
"""Draws after which a batch may name a key twice: there are hardly more keys than it takes."""
_IN_VAIN: Final = 1000
"""Draws of the newest keys after which any loaded one is taken, as happens where the newer ones were removed."""


class Task:
    """One operation, as one client carries it out."""

    def __init__(self, op: Op, count: Count, writers: Sequence[Writer], draw: Callable[[], Any], random: Random, place: Place) -> None:
        self.op = op
        self.count = count
        self.draw = draw
        """The number of a key, the numbers of a batch, or 0 for an operation that names none."""
        self.hit = frozenset(op.hit)
        self.miss = frozenset(op.miss)
        self.batch = op.batch
        self.then: Task | None = None
        """What is asked next of the same keys."""
        self.frames = op.frames
        self.allowed = " or ".join(str(count) for count in sorted(self.hit | self.miss))
        self.only = writers[0] if len(writers) == 1 and not writers[0].below else None
        """The writer of all its requests, where there is one."""
        self._writers = writers
        self._random = random
        self._place = place

    def missed(self, count: int) -> int | None:
        """How many of a request's records were not there, of which a reply counts so many; None: it is no answer to what was asked."""
        if count in self.hit:
            return 0
        if count in self.miss:
            return self.batch - count if 0 <= count < self.batch else self.batch
        return None if self.hit else 0

    def writer(self, number: Any, stamp: bytes) -> Writer | None:
        """Of a request for these keys; None where no template has room for them."""
        writers = self._writers
        if self.op.form == "chance":
            return writers[int(self._random.random() * len(writers))]
        if self.op.form == "record":
            return writers[pick(self._place(number, stamp), len(writers))]
        largest = number if type(number) is int else max(number)  # what holds the largest of a batch holds the others
        return next((writer for writer in writers if largest < writer.below or not writer.below), None)

    def numbers(self, number: Any) -> tuple[int, ...]:
        """The keys that a draw names."""
        if self.op.keys == "none":
            return ()
        return (number,) if type(number) is int else tuple(number)


class Written(NamedTuple):
    """A request that is in flight. The second one of an operation has the times of the first."""

    task: Task
    sent: int
    intended: int
    number: Any
    request_id: int
    id_reply: tuple[int, int, str] | None


class Common:
    """What all clients share: the new keys of each, which of these are there, and which of them is the newest."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.place = places(job)
        """Of a record's filler."""
        self._writers = [[Writer(job, op, template) for template in op.templates] for op in job.ops]
        self._counters: dict[int, Callable[[], int]] = {}
        self._clients: list[tuple[NewKeys, Collection[Written]]] = []
        self.newest = job.known - 1

    def join(self, fresh: NewKeys, in_flight: Collection[Written]) -> None:
        """One more client, in their order; `in_flight` are its requests that are not answered yet."""
        self._clients.append((fresh, in_flight))
        if fresh.position:
            self.acknowledge(self._job.known + (fresh.position - 1) * len(self._job.sockets) + fresh.client)

    def writers(self, place: int, op: Op, patches: Sequence[Patch]) -> list[Writer]:
        """Of an operation; clients with bytes of their own have writers of their own."""
        of_each = [[patch for patch in patches if (patch.op, patch.template) == (place, each)] for each in range(len(op.templates))]
        if not any(of_each):
            return self._writers[place]
        return [Writer(self._job, op, template, own) for template, own in zip(op.templates, of_each, strict=True)]

    def counter(self, place: int) -> Callable[[], int]:
        """The next key of an operation that takes one after the other."""
        return self._counters.setdefault(place, sequential(self._job.known))

    def acknowledge(self, number: int) -> None:
        """It is there now."""
        if number > self.newest:
            self.newest = number

    def there(self, number: int) -> bool:
        """Whether a key is certain to be there."""
        if number < self._job.known:
            return True
        position, client = divmod(number - self._job.known, len(self._job.sockets))
        fresh, in_flight = self._clients[client]
        if not fresh.removed <= position < fresh.position or number in fresh.unsure:
            return False
        return not any(number in each.task.numbers(each.number) for each in in_flight)


class Asker:
    """Draws one client's requests."""

    def __init__(self, job: Job, client: int, counts: Sequence[Count], common: Common) -> None:
        random = Random(f"{job.seed}:{client}")
        position, removed = (told[client] if told else 0 for told in (job.positions, job.removed))
        self.fresh = NewKeys(job.known, client, len(job.sockets), position, random, removed, job.unsure)
        self._random = random.random
        own = job.patches[client] if job.patches else ()
        tasks = []
        for place, (op, count) in enumerate(zip(job.ops, counts, strict=True)):
            one = _one(job, place, self.fresh, common, random)
            draw = _several(op, one) if op.batch > 1 else one
            tasks.append(Task(op, count, common.writers(place, op, own), draw, random, common.place))
        for task in tasks:
            task.then = None if task.op.then is None else tasks[task.op.then]
        self._wheel = [task for task in tasks for _ in range(task.op.weight)]
        self.pick: Callable[[], Task | None] = self._pick() if any(op.keys == "oldest" for op in job.ops) else self._any
        """The next operation; None where nothing is left to be done."""

    def _any(self) -> Task:
        return self._wheel[int(self._random() * len(self._wheel))]

    def _pick(self) -> Callable[[], Task | None]:
        """One that removes is drawn only while there is something to remove."""
        lasting = [task for task in self._wheel if task.op.keys != "oldest"]

        def any_that_can() -> Task | None:
            task = self._any()
            if task.op.keys != "oldest" or self.fresh.any_left:
                return task
            return lasting[int(self._random() * len(lasting))] if lasting else None

        return any_that_can


def _one(job: Job, place: int, fresh: NewKeys, common: Common, random: Random) -> Callable[[], int]:
    op = job.ops[place]
    match op.keys:
        case "none":
            return lambda: 0
        case "new":
            return fresh.draw(op.distinct)
        case "oldest":
            return fresh.oldest
        case "sequential":
            return common.counter(place)
        case "latest" | "exponential":
            if job.known < 1:
                raise ValueError(NOTHING_LOADED)
            newest = Newest(op.keys, job.known, random, job.theta)

            def recent() -> int:
                for _ in range(_IN_VAIN):
                    if common.there(number := common.newest - newest.draw(common.newest + 1)):
                        return number
                return int(random.random() * job.known)

            return recent
        case _:
            return drawn(op.keys, job.known, random, job.theta)


def _several(op: Op, draw: Callable[[], int]) -> Callable[[], tuple[int, ...]]:
    """Numbers of a batch, which names no key twice: many stores answer once to a key that they are asked for twice."""
    batch = range(op.batch)

    def distinct() -> tuple[int, ...]:
        numbers: dict[int, None] = {}
        for _ in batch:
            number, tries = draw(), 1
            while number in numbers and tries < _AGAIN:
                number, tries = draw(), tries + 1
            numbers[number] = None
        found = tuple(numbers)
        return found + found[:1] * (op.batch - len(found))

    return distinct
