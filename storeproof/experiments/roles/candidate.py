"""A candidate of a needs file, as the suites try it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storeproof.spec.questions.needs import Role
from storeproof.store_under_test import StoreUnderTest


@dataclass(frozen=True)
class CandidateUnderTest:
    """A store for each role. Several roles may have the same store, which is then one server with a collection for each."""

    name: str
    roles: Mapping[str, Role]
    suts: Mapping[str, StoreUnderTest]
    """By role."""

    @property
    def stores(self) -> tuple[StoreUnderTest, ...]:
        """Each once."""
        return tuple(dict.fromkeys(self.suts.values()))

    @property
    def loaded(self) -> tuple[str, ...]:
        """The roles that have a load."""
        return tuple(name for name, role in self.roles.items() if role.load is not None)

    def must_answer_in_time(self, role: str) -> bool:
        """Whether a role needs its replies within a time."""
        load = self.roles[role].load
        return load is not None and load.p99_ms is not None
