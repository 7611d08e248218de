"""A store that is struck while it makes itself: on an empty directory, before anybody was ever answered.

Nothing was acknowledged, so that nothing can be lost. But afterwards it must start on what is there and take writes. Where its directory
is made by commands of their own and these were not done, the directory may be emptied and they are run again, as an administrator would.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

from storeproof.blame import Ending, outcome_of
from storeproof.check import Anomaly, upper_bound
from storeproof.contract import Layout, Refused, Session, Unknown
from storeproof.errors import StoreDied, StoreproofError
from storeproof.experiments.durability.clients import Client
from storeproof.experiments.durability.readback import audit, by_key
from storeproof.experiments.durability.spoiled import limit, repeat_spoiled
from storeproof.experiments.durability.writers import write_some
from storeproof.faults import Fault
from storeproof.history import Recorder
from storeproof.launch.handle import Handle
from storeproof.outcome import Outcome
from storeproof.result.strength import strength

_AFTERWARDS = 20
"""Operations by which it shows that it works."""

_GIVE_UP_SECONDS = 60.0
"""How long a start that was struck may take to notice."""


@dataclass
class Birth:
    """What became of one round."""

    moment: float
    """Seconds from the beginning of the first start to the fault."""
    again: bool = False
    """The second start was struck too."""
    went_on: bool = False
    emptied: bool = False
    failure: str = ""
    log: str = ""


@dataclass
class Births:
    """What became of the rounds."""

    struck: int = 0
    again: int = 0
    """Second faults, struck while it started for the second time."""
    went_on: int = 0
    """Rounds after which it started on what was there."""
    emptied: int = 0
    """Rounds after which its directory was emptied, and made by the store's own commands again."""
    longest: float = 0.0
    """Seconds that a first start took which nothing disturbed: the moments are drawn from these."""
    moments: list[float] = field(default_factory=list)
    """Seconds from the beginning of the first start to the fault."""
    failures: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    """The failures, each with its round and what the log then said."""
    log: str = ""
    """The last lines of the first failure."""
    spoiled: list[str] = field(default_factory=list)
    """Rounds that say nothing, and why: they were repeated."""
    given_up: bool = False
    """More rounds were spoiled than are repeated."""

    def add(self, birth: Birth) -> None:
        """Count one round."""
        self.struck += 1
        self.again += birth.again
        self.went_on += birth.went_on
        self.emptied += birth.emptied
        self.moments.append(birth.moment)
        if birth.failure:
            self.failures.append(birth.failure)
            self.findings.append(f"round {self.struck}: {birth.failure}; its log: {birth.log}")
            self.log = self.log or birth.log

    def outcome(self, *, claimed: bool) -> Outcome:
        """A store that promised nothing about such a fault breaks no promise."""
        ending = Ending.SPOILED if self.given_up else Ending.RIGHT
        return outcome_of(Ending.BROKEN_PROMISE if self.failures else ending, claimed=claimed)

    def detail(self, again: str = "") -> str:
        """In words; `again`: how to repeat it."""
        parts = [f"struck {self.struck} times within the {self.longest:.2f} s of a first start"]
        if self.again:
            parts.append(f"{self.again} times again during the start after it")
        parts.append(f"{self.went_on} times it started on what was there")
        if self.emptied:
            parts.append(f"{self.emptied} times its directory was emptied and made anew, since the commands that make it were not done")
        bound = upper_bound(self.struck, len(self.failures))
        if self.failures:
            parts.append(f"{len(self.failures)} times it was of no use: {self.failures[0]}")
            parts.append("moments: " + ", ".join(f"{each:.2f} s" for each in self.moments))
        parts.append(strength(self.struck, len(self.failures), bound, "failure", "leave it of no use"))
        if again:
            parts.append(again)
        text = "; ".join(parts)
        return f"{text}\n--- last lines of its log ---\n{self.log}" if self.log else text


class Make(Protocol):
    """Makes a store that was never started."""

    def __call__(self) -> Handle: ...


def strike_births(
    make: Make,
    fault: Fault,
    layouts: Mapping[str, Layout],
    *,
    rounds: int,
    longest: float,
    by_commands: bool,
    connect: Callable[[Handle], Session],
    rng: random.Random,
    progress: Callable[[str], None] = lambda _: None,
) -> Births:
    """Strike so many first starts, each of a store of its own.

    Args:
        longest: seconds that a first start takes.
        by_commands: whether the directory is made by commands apart from the server, wherever they are.
    """
    births = Births(longest=longest)

    def go_on() -> None:
        while births.struck < rounds:
            number = births.struck + 1
            progress(f"round {number}/{rounds}")
            with closing(make()) as handle:
                births.add(_round(handle, fault, layouts, number, longest, by_commands, connect, rng))

    births.given_up = not repeat_spoiled(go_on, births.spoiled, limit(rounds))
    return births


def _round(
    handle: Handle,
    fault: Fault,
    layouts: Mapping[str, Layout],
    number: int,
    longest: float,
    by_commands: bool,
    connect: Callable[[Handle], Session],
    rng: random.Random,
) -> Birth:
    """One first start. In every second round the start after it is struck too.

    Raises:
        MachineFailed: the machine failed meanwhile.
        Unknown: it runs afterwards and does not answer.
    """
    birth = Birth(moment=rng.uniform(0, longest))
    _strike(handle, fault, birth.moment)
    # Run again on what they had begun, the commands may end well and make nothing of use.
    half_made = by_commands and not handle.initialised
    if number % 2 == 0:
        birth.again = True
        _strike(handle, fault, rng.uniform(0, longest))
        half_made = half_made or (by_commands and not handle.initialised)
    try:
        birth.emptied = _start(handle, half_made)
        birth.went_on = not birth.emptied
        try:
            _use(handle, layouts, connect, rng)
        except Unknown:
            handle.check_alive()
            raise
    except (StoreDied, Refused) as reason:
        birth.failure = reason.reason if isinstance(reason, StoreDied) else f"it starts and does not work: {reason}"
        birth.log = handle.log_tail()
    return birth


def _strike(handle: Handle, fault: Fault, moment: float) -> None:
    """Start it in a thread, and strike when so many seconds are over."""
    failures: list[BaseException] = []

    def start() -> None:
        try:
            handle.start_nowait()
        except StoreDied:
            pass  # as it must, when it is struck; and a second start may fail by itself, which the third shows too
        except BaseException as reason:  # noqa: BLE001 - raised below: a thread cannot
            failures.append(reason)

    starting = threading.Thread(target=start, name="storeproof-first-start", daemon=True)
    starting.start()
    threading.Event().wait(moment)
    fault.strike(handle)
    starting.join(_GIVE_UP_SECONDS)
    if handle.alive():  # it was not there yet when the fault struck
        fault.strike(handle)
    if failures and isinstance(failures[0], StoreproofError):
        raise failures[0]


def _start(handle: Handle, half_made: bool) -> bool:
    """Start on what is there, or else on an emptied directory where that is right; whether it was emptied."""
    try:
        handle.start()
    except StoreDied as reason:
        if not half_made:
            raise StoreDied(f"it does not start again on what its first start left: {reason.reason}", reason.log) from None
        handle.kill()
        handle.empty()
        handle.start()
        return True
    return False


def _use(handle: Handle, layouts: Mapping[str, Layout], connect: Callable[[Handle], Session], rng: random.Random) -> None:
    """It takes writes and answers them.

    Raises:
        Refused, Unknown: it does not take them.
        StoreDied: it does not answer what was written.
    """
    recorder = Recorder()
    session = connect(handle)
    try:
        for layout in layouts.values():
            session.collection(layout).prepare()
        client = Client(connect(handle), layouts, recorder.client(), 1, rng)
        write_some(client, _AFTERWARDS)
        if not client.acknowledged:
            raise Refused(f"it takes no writes: {client.ended.refusal}")
        findings, _ = audit(session, layouts, by_key(recorder.operations()))
    finally:
        session.close()
    wrong = [finding for finding in findings if finding.anomaly is not Anomaly.OK]
    if wrong:
        raise StoreDied(f"it does not answer what was written: {wrong[0]}", handle.log_tail())
