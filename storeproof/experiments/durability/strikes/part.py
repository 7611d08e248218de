"""A strike of one server of a composite store, which is killed while the other goes on with what it has.

After a kill of the home the front may still have copies of what the home lost, and hide the loss. So the last audit, which reads the keys
of all rounds, is made with an empty front: it too is killed and started again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from storeproof.contract import Layout
from storeproof.experiments.fault_experiment import Subject
from storeproof.experiments.waiting_writes import carry_out
from storeproof.spec.store import FRONT, Caching, Role, Target


def part_kill(role: Role) -> str:
    """The name of its case, after `durability.`."""
    return f"{role}_kill"


def promised(target: Target, role: Role) -> bool:
    """Whether a variant promises to lose nothing by it. A kill of the home may lose what a crash of the whole may. One of the front must
    lose nothing, whatever is claimed: the home goes on. With `write-behind` it may lose what the home was not given yet."""
    configuration = target.configuration
    return configuration.promises("process_crash") or (role == FRONT and Caching.of(configuration.options).home_first)


def emptied_front(subject: Subject, layouts: Collection[Layout], role: Role) -> Callable[[], None]:
    """What follows the last recovery of the server with this role."""

    def empty() -> None:
        with subject.session() as session:  # what waits for the home must not be lost with the front
            carry_out(session, layouts)
        subject.handle.kill_nodes([FRONT])
        subject.handle.start()

    return (lambda: None) if role == FRONT else empty
