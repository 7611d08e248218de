"""What there was beside a block of rounds: other programs, and a machine that was slower than it can be."""

from __future__ import annotations

from dataclasses import dataclass

from storeproof.load.quality.machine_speed import SLOW, MachineSpeed
from storeproof.machine.other_programs import BUSY, OtherPrograms


@dataclass(frozen=True)
class Surroundings:
    others: float | None = None
    """Share of the machine that other programs took; None: not known."""
    speed: float | None = None
    """The lower reading of before and after (see `MachineSpeed`); None: not known."""
    baseline: float = 0.0
    """That of the run so far."""

    @property
    def busy(self) -> bool:
        """Whether other programs took too much."""
        return self.others is not None and self.others > BUSY

    @property
    def slow(self) -> bool:
        """Whether the machine was slow, as far as was known then."""
        return self.slower_than(self.baseline)

    def slower_than(self, baseline: float) -> bool:
        """Whether the machine was slow, if that is what it reaches as a rule."""
        return self.speed is not None and self.speed < SLOW * baseline


class Watch:
    """Looks around after each block of a comparison."""

    def __init__(self, others: OtherPrograms | None, speed: MachineSpeed | None) -> None:
        """The first block begins now."""
        self._others = others
        self._speed = speed
        self._before = speed.read() if speed is not None else None

    def after_block(self) -> Surroundings:
        """The surroundings of the block that has just ended; the next one begins now."""
        others = self._others.share() if self._others is not None else None
        if self._speed is None:
            return Surroundings(others)
        before, self._before = self._before, self._speed.read()
        known = None if before is None or self._before is None else min(before, self._before)
        return Surroundings(others, known, self._speed.baseline)
