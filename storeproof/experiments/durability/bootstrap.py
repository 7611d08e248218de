"""A fault during a store's first start, on an empty directory, before any client got an answer.

Nothing was acknowledged, so nothing can be lost. But the store must then start from the remaining files and accept writes. If separate
commands initialize its directory and had not finished, the directory may be emptied and initialized again, as an administrator would do.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from storeproof.blame import CaseEnding
from storeproof.check import upper_bound
from storeproof.check.strength import strength
from storeproof.contract import Layout, Refused, Unknown
from storeproof.errors import StoreDied, StoreproofError
from storeproof.experiments.client_threads import ClientThread, wait_for
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.readback import try_writes
from storeproof.experiments.fault_experiment import FaultExperiment, Subject
from storeproof.experiments.summary import Summary
from storeproof.faults import Fault
from storeproof.launch.handle import LaunchKind
from storeproof.spec.known_failure import CaseFinding
from storeproof.spec.store import Launch

_GIVE_UP_SECONDS: Final = 60.0
"""How long a start may take to end after the fault."""


@dataclass
class BootstrapRound:
    """One first start."""

    number: int
    """From 1; in every second round the second start is struck too."""
    moment: float = 0.0
    """Seconds from the beginning of the first start to the fault."""
    struck_again: bool = False
    half_made: bool = False
    """The commands, or the image, that initialize the directory were started and had not finished."""
    went_on: bool = False
    """It started from the remaining files."""
    emptied: bool = False
    failure: str = ""
    log: str = ""


@dataclass(kw_only=True)
class BootstrapSummary(Summary):
    """The results of the rounds."""

    longest: float = 0.0
    """Seconds that an undisturbed first start took: the moment of each fault is drawn from this interval."""
    rounds: list[BootstrapRound] = field(default_factory=list)

    @property
    def struck(self) -> int:
        """First starts that were struck."""
        return len(self.rounds)

    @property
    def failures(self) -> list[BootstrapRound]:
        """Rounds after which the store was unusable."""
        return [each for each in self.rounds if each.failure]

    def add(self, done: BootstrapRound) -> None:
        """Count one round."""
        self.rounds.append(done)
        self.log = self.log or done.log

    @property
    def ending(self) -> CaseEnding:
        """A store that does not claim to survive such a fault breaks no promise."""
        if self.failures:
            return CaseEnding.BROKEN_PROMISE
        return CaseEnding.SPOILED if self.given_up else CaseEnding.RIGHT

    @property
    def findings(self) -> list[CaseFinding]:
        """The failures, each with its round and the log."""
        words = [(f"round {each.number}: ", f"{each.failure}; its log: {each.log}") for each in self.failures]
        return [CaseFinding(f"{where}{said}", frozenset({"unstartable"}), said=said) for where, said in words]

    def parts(self) -> Iterator[str]:
        """The number of faults, what happened after them, and the strength of the evidence."""
        again, emptied = sum(each.struck_again for each in self.rounds), sum(each.emptied for each in self.rounds)
        yield f"struck {self.struck} times within the {self.longest:.2f} s of a first start"
        yield f"{again} times again during the next start" if again else ""
        yield f"{sum(each.went_on for each in self.rounds)} times it started from the remaining files"
        if emptied:
            yield f"{emptied} times its directory was emptied and initialized again, since its initialization had not finished"
        if self.failures:
            yield f"{len(self.failures)} times it was unusable: {self.failures[0].failure}"
            yield "faults after: " + ", ".join(f"{each.moment:.2f} s" for each in self.rounds)
        if self.rounds:
            bound = upper_bound(self.struck, len(self.failures))
            yield strength(self.struck, len(self.failures), bound, "failure", "leave it unusable")


class Bootstrap(FaultExperiment[BootstrapRound]):
    """One first start, on a store that was never started before; each round has a new store."""

    def __init__(
        self, subject: Subject, fault: Fault, layouts: Mapping[str, Layout], *, by_commands: bool, summary: BootstrapSummary
    ) -> None:
        """`by_commands`: whether separate commands or the image, not the server, initialize the directory."""
        super().__init__(subject)
        self.summary = summary
        self._fault = fault
        self._clients = Clients(subject, layouts)
        self._by_commands = by_commands

    def setup(self) -> None:
        """Nothing: the fault strikes the first start."""

    def rounds(self) -> Iterator[BootstrapRound]:
        """One more round."""
        yield BootstrapRound(self.summary.struck + 1, moment=self._moment())

    @contextmanager
    def load(self) -> Iterator[None]:
        """A start in a thread, until the moment of the fault."""
        with self._starting(self.round.moment):
            yield
        self._see_commands()

    def fault(self) -> None:
        """Strike the fault."""
        self._fault.strike(self.handle)

    def recover(self) -> None:
        """Start from the remaining files, or from an emptied directory where that is allowed."""
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
        """The store accepts writes and returns what was written."""
        with self.subject.session() as session:
            self._clients.prepare(session)
            tried = try_writes(self._clients, session, 1)
        if not tried.acknowledged:
            raise Refused(f"it accepts no writes: {tried.refusal}")
        if tried.wrong:
            raise StoreDied(f"it does not return what was written: {tried.wrong[0]}", self.handle.log_tail())
        self.summary.add(self.round)

    def fail(self, reason: StoreDied | Refused | Unknown, ended: StoreDied | None) -> None:
        """The store does not start, or does not work."""
        failure = ended or reason
        if isinstance(failure, Unknown):
            raise failure
        self.round.failure = failure.reason if isinstance(failure, StoreDied) else f"it starts but does not work: {failure}"
        self.round.log = self.handle.log_tail()
        self.summary.add(self.round)

    def _moment(self) -> float:
        return self.subject.rng.uniform(0, self.summary.longest)

    def _see_commands(self) -> None:
        """Commands that run again on a half-initialized directory may succeed without making it usable."""
        self.round.half_made = self.round.half_made or (self._by_commands and not self.handle.initialised)

    @contextmanager
    def _starting(self, moment: float) -> Iterator[None]:
        """Start it in a thread; the block is entered after `moment` seconds."""
        failures: list[BaseException] = []

        def start() -> None:
            try:
                self.handle.start_nowait()
            except StoreDied:
                pass  # expected when it is struck; a second start may also fail by itself, which the third start shows
            except BaseException as reason:  # noqa: BLE001 - raised below: a thread cannot
                failures.append(reason)

        starting = ClientThread(start, "storeproof-first-start")
        starting.start()
        time.sleep(moment)
        yield
        wait_for([starting], _GIVE_UP_SECONDS)
        if self.handle.alive():  # the process did not exist yet when the fault struck
            self._fault.strike(self.handle)
        if failures and isinstance(failures[0], StoreproofError):
            raise failures[0]


def set_up_by_others(launch: Launch, kind: LaunchKind) -> bool:
    """Whether commands, or the scripts of an image, set the data directory up, and not the server itself."""
    process = launch.process if kind in ("process", "composite") else None
    container = launch.container if kind in ("container", "composite") else None
    return bool(process and process.initialise) or bool(container and container.set_up)
