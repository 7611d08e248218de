"""A store in one of its variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import LevelClaim, Promise, TransactionMix
from storeproof.spec.known_failure import KnownFailure
from storeproof.spec.store.composite import Role
from storeproof.spec.store.launch import Launch
from storeproof.spec.store.store import Store, Variant, claimed
from storeproof.spec.store.topology import Topology

_ARGUMENTS: Final = "${arguments}"


@dataclass(frozen=True)
class Target:
    store: Store
    variant: str
    """The variant's name."""
    file: Path
    """The store's YAML file; its adapter may be in the same directory."""
    parts: Mapping[Role, Target] = field(default_factory=dict, hash=False)
    """The servers of a composite store; none for a store that is one server."""
    disk: str | None = None
    """The name of the disk that its data is on, of several; None where none is named."""

    @property
    def configuration(self) -> Variant:
        return self.store.variants[self.variant]

    @property
    def launch(self) -> Launch:
        """The store's launch, with the variant's arguments in the commands."""
        launch, arguments = self.store.launch, self.configuration.arguments
        ways = {name: way for name in ("process", "container") if (way := getattr(launch, name)) is not None}
        return launch.model_copy(
            update={name: way.model_copy(update={"command": _with_arguments(way.command, arguments)}) for name, way in ways.items()}
        )

    @property
    def topology(self) -> str:
        """The topology that the variant names; else the one that the store's servers have by themselves."""
        return self.configuration.topology or self.store.topology

    @property
    def cluster(self) -> Topology | None:
        """The variant's nodes and services, with its arguments in the commands that have a place for them; None for one server."""
        name, arguments = self.configuration.topology, self.configuration.arguments
        if name is None:
            return None
        topology = self.store.topologies[name]
        services = {
            service: each.model_copy(update={"command": _with_arguments(each.command, arguments if _ARGUMENTS in each.command else ())})
            for service, each in topology.services.items()
        }
        return topology.model_copy(update={"services": services})

    @property
    def named(self) -> str:
        """`store:variant`, as on the command line. Seeds are made of it: what is tried is the same on every disk."""
        return f"{self.store.name}:{self.variant}"

    @property
    def id(self) -> str:
        """As `named`; on one of several disks `store:variant@disk`."""
        return self.named if self.disk is None else f"{self.named}@{self.disk}"

    @property
    def stores(self) -> list[Store]:
        """The store, and those of its parts."""
        return [self.store, *(part.store for part in self.parts.values())]

    def settings(self, cache_bytes: int) -> dict[str, str]:
        """The server's settings, by name; of a composite store those of its servers, as `ROLE.NAME`."""
        cache = self.store.cache.of(cache_bytes) if self.store.cache is not None else {}
        return {**self._of_parts(lambda part: part.settings(cache_bytes)), **cache, **self.configuration.settings}

    @property
    def stated_settings(self) -> dict[str, str]:
        """The settings that the variant states: all but the size of the cache, which the scale sets."""
        return {**self._of_parts(lambda part: part.stated_settings), **self.configuration.settings}

    @property
    def options(self) -> dict[str, str]:
        """What the adapter sets on connections and collections; of a composite store also that of its servers, as `ROLE.NAME`."""
        return {**self._of_parts(lambda part: part.options), **self.configuration.options}

    def settings_of(self, role: Role, cache_bytes: int) -> dict[str, str]:
        """The settings of one server of a composite store: those of its variant, and the composite's own for it."""
        every = self.settings(cache_bytes)
        return {name.removeprefix(f"{role}."): value for name, value in every.items() if name.startswith(f"{role}.")}

    @property
    def atomic_batches(self) -> bool:
        """Whether the variant claims atomic batches."""
        own = self.configuration.atomic_batches
        return self.store.claims.atomic_batches if own is None else own

    @property
    def detects_corruption(self) -> bool:
        """Whether the variant claims to detect damaged files."""
        own = self.configuration.detects_corruption
        return self.store.claims.detects_corruption if own is None else own

    @property
    def durable_reads(self) -> bool:
        """Whether the variant claims that a read never shows a write that a fault could still undo."""
        own = self.configuration.durable_reads
        return self.store.claims.durable_reads if own is None else own

    @property
    def stale_reads(self) -> bool:
        """Whether the variant says that a read may be stale."""
        return self.configuration.stale_reads is not None

    @property
    def isolation(self) -> Mapping[Isolation, LevelClaim]:
        """What the variant claims of each level that it has."""
        return self.store.levels_of(self.variant)

    def promise(self, level: Isolation, mix: TransactionMix) -> Promise | None:
        """What the variant claims of transactions of a mix at one level, which may be sent to several nodes; None: nothing.

        The control of reads at several nodes is held to the level itself, where something is claimed of such reads.
        """
        claim = self.isolation.get(level)
        if claim is None or not mix.of_a_cluster:
            return claim
        return claim.across_nodes if mix.across_nodes or claim.across_nodes is None else claim

    @property
    def session_guarantees(self) -> bool:
        """Whether the variant claims that a client reads its own writes, and never less than it has read before."""
        return self.configuration.stale_reads != "possible"

    def known_failure(self, case: str, today: date) -> KnownFailure | None:
        """The known failure of a case in this variant, if there is one that has not expired."""
        named = (known for name, known in self.store.known_failures.items() if f"{case}/".startswith(f"{name}/"))
        return next((known for known in named if self.variant in known.variants and today <= known.until), None)

    def claims(self, capability: str) -> bool:
        """Whether the variant claims a capability, by its full name, or a case, as `group.capability/case`."""
        return claimed(capability, self.configuration.capabilities, self.store.claims.capabilities)

    def _of_parts(self, of: Callable[[Target], Mapping[str, str]]) -> dict[str, str]:
        return {f"{role}.{name}": value for role, part in self.parts.items() for name, value in of(part).items()}


def _with_arguments(command: tuple[str, ...], arguments: tuple[str, ...]) -> tuple[str, ...]:
    if _ARGUMENTS not in command:
        return (*command, *arguments)
    return tuple(item for each in command for item in (arguments if each == _ARGUMENTS else (each,)))
