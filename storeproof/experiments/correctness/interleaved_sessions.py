"""Plays the turns of several sessions, each request in a thread, so that a session that waits for a lock does not block the others."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from storeproof.contract import Collection, Layout, Refused, Session, Unknown, Unsupported, call, why_not
from storeproof.contract.notation import answer_from, arguments_from, shown
from storeproof.contract.sessions import Transactions
from storeproof.errors import MachineFailed
from storeproof.experiments.client_threads import ClientThread, wait_for
from storeproof.oracle import same
from storeproof.result.running_case import ATTEMPTS, WrongAnswer
from storeproof.spec.interleaving import Interleaving, Turn

_PATIENCE = 0.05
"""Seconds after which a request is assumed to wait for another session."""
_OPENINGS = 10
"""As many times as long as it took to open a session is waited at least: far away, or on a busy machine, every request takes longer."""
_MORE_PATIENT = 5
"""The factor by which each further attempt waits longer."""
_WAITS = " waits at "
_LONGEST = 15.0
"""Seconds to wait at the end: longer than the lock timeout of every store."""


class Speaker:
    """One session, whose requests are sent in threads, one at a time."""

    def __init__(self, name: str, session: Session, layout: Layout) -> None:
        if not isinstance(session, Transactions):
            session.close()
            raise Unsupported(why_not(session, "Transactions"))
        self.name = name
        self.committed = False
        self.refused = False
        self._session = session
        self._transactions: Transactions = session
        self._layout = layout
        self._collection: Collection = session.collection(layout)
        self._pending: tuple[Turn, ClientThread[Any]] | None = None

    def say(self, turn: Turn) -> None:
        """Send the request, in a thread."""
        answer = ClientThread(lambda: self._ask(turn), f"storeproof-{self.name}")
        self._pending = (turn, answer)
        answer.start()

    def hear(self, told: list[str], seconds: float) -> bool:
        """Wait for the answer and check it; False if it does not come in time. Raises `AssertionError`: the answer is wrong."""
        if self._pending is None:
            return True
        turn, answer = self._pending
        line = f"{self.name}: {shown(turn.do, turn.args)}"
        if not wait_for([answer], seconds):
            return False
        try:
            found = answer.result()
        except Refused as reason:
            self._pending, self.refused = None, True
            told.append(f"{line} refused: {str(reason)[:120]}")
            return True
        self._pending = None
        told.append(f"{line} -> {found!r}")
        self.committed |= turn.do == "commit"
        self._judge(turn, found, told)
        return True

    def close(self) -> None:
        """Roll back an open transaction and close the session, unless a request of it is under way all the time."""
        if self._pending is None or wait_for([self._pending[1]], _LONGEST):
            leaving = ClientThread(self._leave, f"storeproof-{self.name}")
            leaving.start()
            wait_for([leaving], _LONGEST)

    def _leave(self) -> None:
        try:
            self._transactions.rollback()
        finally:
            self._session.close()

    def _ask(self, turn: Turn) -> Any:
        if turn.do == "begin":
            return self._transactions.begin(*turn.args)
        if turn.do in ("commit", "rollback"):
            return getattr(self._transactions, turn.do)()
        return call(self._collection, self._layout, turn.do, *arguments_from(self._layout.model, turn.do, turn.args))

    def _judge(self, turn: Turn, found: Any, told: list[str]) -> None:
        model = self._layout.model
        if turn.alternatives is not None:
            names = [name for name, wanted in turn.alternatives.items() if same(found, answer_from(model, turn.do, wanted))]
            if not names:
                raise WrongAnswer(told, turn.do, found, f"one of the alternatives: {', '.join(turn.alternatives)}")
            told.append(f"alternative: {names[0]}")
        elif "expect" in turn.model_fields_set:
            wanted = answer_from(model, turn.do, turn.expect)
            if not same(found, wanted):
                raise WrongAnswer(told, turn.do, found, repr(wanted))


def play(interleaving: Interleaving, connect: Callable[[], Session], layout: Layout, told: list[str], attempt: int) -> str:
    """Play all turns and append the history to `told`. Returns the name of the recorded number of commits, or "".

    Only time distinguishes a request that waits for a lock from a slow one. If a request was assumed to wait and an answer is wrong, the
    turns may have been executed out of order: the next attempt waits longer, and the answers of the last attempt count.

    Raises:
        AssertionError: an answer or the number of commits is wrong.
        MachineFailed: the same, but a request that was assumed to wait may have been slow.
        Unknown: a request was not answered.
        Unsupported: the store has no such transactions.
    """
    try:
        return _play(interleaving, connect, layout, told, _MORE_PATIENT ** (attempt - 1))
    except AssertionError as wrong:
        if attempt < ATTEMPTS and any(_WAITS in line for line in told):
            raise MachineFailed(f"a request that was not answered soon was assumed to wait for a lock: {wrong}") from None
        raise


def _play(interleaving: Interleaving, connect: Callable[[], Session], layout: Layout, told: list[str], times: int) -> str:
    speakers: dict[str, Speaker] = {}
    patience = _PATIENCE
    try:
        for name in dict.fromkeys(turn.session for turn in interleaving.turns):
            began = time.monotonic()
            speakers[name] = Speaker(name, connect(), layout)
            patience = max(patience, _OPENINGS * (time.monotonic() - began))
        patience *= times
        for turn in interleaving.turns:
            speaker = speakers[turn.session]
            _hear_at_last(speaker, told)
            if speaker.refused:
                continue
            speaker.say(turn)
            if not speaker.hear(told, patience):
                told.append(f"{turn.session}{_WAITS}{shown(turn.do, turn.args)}")
        for speaker in speakers.values():
            _hear_at_last(speaker, told)
    finally:
        for speaker in speakers.values():
            speaker.close()
    committed = sum(speaker.committed for speaker in speakers.values())
    told.append(f"{committed} of {len(speakers)} transactions committed")
    right = (*interleaving.committed, *interleaving.recorded)
    assert not right or committed in right, "\n".join([*told, f"expected: {' or '.join(map(str, sorted(right)))}"])
    return interleaving.recorded.get(committed, "")


def _hear_at_last(speaker: Speaker, told: list[str]) -> None:
    if not speaker.hear(told, _LONGEST):
        raise Unknown("\n".join([*told, f"{speaker.name} is still waiting after {_LONGEST:g} s"]))
