"""Transactions that break an isolation level now and then, which no fixed case would meet: the variant's option `lie` says how."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from typing import ClassVar

from storeproof.adapters.sqlite.link import Link
from storeproof.contract import Address, Collection, Key, Layout, Record, Unknown
from storeproof.spec.interleaving import Isolation
from tests.mutants.transactions.lying_transactions import AbsentForgotten, Held, LastWriterWins, Mutant, Open, PairsOnly

_OFTEN = 10


class Honest(Mutant):
    """Serializable, also for many clients at a time."""

    committing: ClassVar[threading.Lock] = threading.Lock()
    numbers: ClassVar[itertools.count[int]] = itertools.count(1)

    def __init_subclass__(cls) -> None:
        """Each counts for itself."""
        cls.numbers = itertools.count(1)

    def commit(self) -> None:
        with self.committing:
            super().commit()


class AnswersAllButOne(Honest):
    """The reply to one commit is lost, though it happened."""

    def commit(self) -> None:
        super().commit()
        if next(self.numbers) == _OFTEN:
            raise Unknown("no answer")


class Weakens(Honest):
    """After 200 transactions serializable ones are mere snapshots."""

    def begin(self, isolation: Isolation) -> None:
        super().begin("snapshot" if isolation == "serializable" and next(self.numbers) > 200 else isolation)


class LosesSome(Honest):
    """One contradiction in ten is overlooked."""

    def contradicts(self, mine: Open, other: Open) -> bool:
        return super().contradicts(mine, other) and next(self.numbers) % _OFTEN > 0


class LeaksRollbacks(Honest):
    """One rollback in two is none."""

    def rollback(self) -> None:
        if self.opened is not None and next(self.numbers) % 2 == 0:
            self.commit()
        super().rollback()


class Forgetful(Held):
    """One read in three does not see what its transaction wrote."""

    def _seen(self) -> dict[Key, Record]:
        opened = self._session.opened
        assert opened is not None
        hidden = opened.writes.pop(self.name, {}) if next(Honest.numbers) % 3 == 0 else None
        try:
            return super()._seen()
        finally:
            if hidden is not None:
                opened.writes[self.name] = hidden


class ForgetsOwnWrites(Honest):
    def collection(self, layout: Layout) -> Collection:
        return Forgetful(self, self._link, layout)


class Fractured(Held):
    """Each read is of the latest state, and not of one moment."""

    def _seen(self) -> dict[Key, Record]:
        opened = self._session.opened
        assert opened is not None
        opened.copies[self.name] = self.now()
        return super()._seen()


class ReadsTheLatest(Honest):
    def collection(self, layout: Layout) -> Collection:
        return Fractured(self, self._link, layout)

    def contradicts(self, mine: Open, other: Open) -> bool:
        return bool({place for place in mine.written & other.written if place[1] is not None})


class Pairs(PairsOnly, Honest):
    pass


class Absent(AbsentForgotten, Honest):
    pass


class Loses(LastWriterWins, Honest):
    pass


LIES: Mapping[str, type[Honest]] = {
    "weakens": Weakens,
    "loses-some": LosesSome,
    "leaks-rollbacks": LeaksRollbacks,
    "forgets-own-writes": ForgetsOwnWrites,
    "reads-the-latest": ReadsTheLatest,
    "pairs-only": Pairs,
    "absent-forgotten": Absent,
    "loses": Loses,
}
"""By name."""

VARIANTS: Mapping[str, type[Honest]] = {**LIES, "all-but-one": AnswersAllButOne}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return VARIANTS.get(options.get("lie", ""), Honest)(Link(address))
