"""The single needs of a role in a needs file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from storeproof.spec import Spec
from storeproof.spec.profile import alternatives_of, name_of
from storeproof.spec.questions.needs import NeedsFile, Role
from storeproof.spec.questions.quantities import Loss, Struck
from storeproof.spec.questions.read_needs import capabilities_of
from storeproof.units import seconds, whole

Subject = Literal["model", "capability", "guarantee", "loss", "back", "rate", "p99"]


@dataclass(frozen=True)
class Need:
    """One thing that a store must, or should, do in a role."""

    role: str
    subject: Subject
    name: str
    """Short and unique in its role: `expiry.put-expiring`, `power_loss`, `20,000/s`."""
    must: bool = True
    alternatives: tuple[str, ...] = ()
    """Of a capability: the names, of capabilities or groups, of which one is enough."""
    capabilities: tuple[tuple[str, ...], ...] = ()
    """Of each alternative, the full names that are needed together."""
    fault: Struck | None = None
    """Of a loss: the guarantee whose fault strikes."""

    @property
    def id(self) -> str:
        """Unique in the file."""
        return f"{self.role}/{self.subject}/{self.name}"


def needs_of(needs: NeedsFile, spec: Spec) -> tuple[Need, ...]:
    """All needs, role by role."""
    return tuple(need for name, role in needs.roles.items() for need in _of_role(name, role, spec))


def lost_name(fault: str, most: Loss) -> str:
    """A need on losses in words."""
    return f"{fault}: at most {seconds(most) if isinstance(most, float) else whole(most)} lost"


def _of_role(name: str, role: Role, spec: Spec) -> Iterator[Need]:
    yield Need(name, "model", role.model)
    for must, wanted in ((True, role.must), (False, role.should)):
        for each in wanted:
            names = alternatives_of(each)
            yield Need(name, "capability", name_of(each), must, names, tuple(capabilities_of(one, spec) for one in names))
    if role.guarantee != "volatile":
        yield Need(name, "guarantee", role.guarantee)
    for fault, most in role.lost_at_most.items():
        yield Need(name, "loss", lost_name(fault, most), fault=fault)
    if role.back_within is not None:
        yield Need(name, "back", f"back within {seconds(role.back_within)}")
    if role.load is not None:
        yield Need(name, "rate", f"{whole(role.load.rate)} operations/s")
        if role.load.p99_ms is not None:
            yield Need(name, "p99", f"p99 within {role.load.p99_ms:g} ms")
