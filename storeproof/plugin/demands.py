"""What a profile, or the needs of a reader, demand of a store: which cases are run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from storeproof.outcome import Stage
from storeproof.plugin.case import SuiteCase
from storeproof.spec import LADDER, Profile, Spec
from storeproof.spec.cases import ISOLATION
from storeproof.spec.profile import alternatives_of
from storeproof.spec.questions.needs import Role
from storeproof.spec.questions.read_needs import capabilities_of

_OF_OUTAGES: Final = "single_key"
"""The model whose records are put and read while a fault strikes: its operations must be proven before."""


@dataclass(frozen=True)
class Demands:
    capabilities: frozenset[str]
    """Full names."""
    models: frozenset[str]
    guarantees: frozenset[str]
    """Guarantees whose faults strike."""
    outages: frozenset[str] = frozenset()
    """Faults whose outage is watched."""
    isolation: bool = False
    """Whether random transactions try the isolation levels."""
    candidates: frozenset[str] = frozenset()
    """Candidates with whose roles it is under load."""

    def include(self, case: SuiteCase) -> bool:
        """Whether a case is run: of a capability, of what guards a model, of a guarantee, an outage, a candidate."""
        if case.candidate:
            return case.candidate in self.candidates
        if self.isolation and case.id.startswith(f"{ISOLATION}/"):
            return True
        if case.capability:
            return case.capability in self.capabilities
        if case.stage is Stage.DURABILITY:  # what is beyond the guarantees, damaged files for one, is demanded by none
            return case.guarantee in self.guarantees
        if case.fault or case.workload:
            return self.names(case)
        return not case.model or case.model in self.models

    def names(self, case: SuiteCase) -> bool:
        """Whether a case is meant that the scale may leave out: an outage."""
        return case.fault is not None and case.fault in self.outages


def of_profile(profile: Profile) -> Demands:
    """Its capabilities, core and extended, with all alternatives; its models, and its guarantee with all below."""
    return Demands(
        frozenset(name for _, name in profile.places()),
        frozenset(profile.models),
        frozenset(LADDER[: LADDER.index(profile.guarantee) + 1]),
    )


def of_roles(roles: Iterable[Role], candidates: Iterable[str], spec: Spec) -> Demands:
    """What the roles demand of the store that has them; `candidates`: those whose store it is."""
    capabilities, models, guarantees, outages = set[str](), set[str](), set[str](), set[str]()
    isolation = False
    for role in roles:
        isolation = isolation or role.isolation is not None
        for each in (*role.must, *role.should):
            for name in alternatives_of(each):
                capabilities.update(capabilities_of(name, spec))
        models.add(role.model)
        guarantees.update(LADDER[1 : LADDER.index(role.guarantee) + 1], role.lost_at_most)
        guarantees.update(role.survives)
        if role.failover_within is not None or role.reads is not None:
            guarantees.update(role.failing_over)
        if role.back_within is not None:
            models.add(_OF_OUTAGES)
            outages.add("crash")
    return Demands(frozenset(capabilities), frozenset(models), frozenset(guarantees), frozenset(outages), isolation, frozenset(candidates))
