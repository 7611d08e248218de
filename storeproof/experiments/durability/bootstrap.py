"""A store that is struck at its first start: on an empty directory, before any client was answered.

Nothing was acknowledged, so that nothing can be lost. But afterwards it must start on what is there and take writes. Where its directory
is made by commands of their own and these were not done, the directory may be emptied and they are run again, as an administrator would.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import Ending
from storeproof.check import upper_bound
from storeproof.contract import Layout, Refused, Unknown
from storeproof.errors import StoreDied, StoreproofError
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.readback import try_writes
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.experiments.summary import Summary
from storeproof.faults import Fault
from storeproof.result.strength import strength

_GIVE_UP_SECONDS: Final = 60.0
"""How long a start that was struck may take to notice."""


@dataclass
class BootstrapRound:
    """One first start."""

    number: int
    """From 1; the second start is struck too in every second round."""
    moment: float = 0.0
    """Seconds from the beginning of the first start to the fault."""
    struck_again: bool = False
    half_made: bool = False
    """The commands that make the directory were begun and not done."""
    went_on: bool = False
    """It started on what was there."""
    emptied: bool = False
    failure: str = ""
    log: str = ""


@dataclass(kw_only=True)
class BootstrapSummary(Summary):
    """What became of the rounds."""

    longest: float = 0.0
    """Seconds that a first start took which nothing disturbed: the moments are drawn from these."""
    rounds: list[BootstrapRound] = field(default_factory=list)

    @property
    def struck(self) -> int:
        """First starts that were struck."""
        return len(self.rounds)

    @property
    def failures(self) -> list[BootstrapRound]:
        """Rounds after which the store was of no use."""
        return [each for each in self.rounds if each.failure]

    def add(self, done: BootstrapRound) -> None:
        """Count one round."""
        self.rounds.append(done)
        self.log = self.log or done.log

    @property
    def ending(self) -> Ending:
        """A store that promised nothing about such a fault breaks no promise."""
        if self.failures:
            return Ending.BROKEN_PROMISE
        return Ending.SPOILED if self.given_up else Ending.RIGHT

    @property
    def findings(self) -> list[str]:
        """The failures, each with its round and what the log then said."""
        return [f"round {each.number}: {each.failure}; its log: {each.log}" for each in self.failures]

    def parts(self) -> Iterator[str]:
        """How often, how it went on, and how strong that evidence is."""
        again, emptied = sum(each.struck_again for each in self.rounds), sum(each.emptied for each in self.rounds)
        yield f"struck {self.struck} times within the {self.longest:.2f} s of a first start"
        yield f"{again} times again during the start after it" if again else ""
        yield f"{sum(each.went_on for each in self.rounds)} times it started on what was there"
        if emptied:
            yield f"{emptied} times its directory was emptied and made again, since the commands that make it were not done"
        if self.failures:
            yield f"{len(self.failures)} times it was of no use: {self.failures[0].failure}"
            yield "moments: " + ", ".join(f"{each.moment:.2f} s" for each in self.rounds)
        if self.rounds:
            bound = upper_bound(self.struck, len(self.failures))
            yield strength(self.struck, len(self.failures), bound, "failure", "leave it of no use")


class Bootstrap(FaultExperiment[BootstrapRound]):
    """One first start, on a store that was never started; each round has a store of its own."""

    def __init__(
        self, subject: Subject, fault: Fault, layouts: Mapping[str, Layout], *, by_commands: bool, summary: BootstrapSummary
    ) -> None:
        """`by_commands`: whether the directory is made by commands apart from the server, wherever they are."""
        super().__init__(subject)
        self.summary = summary
        self._fault = fault
        self._clients = Clients(subject, layouts)
        self._by_commands = by_commands

    def setup(self) -> None:
        """Nothing: the first start is what is struck."""

    def rounds(self) -> Iterator[BootstrapRound]:
        """One more."""
        yield BootstrapRound(self.summary.struck + 1, moment=self._moment())

    @contextmanager
    def load(self) -> Iterator[None]:
        """A start in a thread, until its moment has come."""
        with self._starting(self.round.moment):
            yield
        self._see_commands()

    def fault(self) -> None:
        """That of the guarantee."""
        self._fault.strike(self.handle)

    def recover(self) -> None:
        """Start on what is there, or else on an emptied directory where that is right."""
        if self.round.number % 2 == 0:
            self.round.struck_again = True
            with self._starting(self._moment()):
                self._fault.strike(self.handle)
            self._see_commands()
        try:
            self.handle.start()
            self.round.went_on = True
        except StoreDied as reason:
            if not self.round.half_made:
                raise StoreDied(f"it does not start again on what its first start left: {reason.reason}", reason.log) from None
            self.handle.kill()
            self.handle.empty()
            self.handle.start()
            self.round.emptied = True

    def audit(self) -> None:
        """It takes writes and answers them."""
        with self.subject.session() as session:
            self._clients.prepare(session)
            tried = try_writes(self._clients, session, 1)
        if not tried.acknowledged:
            raise Refused(f"it takes no writes: {tried.refusal}")
        if tried.wrong:
            raise StoreDied(f"it does not answer what was written: {tried.wrong[0]}", self.handle.log_tail())
        self.summary.add(self.round)

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """It does not start, or does not work."""
        failure = ended or reason
        if isinstance(failure, Unknown):
            raise failure
        self.round.failure = failure.reason if isinstance(failure, StoreDied) else f"it starts and does not work: {failure}"
        self.round.log = self.handle.log_tail()
        self.summary.add(self.round)

    def _moment(self) -> float:
        return self.subject.rng.uniform(0, self.summary.longest)

    def _see_commands(self) -> None:
        """Run again on what they had begun, the commands may end well and make nothing of use."""
        self.round.half_made = self.round.half_made or (self._by_commands and not self.handle.initialised)

    @contextmanager
    def _starting(self, moment: float) -> Iterator[None]:
        """Start it in a thread; the block is entered after `moment` seconds."""
        failures: list[BaseException] = []

        def start() -> None:
            try:
                self.handle.start_nowait()
            except StoreDied:
                pass  # as it must, when it is struck; and a second start may fail by itself, which the third shows too
            except BaseException as reason:  # noqa: BLE001 - raised below: a thread cannot
                failures.append(reason)

        starting = threading.Thread(target=start, name="storeproof-first-start", daemon=True)
        starting.start()
        threading.Event().wait(moment)
        yield
        starting.join(_GIVE_UP_SECONDS)
        if self.handle.alive():  # it was not there yet when the fault struck
            self._fault.strike(self.handle)
        if failures and isinstance(failures[0], StoreproofError):
            raise failures[0]
