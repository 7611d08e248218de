"""Clients that each write a key of their own, and read it and those of others: at the primary, or at a further node too."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any, Final, Literal

from storeproof.contract import Causal, Layout, Session, Unknown, call
from storeproof.experiments.client import Strategy
from storeproof.history import Action, Answer, ClientLog, RequestOutcome
from storeproof.records.self_verifying import identify, record, write_id

MODEL: Final = "single_key"
"""The model of the keys."""
Way = Literal["only", "following", "spread", "tied"]
"""`only`: reads and writes at the only server. `following`: at the primary that there is. `spread`: writes there, and reads there and at
another node. `tied`: as `spread`, with the primary that the fault strikes in its place."""
_WRITES: Final = 0.4
"""The share of writes."""
_OWN: Final = 0.7
"""The share of reads that are of the client's own key."""
_ELSEWHERE: Final = 0.5
"""The share of reads at the other node, if there is one."""


class SessionClient(Strategy):
    """One request after another, as one user's."""

    def __init__(
        self,
        log: ClientLog,
        layout: Layout,
        name: str,
        clients: int,
        rng: random.Random,
        *,
        elsewhere: Callable[[], Session] | None = None,
        replaced: threading.Event | None = None,
        asking: Callable[[Session], None] = lambda _: None,
    ) -> None:
        """
        Args:
            name: of the round; its keys begin with it.
            clients: how many there are: keys of any of them are read.
            elsewhere: opens a session with another node, for some of the reads; who gives it closes what it opened.
            replaced: set when another node is the primary: the client then connects again, as a driver that looks for the primary does.
            asking: told the session before each request.
        """
        self._log = log
        self._layout = layout
        self._name = name
        self._clients = clients
        self._rng = rng
        self._elsewhere = elsewhere
        self._replaced = replaced
        self._asking = asking
        self._other: Session | None = None
        self._sequence = 0
        self._position: Any = None
        """What it has seen, for sessions that can be told."""
        self._connected = False
        """Whether it has just connected."""
        self._under_way: Action | None = None
        self._key = ""
        self._reply: Any = None

    def use(self, session: Session) -> None:
        """Write there from now on, but first read what was written: the next write would hide that it is gone."""
        self._session, self._connected = session, True

    def request(self) -> None:
        """One write, or one read."""
        if self._replaced is not None and self._replaced.is_set():
            self._replaced = None
            raise Unknown("another node is the primary")
        self._reply = None
        first, self._connected = self._connected, False
        if first:
            self._read(self._log.client, self._session)
        elif self._rng.random() < _WRITES:
            self._sequence += 1
            self._key, new_id = self._key_of(self._log.client), write_id(self._log.client, self._sequence)
            self._send("put", self._session, new_id, record(self._layout.model, self._key, new_id))
        else:
            own = self._rng.random() < _OWN
            elsewhere = self._elsewhere is not None and self._rng.random() < _ELSEWHERE
            self._read(self._log.client if own else self._rng.randrange(self._clients), self._at_other() if elsewhere else self._session)

    def end(self, outcome: RequestOutcome) -> None:
        """Record it, if it was sent."""
        if self._under_way is None:
            return
        action, self._under_way = self._under_way, None

        def answer() -> Answer:
            if action == "put" or self._reply is None:
                return None
            found = identify(self._layout.model, self._key, self._reply)
            return found.write_id or f"({found.kind})"

        self._log.end(outcome, answer)

    def _read(self, client: int, session: Session) -> None:
        self._key = self._key_of(client)
        try:
            self._send("get", session)
        except Unknown:
            self._other = None
            raise

    def _send(self, action: Action, session: Session, new_id: str = "", *written: Any) -> None:
        collection = session.collection(self._layout)
        if isinstance(session, Causal):
            session.follow(self._position)
        self._under_way = action
        self._asking(session)
        self._log.invoke(action, (self._layout.model.model, self._key), write_id=new_id)
        self._reply = call(collection, self._layout, action, self._key, *written)
        if isinstance(session, Causal):
            self._position = session.position()

    def _at_other(self) -> Session:
        if self._other is None:
            assert self._elsewhere is not None
            self._other = self._elsewhere()
        return self._other

    def _key_of(self, client: int) -> str:
        return f"{self._name}:{client}"
