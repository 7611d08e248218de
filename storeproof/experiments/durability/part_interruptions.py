"""Rounds in which a server of a composite store, or both, is interrupted, while clients read and write.

    fill the home | read and write | interrupt: clients give up | go on | write every key again | deliver what is late | read every key

What the layer sent before it gave up may reach a server after newer writes. So every key is written once more before that is delivered, and
read afterwards. No acknowledged write may be missing in the home, and no read may return what was replaced. The records are in the home
alone at first: most of the first reads find no copy, and many requests that fill one are under way when the interruption strikes.

Where writes wait for the home (`write-behind`), it is given them before it is looked at. How many there were when the interruption ended is
counted, and how long it took until the home had them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Final

from storeproof.check import Finding, staleness, together
from storeproof.contract import Cached, Collection, Layout, Session
from storeproof.experiments.client import Client, ClosedLoop, open_clients, send_some, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.contended_keys import ContendedKey, ContendedKeys, KeyType
from storeproof.experiments.durability.interruption_summary import InterruptionSummary, Waited
from storeproof.experiments.durability.readback import audit
from storeproof.experiments.fault_experiment import FaultExperiment, Subject, check_load
from storeproof.experiments.waiting_writes import carry_out
from storeproof.faults.interruption import Interruption
from storeproof.history import Action, Recorder, by_place

_NAME: Final = "interrupted"
"""Of the type of the keys: readers and writers have the same keys."""
_READ: Final[Mapping[Action, int]] = {"get": 1}
_WRITE: Final[Mapping[Action, int]] = {"put": 9, "delete": 1}
_PUT: Final[Mapping[Action, int]] = {"put": 1}

_KEYS: Final = 50
"""Of a round; every round has new ones."""
_WRITERS: Final = 0.25
"""Share of the clients that write; at least two."""
_MOST: Final = 20
"""Requests of one client for one key."""
_BEFORE: Final = (0.2, 0.8)
"""Requests that are answered before the interruption, as a share of the keys: early enough that copies are still being filled."""
_LONGEST: Final = 10.0
"""Seconds after which it strikes even if fewer were answered."""
_GIVES_UP: Final = 20.0
"""Seconds that the first client may take to give up, which is more than the time-out of any adapter."""
_OTHERS: Final = 0.3
"""Seconds that the other clients are given after the first, and that the later rounds last: then those that wait find their connections
broken, and give up."""
_LOOK: Final = 0.002


class PartInterruptions(FaultExperiment[int]):
    """One composite store, one interruption, some rounds; a round is represented by its number, from 1."""

    _queue: Collection
    """Which counts the writes that wait for the home."""

    def __init__(
        self,
        subject: Subject,
        interruption: Interruption,
        layout: Layout,
        clients: int,
        rounds: int,
        *,
        patient: bool,
        home: Callable[[], Session],
        summary: InterruptionSummary,
    ) -> None:
        """
        Args:
            patient: the first round lasts until a client has given up by itself, which takes many seconds if requests hang.
            home: opens a session with the home alone, past the layer and past the interruption.
            summary: of earlier rounds, on another store; the rounds continue from there.
        """
        super().__init__(subject)
        self.summary = summary
        self._interruption = interruption
        self._layout = layout
        self._number = max(3, clients)
        self._rounds = rounds
        self._patient = patient
        self._home = home
        self._recorder = Recorder()
        self._clients: list[Client] = []
        self._ended = 0.0
        self._waiting = 0

    def setup(self) -> None:
        """Create the collection in both servers."""
        with self.subject.session() as session:
            session.collection(self._layout).prepare()

    def rounds(self) -> Iterator[int]:
        """The rounds that are not in the summary yet."""
        for number in range(self.summary.rounds + 1, self._rounds + 1):
            self.subject.progress(f"round {number}/{self._rounds}")
            yield number

    @contextmanager
    def load(self) -> Iterator[None]:
        """Records without copies, and clients that read and write them."""
        self._recorder = Recorder()
        self._each_key(self._home, _PUT)
        before = self._recorder.ended
        writers = max(2, round(self._number * _WRITERS))
        kinds = iter([_WRITE] * writers + [_READ] * (self._number - writers))
        self._clients = open_clients(self._number, lambda: self._client(next(kinds)))
        with self.subject.session() as session, under_load(self._clients) as load:
            self._queue = session.collection(self._layout)  # opened now: while a server is interrupted it could not be
            wanted = before + self.subject.rng.uniform(*_BEFORE) * _KEYS
            wait_until(lambda: self._recorder.ended >= wanted or not load.alive, _LONGEST, _LOOK)
            check_load(self.handle, self._clients)
            yield

    def fault(self) -> None:
        """Interrupt the server for a moment; in the first round, if that is wanted, until a client has given up by itself."""
        try:
            self._interruption.strike()
            wait_until(lambda: not self._patient or self.round > 1 or self._given_up > 0, _GIVES_UP, _LOOK)
            time.sleep(_OTHERS)
            self._waiting = self._queue.waiting if isinstance(self._queue, Cached) else 0
        finally:
            self._interruption.end()
            self._ended = time.monotonic()

    def recover(self) -> None:
        """Nothing has ended."""
        self.handle.check_alive()

    def audit(self) -> None:
        """Look for acknowledged writes in the home; write every key, deliver what is late, read every key, and look in the home again."""
        given_up = self._given_up
        self._give_home()
        waited = Waited(self._waiting, time.monotonic() - self._ended)
        found = self._in_home()
        self._each_key(self.subject.open, _PUT)
        self._interruption.deliver()
        self._each_key(self.subject.open, _READ)
        self._give_home()
        operations = self._recorder.operations()
        reads = together(staleness(each) for each in by_place(operations).values())
        self.summary.add(given_up, operations, reads, [*found, *self._in_home()], waited)

    @property
    def _given_up(self) -> int:
        """The number of requests that clients have given up."""
        return sum(client.unknown for client in self._clients)

    def _client(self, weights: Mapping[Action, int]) -> Client:
        """One that reconnects. A reader begins with each key once."""
        log, rng = self._recorder.client(), random.Random(self.subject.rng.getrandbits(64))
        keys = self._keys(weights)
        first = rng.sample(keys, len(keys)) if weights is _READ else ()
        return Client(self.subject.open, ContendedKeys(log, keys, _MOST, rng, first), ClosedLoop(reconnects=True))

    def _keys(self, weights: Mapping[Action, int]) -> Sequence[ContendedKey]:
        kind = KeyType(_NAME, self._layout.model.model, weights)
        return [ContendedKey(kind, self._layout, f"round{self.round}:{number}") for number in range(_KEYS)]

    def _each_key(self, connect: Callable[[], Session], weights: Mapping[Action, int]) -> None:
        """One request for each key, in any order. Raises `Unknown` if the connection is lost."""
        rng = random.Random(self.subject.rng.getrandbits(64))
        strategy = ContendedKeys(self._recorder.client(), self._keys(weights), 1, rng)
        send_some(Client(connect, strategy), _KEYS)

    def _give_home(self) -> None:
        """Give the home the writes that wait for it. Raises `Unknown` if a server does not answer."""
        with self.subject.session() as session:
            carry_out(session, [self._layout])

    def _in_home(self) -> list[Finding]:
        """What the home has, held against the writes so far."""
        writes = by_place(each for each in self._recorder.operations() if each.action != "get")
        with closing(self._home()) as session:
            findings, _ = audit(session, {_NAME: self._layout}, writes)
        return findings
