"""The single needs of a role in a needs file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from storeproof.spec import Spec
from storeproof.spec.guarantee import FAULT_WORDS
from storeproof.spec.isolation import in_words
from storeproof.spec.profile import alternatives_of, name_of
from storeproof.spec.questions.needs import NeedsFile, Role
from storeproof.spec.questions.quantities import Loss, Struck
from storeproof.spec.questions.read_needs import capabilities_of
from storeproof.units import plural, seconds, whole

Subject = Literal["model", "capability", "guarantee", "loss", "survives", "failover", "reads", "isolation", "back", "rate", "p99"]


@dataclass(frozen=True)
class Need:
    """One thing that a store must, or should, do in a role."""

    role: str
    subject: Subject
    name: str
    """Short and unique in its role: `expiry.put-expiring`, `power_loss`, `20,000/s`."""
    must: bool = True
    alternatives: tuple[str, ...] = ()
    """For a capability: the names, of capabilities or groups, of which one is enough."""
    capabilities: tuple[tuple[str, ...], ...] = ()
    """For each alternative, the full names that are needed together."""
    fault: Struck | None = None
    """For a loss: the guarantee whose fault strikes."""
    title: str = ""
    """For people who do not know the names of the specification; empty where the name is plain."""

    @property
    def id(self) -> str:
        """Unique in the file."""
        return f"{self.role}/{self.subject}/{self.name}"


def needs_of(needs: NeedsFile, spec: Spec) -> tuple[Need, ...]:
    return tuple(need for name, role in needs.roles.items() for need in _of_role(name, role, spec))


def lost_name(fault: str, most: Loss) -> str:
    return f"{fault}: at most {seconds(most) if isinstance(most, float) else whole(most)} lost"


def title_of(alternatives: Sequence[str], spec: Spec) -> str:
    """The title of the first alternative, a capability or a group, and how many others would do."""
    first, *others = alternatives
    title = f"“{spec.capabilities[first].title}”" if first in spec.capabilities else first.replace("_", " ")
    return f"{title} or {plural(len(others), 'alternative')}" if others else title


def _of_role(name: str, role: Role, spec: Spec) -> Iterator[Need]:
    yield Need(name, "model", role.model)
    for must, wanted in ((True, role.must), (False, role.should)):
        for each in wanted:
            names = alternatives_of(each)
            together = tuple(capabilities_of(one, spec) for one in names)
            yield Need(name, "capability", name_of(each), must, names, together, title=title_of(names, spec))
    if role.guarantee != "volatile":
        yield Need(name, "guarantee", role.guarantee, title=f"durability through {FAULT_WORDS[role.guarantee].in_sentence}")
    for fault, most in role.lost_at_most.items():
        yield Need(name, "loss", lost_name(fault, most), fault=fault)
    for each in role.survives:
        yield Need(name, "survives", each, title=f"survives {FAULT_WORDS[each].in_sentence}")
    if role.failover_within is not None:
        yield Need(name, "failover", f"failover within {seconds(role.failover_within)}")
    if role.reads is not None:
        yield Need(name, "reads", role.reads, title="linearizable reads" if role.reads == "linearizable" else "reads in order of a session")
    if role.isolation is not None:
        level = in_words(role.isolation)
        yield Need(name, "isolation", role.isolation, title=level if level.endswith("isolation") else f"{level} isolation")
    if role.back_within is not None:
        yield Need(name, "back", f"back within {seconds(role.back_within)}")
    if role.load is not None:
        yield Need(name, "rate", f"{whole(role.load.rate)} operations/s")
        if role.load.p99_ms is not None:
            yield Need(name, "p99", f"p99 within {role.load.p99_ms:g} ms")
