"""Store files: a store's launch, its variants, and its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import Field, Strict, field_validator, model_validator

from storeproof.spec import older_formats
from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.guarantee import LADDER, NETWORKED, NODES, GuaranteeName, NodeGuaranteeName
from storeproof.spec.interleaving import Isolation
from storeproof.spec.isolation import LevelClaim
from storeproof.spec.known_failure import KnownFailure
from storeproof.spec.store.composite import UNITS, Caching, check_settings, names_a_size, with_size
from storeproof.spec.store.files import FileRule
from storeproof.spec.store.launch import Launch
from storeproof.spec.store.maker import MakersPackage, PackageKind, SupportPeriods
from storeproof.spec.store.topology import Topology

Kind = Literal["single", "replica_set", "cluster"]

_KINDS: Final = frozenset(get_args(Kind))


class Cache(Frozen):
    """The setting for the size of a server's cache of data on disk.

    The scale sets it, to the same size for all stores: ten times the memory of another store would be an advantage by itself.
    """

    setting: str
    """Its name in the server."""
    value: str
    """Its value, with `${bytes}`, `${mib}` or `${gib}` for the size."""

    @field_validator("value")
    @classmethod
    def _says_how_much(cls, value: str) -> str:
        if not names_a_size(value):
            raise ValueError(f"allowed: exactly one of {UNITS}, with any text around it")
        return value

    def of(self, size: int) -> dict[str, str]:
        """The setting for `size` bytes."""
        return {self.setting: with_size(self.value, size)}


class Claims(Frozen):
    """What the store is said to be able to do; the run tests it."""

    models: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """Models it can store: names in `spec/models/`."""
    capabilities: dict[str, bool]
    """`group: true|false` for a group, `group.capability: true|false` for one capability, `group.capability/case: true|false` for one
    case; the more specific one wins.

    Unnamed capabilities are not claimed, but tried.
    """
    detects_corruption: bool = False
    """Whether it detects damage to its files, for example by checksums: it refuses to serve, or says so in its log. It never serves what
    no client wrote, nor a part of the data as if it were all."""
    atomic_batches: bool = False
    """Whether all records of a batch are written or none, also if the store is killed in the middle."""
    durable_reads: bool = False
    """Whether a read never shows a write that a fault which the variant claims to survive could still undo.

    Some stores show a write to other clients before it is synced and acknowledged.
    """
    isolation: dict[Isolation, LevelClaim] = Field(default_factory=dict)
    """What its transactions guarantee, at each level that it has (since format 2.4)."""


class Variant(Frozen):
    """A named configuration of a store."""

    settings: dict[str, str] = Field(default_factory=dict)
    """Server settings: passed at launch, and read back from the running server."""
    arguments: Annotated[tuple[str, ...], Strict(False)] = ()
    """Further server arguments, at `${arguments}` in the command or at its end. They are not read back, so settings that can be read
    belong under `settings`. An endpoint runs without them."""
    options: dict[str, str] = Field(default_factory=dict)
    """What the adapter sets on connections and collections; read back from the running server."""
    timeouts: dict[str, str] = Field(default_factory=dict)
    """Of a topology: time-outs that decide how soon another node takes over, which the adapter sets in place of its own, and that are read
    back from the running cluster (since format 2.5)."""
    topology: Name | None = None
    """The cluster that it runs as, by its name under `topologies`; by default the server under `launch`."""
    guarantee: GuaranteeName
    """What acknowledged writes survive; that guarantee and all below it are tested."""
    survives: Annotated[tuple[NodeGuaranteeName, ...], Strict(False)] = ()
    """Guarantees of a cluster, outside the ladder; `node_loss` and `partition` need a `topology`."""
    auto_indexed: bool = False
    """Whether collections always have secondary indexes: nothing is then measured without indexes."""
    default: bool = False
    """Whether `--store NAME` runs this variant; true for exactly one."""
    capabilities: dict[str, bool] = Field(default_factory=dict)
    """Claims of this variant that differ from the store's."""
    atomic_batches: bool | None = None
    """Overrides the store's claim."""
    durable_reads: bool | None = None
    """Overrides the store's claim."""
    detects_corruption: bool | None = None
    """Overrides the store's claim."""
    isolation: dict[Isolation, LevelClaim | None] = Field(default_factory=dict)
    """Levels of this variant that differ from the store's; `null`: it does not have the level."""
    stale_reads: Literal["possible", "of_others"] | None = None
    """`possible`: a read may return a value although a newer write was acknowledged before the read was sent. Without it that is a
    failure; with it the run says how often it was seen, and histories need not be linearizable. `of_others`: the same, but a client never
    misses a write of its own, nor reads less than it has read before (since format 2.3)."""
    note: str = ""
    """A note for readers of the report."""

    @field_validator("guarantee", mode="before")
    @classmethod
    def _is_a_rung(cls, found: object) -> object:
        if found in NODES:
            raise ValueError(f"allowed: {', '.join(LADDER)}; what a cluster survives is under `survives`")
        return found

    def promises(self, guarantee: str) -> bool:
        """Whether it claims a guarantee: one of the ladder or below it, or one in `survives`."""
        return guarantee in self.survives or guarantee in LADDER[: LADDER.index(self.guarantee) + 1]


class Store(SpecFile):
    """One file of `spec/stores/`, or a file of the user's."""

    FORMAT = (2, 5)
    RENAMED = older_formats.STORE

    extends: str | None = None
    """The store whose file this one extends: its name, or the path of its YAML file relative to this one.

    Mappings are merged, lists and values are replaced, and `null` removes a field. `format`, `store`, `title`, `product`,
    `makers_packages`, `support` and `known_failures` are not inherited.
    """
    name: Annotated[Name, Field(alias="store")]
    """The name on command lines and in results."""
    title: str
    """The name in reports."""
    product: str
    """The product name that the server must report: another product is not tested under this name."""
    makers_packages: dict[PackageKind, Annotated[tuple[MakersPackage, ...], Strict(False)]] = Field(default_factory=dict)
    """By kind the packages that its maker publishes; others of that kind are not the maker's. A kind that is not there is not known (since
    format 2.5)."""
    support: SupportPeriods | None = None
    """Until when its maker supports its releases (since format 2.5)."""
    adapter: str
    """A module of `adapters/`, or the path of a Python file relative to this one."""
    requires: Annotated[tuple[str, ...], Strict(False)] = ()
    """Client packages, as pip requirements."""
    wire: Name | None = None
    """The protocol for the wire engine, as named in `storeproof.load.wire`; without it the driver engine is used."""
    topology: Kind = "single"
    """`cluster`: records are distributed over several nodes, and clients see one server."""
    launch: Launch
    """How to launch it."""
    topologies: dict[Name, Topology] = Field(default_factory=dict)
    """Clusters of its servers, by name; a variant runs as one of them."""
    files: Annotated[tuple[FileRule, ...], Strict(False)] = ()
    """What its files are for: the first rule that matches decides (since format 2.5)."""
    cache: Cache | None = None
    """The cache of a server with data on disk; none for a server in memory, or one that relies on the page cache."""
    variants: dict[Name, Variant] = Field(min_length=1)
    """Its variants, by name."""
    claims: Claims
    """Its claims."""
    known_failures: dict[str, KnownFailure] = Field(default_factory=dict)
    """By case id, or by the part of an id before the slash for all such cases."""

    @model_validator(mode="after")
    def _known_variants_fail(self) -> Self:
        for case, known in self.known_failures.items():
            for position, name in enumerate(known.variants):
                if name not in self.variants:
                    place = ("known_failures", case, "variants", position)
                    raise RuleError(f"found '{name}'; allowed: {', '.join(self.variants)}", *place)
        return self

    @model_validator(mode="after")
    def _one_default(self) -> Self:
        defaults = [name for name, variant in self.variants.items() if variant.default]
        if len(defaults) != 1:
            raise RuleError(f"exactly one variant has `default: true`; found {', '.join(defaults) or 'none'}", "variants", *defaults[1:2])
        return self

    @model_validator(mode="after")
    def _variants_have_topologies(self) -> Self:
        for name in sorted(_KINDS & self.topologies.keys()):
            raise RuleError(f"allowed: another name; `{name}` is a value of `topology`", "topologies", name)
        for name, variant in self.variants.items():
            if variant.topology is not None and variant.topology not in self.topologies:
                allowed = ", ".join(self.topologies) or "none, as there are no `topologies`"
                raise RuleError(f"found '{variant.topology}'; allowed: {allowed}", "variants", name, "topology")
            if variant.timeouts and variant.topology is None:
                raise RuleError("allowed: in a variant that runs as one of `topologies`", "variants", name, "timeouts")
            for position, guarantee in enumerate(variant.survives):
                if guarantee in NETWORKED and variant.topology is None:
                    message = f"found '{guarantee}' without `topology`; allowed: in a variant that runs as one of `topologies`"
                    raise RuleError(message, "variants", name, "survives", position)
        return self

    @model_validator(mode="after")
    def _composite_of_two_servers(self) -> Self:
        if self.launch.composite is None:
            return self
        for way in ("process", "container", "endpoint"):
            if getattr(self.launch, way) is not None:
                raise RuleError("found beside `composite`; allowed: one of them (`null` removes what is inherited)", "launch", way)
        for name in ("wire", "cache", "topologies"):
            if getattr(self, name):
                raise RuleError("a composite store has two servers, each with its own; `null` removes what is inherited", name)
        for name, variant in self.variants.items():
            if variant.arguments:
                raise RuleError("a composite store has no command; name a variant of its servers", "variants", name, "arguments")
            for field, check in (("options", Caching.of), ("settings", check_settings)):
                try:
                    check(getattr(variant, field))
                except RuleError as wrong:
                    raise RuleError(str(wrong), "variants", name, field, *wrong.location) from None
        return self

    @property
    def default_variant(self) -> str:
        """The name of the variant that `--store NAME` runs."""
        return next(name for name, variant in self.variants.items() if variant.default)

    def levels_of(self, variant: str) -> Mapping[Isolation, LevelClaim]:
        """What a variant claims of each isolation level that it has."""
        levels = {**self.claims.isolation, **self.variants[variant].isolation}
        return {level: claim for level, claim in levels.items() if claim is not None}

    def claims_by_default(self, capability: str) -> bool:
        """Whether a variant without claims of its own claims a capability, by its full name."""
        return claimed(capability, self.claims.capabilities)


def claimed(capability: str, *stated: Mapping[str, bool]) -> bool:
    """The first mapping that names it decides; a case wins over its capability, a capability over its group."""
    names = (capability, capability.partition("/")[0], capability.partition(".")[0])
    return next((claims[name] for claims in stated for name in names if name in claims), False)
