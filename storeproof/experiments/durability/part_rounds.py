"""Rounds in which one server of a composite store is killed, and the other goes on with what it has."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.contract import Layout
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.durability.rounds import Rounds
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.waiting_writes import carry_out
from storeproof.faults.part_kill import PartKill
from storeproof.spec.scale import DurabilityScale
from storeproof.spec.store import FRONT, Caching, Role, Target


def part_kill(role: Role) -> str:
    """The name of its case, after `durability.`."""
    return f"{role}_kill"


def promised(target: Target, role: Role) -> bool:
    """Whether a variant promises to lose nothing by it. A kill of the home may lose what a crash of the whole may. One of the front must
    lose nothing, whatever is claimed: the home goes on. With `write-behind` it may lose what the home was not given yet."""
    configuration = target.configuration
    return configuration.promises("process_crash") or (role == FRONT and Caching.of(configuration.options).home_first)


class PartRounds(Rounds):
    """As the rounds of a guarantee, without a second fault.

    After a kill of the home the front may still have copies of what the home lost, and hide the loss. So the last audit, which reads the
    keys of all rounds, is made with an empty front: it too is killed and started again.
    """

    def __init__(
        self, subject: Subject, fault: PartKill, layouts: Mapping[str, Layout], scale: DurabilityScale, summary: DurabilitySummary
    ) -> None:
        """`summary`: of earlier rounds, on another store; the rounds continue from there."""
        super().__init__(subject, fault, layouts, scale, summary=summary)
        self._role = fault.role

    def recover(self) -> None:
        """Start the server; in the last round empty the front."""
        super().recover()
        if self._role != FRONT and self.round.last:
            with self.subject.session() as session:  # what waits for the home must not be lost with the front
                carry_out(session, self._layouts.values())
            self.handle.kill_nodes([FRONT])
            self.handle.start()
