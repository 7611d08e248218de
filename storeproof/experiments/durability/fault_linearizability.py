"""Hot keys across a fault: clients read and write, the fault strikes among them, and others go on with the same keys on what survived."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic_ns

from storeproof.check import MOST_CLIENTS
from storeproof.contract import Layout, Session, Unknown
from storeproof.experiments.client_threads import running
from storeproof.experiments.contended_keys import SHARE, SPARE, Client, Hot, Kind, histories, work_together
from storeproof.experiments.linearizability import Linearity
from storeproof.faults import Fault
from storeproof.history import Access
from storeproof.launch.handle import Handle
from storeproof.spec.scale import DurabilityScale

_KEYS = 2
"""Of each kind, new ones in every round."""

_AFTER = 2
"""Clients that go on after the fault; the first of them reads every key before they do."""

_MORE = 3
"""Operations that each client still begins when the fault is on its way. A store without its disk may answer on and on, and each such
answer is one more that may be true or not: the search for an order would never end."""

_LONGEST = 10.0
"""Seconds until enough was done for the fault to strike; on slow disks it strikes then."""


class Crossing:
    """One store, one fault, many rounds."""

    def __init__(
        self,
        handle: Handle,
        fault: Fault,
        kinds: Mapping[Kind, Layout],
        scale: DurabilityScale,
        *,
        connect: Callable[[Handle], Session],
        rng: random.Random,
        judged: Linearity,
        done: int = 0,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._handle = handle
        self._fault = fault
        self._kinds = kinds
        self._scale = scale
        self._connect = connect
        self._rng = rng
        self._judged = judged
        self._progress = progress
        self.done = done
        """Rounds that were struck and judged: those of an earlier store, and since then of this one."""

    def run(self) -> None:
        """Strike as often as the scale says, and judge every key.

        Raises:
            StoreDied: it ended by itself, or does not start again.
            MachineFailed, Unknown: the machine failed, or it runs and does not answer; the rounds before that are `done`.
        """
        self._prepare()
        if self._fault.cuts_off:
            self._handle.quiesce()  # a cut while the store creates itself is another trial
        for number in range(self.done + 1, self._scale.rounds + 1):
            self._progress(f"round {number}/{self._scale.rounds}")
            self._handle.wait_whole()
            try:
                self._round(number)
            except Unknown:
                self._handle.check_alive()
                raise
            self.done = number

    def _round(self, number: int) -> None:
        keys = [Hot(kind, layout, f"round{number}:hot{each}") for kind, layout in self._kinds.items() for each in range(_KEYS)]
        before, struck, ended = self._strike(keys)
        self._handle.start()
        self._prepare()
        after = self._go_on(keys)
        done = histories([*before, *after])
        cut = self._fault.cuts_off
        self._judged.judge({hot: [_as_known(each, struck, ended, cut=cut) for each in done[hot]] for hot in done}, ended)

    def _strike(self, keys: Sequence[Hot]) -> tuple[list[Client], int, int]:
        """Clients under load, the fault among them, and from when to when it struck."""
        clients = self._clients(keys, min(MOST_CLIENTS, self._scale.clients), 0, SHARE)
        with running([partial(client.run, more=_MORE) for client in clients]) as load:
            wanted = self._rng.uniform(0.2, 0.7) * SHARE * len(keys) * len(clients)
            wait, deadline = self._rng.uniform(*self._scale.load_seconds), time.monotonic() + _LONGEST
            until = time.monotonic() + wait
            while sum(client.count for client in clients) < (wanted if time.monotonic() < until else 1) and time.monotonic() < deadline:
                time.sleep(0.001)
            self._handle.check_alive()
            if all(client.lost for client in clients):
                raise Unknown(f"all clients lost their connection before the fault: {clients[0].lost}")
            load.stop.set()
            struck = monotonic_ns()
            self._fault.strike(self._handle)
            ended = monotonic_ns()
        for client in clients:
            if client.failure is not None:
                raise client.failure
        return clients, struck, ended

    def _go_on(self, keys: Sequence[Hot]) -> list[Client]:
        """Read everything, then work on."""
        clients = self._clients(keys, _AFTER, MOST_CLIENTS, SPARE // _AFTER // 2)
        try:
            for hot in keys:
                clients[0].do(hot, "get")
        except BaseException:
            for client in clients:
                client.close()
            raise
        work_together(clients)
        return clients

    def _clients(self, keys: Sequence[Hot], number: int, first: int, share: int) -> list[Client]:
        clients: list[Client] = []
        try:
            while len(clients) < number:
                rng = random.Random(self._rng.getrandbits(64))
                clients.append(Client(self._connect(self._handle), first + len(clients), keys, share, rng))
        except BaseException:
            for client in clients:
                client.close()
            raise
        return clients

    def _prepare(self) -> None:
        session = self._connect(self._handle)
        try:
            for layout in self._kinds.values():
                session.collection(layout).prepare()
        finally:
            session.close()


def _as_known(access: Access, struck: int, ended: int, *, cut: bool) -> Access:
    """What a store answered that had lost its disk already, nobody can rely on."""
    if not cut or access.completed is None or not struck <= access.completed <= ended:
        return access
    return replace(access, completed=None, outcome="unknown", answer=None)
