"""Needs: what a reader's decision demands of one or more stores, each in a role."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveFloat, PositiveInt, Strict, WithJsonSchema, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.guarantee import NETWORKED, GuaranteeName, NodeGuaranteeName
from storeproof.spec.isolation import Guarantees
from storeproof.spec.model import Model
from storeproof.spec.operation import OperationName
from storeproof.spec.profile import Wanted
from storeproof.spec.questions.own_model import OwnModel
from storeproof.spec.questions.quantities import Loss, Memory, Span, Struck
from storeproof.spec.workload import check_measured, what_is_asked

ASKING: Final = ("find", "count_where", "aggregate", "browse")
"""Operations of a load that have a request."""
_DIGITS: Final = 8
_TARGET = re.compile(r"[^:]+:[^:]+")


def _store_and_variant(found: str) -> str:
    if not _TARGET.fullmatch(found):
        raise ValueError("allowed: a store with its variant, as in `redis:aof-always`")
    return found


ReadsOfCluster = Literal["linearizable", "session"]
"""What clients read while a fault strikes and after it. `linearizable`: each read shows all that was acknowledged before it was sent.
`session`: no client misses a write of its own, nor reads less than it has read before, at whichever node it asks."""

TargetName = Annotated[str, AfterValidator(_store_and_variant), WithJsonSchema({"type": "string", "pattern": f"^{_TARGET.pattern}$"})]


class ShareBound(Frozen):
    """One operation of a load."""

    name: Name | None = None
    """Its name in results; the operation's by default. Two different requests of one operation need one."""
    operation: OperationName
    """As adapters call it."""
    weight: PositiveInt = 1
    """Its share of the requests is this over the sum of all weights."""
    request: dict[str, Any] | None = None
    """The request of `find`, `count_where`, `aggregate` or `browse`, as workloads write it: in the language of QUERY.md, with variables
    such as `$word` where the records are articles."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        asks = self.operation in ASKING
        if asks != (self.request is not None):
            takes = (
                "needs a request, as in `{filter: [price, gt, 10], limit: 10}`" if asks else f"takes none; allowed: of {', '.join(ASKING)}"
            )
            raise RuleError(f"`{self.operation}` {takes}", "request")
        if asks:
            check_measured(self.operation, self.request)
        return self

    @property
    def label(self) -> str:
        """What results call it."""
        return self.name or self.operation

    @property
    def asked(self) -> str:
        """The operation with its request, equal for equal ones."""
        return what_is_asked(self.operation, self.request)


class Load(Frozen):
    """The requests that a role receives."""

    workload: Name | None = None
    """A workload of the specification; or else `mix`."""
    mix: Annotated[tuple[ShareBound, ...], Strict(False)] = ()
    """Operations on records that are there, and requests. A workload of the role's model with the same operations and requests in the same
    shares, to within five per cent, is evidence for it."""
    record: str | None = None
    """The variation of the records, as results call it: `size-1000`, `fields-10`. Without it all count, and the slowest decides."""
    indexes: NonNegativeInt = 0
    """Secondary indexes of its collection."""
    rate: PositiveInt
    """Operations per second."""
    clients: PositiveInt | None = None
    """The most that are connected at once; without it, any number."""
    p99_ms: Annotated[PositiveFloat, Strict(False)] | None = None
    """Milliseconds within which 99 of 100 replies come, counted from when the request was due."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.workload is None) == (not self.mix):
            raise RuleError("allowed: either `workload` or `mix`")
        meant: dict[str, str] = {}
        for place, each in enumerate(self.mix):
            if meant.setdefault(each.label, each.asked) != each.asked:
                raise RuleError(f"found two that are called {each.label}, and are not the same; give one of them a `name`", "mix", place)
        return self

    @property
    def requests(self) -> tuple[ShareBound, ...]:
        """The shares of the mix that have a request."""
        return tuple(each for each in self.mix if each.request is not None)


class Role(Frozen):
    """What one kind of data needs."""

    model: Name
    """The model of its records: one of the specification, or one of `models`."""
    records: PositiveInt | None = None
    """How many there are: as many are loaded before its load, and cost memory and disk."""
    guarantee: GuaranteeName = "volatile"
    """What acknowledged writes must survive."""
    lost_at_most: dict[Struck, Loss] = Field(default_factory=dict)
    """What a fault may cost where the guarantee does not say it: the recovery point."""
    survives: Annotated[tuple[NodeGuaranteeName, ...], Strict(False)] = ()
    """What acknowledged writes must survive of a cluster: the guarantees of clusters, by name (since format 1.3)."""
    failover_within: Span | None = None
    """From the loss of the primary to the first write that another node takes, in every round of the faults of `survives`, or else of
    `node_loss` and `partition` (since format 1.3)."""
    reads: ReadsOfCluster | None = None
    """What reads must be during the same faults; of one server, during its crash (since format 1.3)."""
    isolation: Guarantees | None = None
    """What its transactions must guarantee, as a level of the literature; without it, nothing (since format 1.2)."""
    back_within: Span | None = None
    """From a crash to the first answer: the recovery time."""
    must: Wanted = ()
    """Capabilities without which a store is no candidate: each a whole group, `group.capability`, or `{any_of: [...]}`."""
    should: Wanted = ()
    """Capabilities that are wished for: they decide between candidates that have the others."""
    load: Load | None = None
    """The requests that it receives; without it, no speed is needed."""

    @property
    def failing_over(self) -> tuple[NodeGuaranteeName, ...]:
        """The guarantees whose faults show the time of a failover, and the reads of a cluster: those of `survives`, or else both."""
        return tuple(each for each in NETWORKED if each in self.survives) or NETWORKED


def requests_case(name: str, role: Role) -> str | None:
    """The id of the case that tries the requests of a role's mix; None where it has none. It ends with the digits of a hash of the requests
    and of the model, so that the case of other needs with a role of that name is no evidence."""
    asked = [each.asked for each in role.load.requests] if role.load is not None else []
    if not asked:
        return None
    return f"requests.roles/{name}-{hashlib.sha256(repr((role.model, sorted(asked))).encode()).hexdigest()[:_DIGITS]}"


class Machine(Frozen):
    """What a candidate is given when its roles are tried: two servers share it."""

    cores: PositiveInt
    """How many all servers of a candidate have together."""
    memory: Memory
    """What they have together, with its unit, MiB or GiB."""


class Costs(Frozen):
    """The reader's own prices, in any currency."""

    host_per_month: Annotated[PositiveFloat, Strict(False)]
    """Of one machine as in `machine`."""
    licence_per_month: dict[Name, Annotated[float, Field(ge=0, strict=False)]] = Field(default_factory=dict)
    """By store."""


class NeedsFile(SpecFile):
    """One decision: roles, what each needs, and the candidates."""

    FORMAT = (1, 3)

    decision: Name
    """A short name for it."""
    question: str
    """In one sentence; the answer is put below it."""
    roles: dict[Name, Role] = Field(min_length=1)
    """What each kind of data needs, by its name."""
    models: dict[Name, OwnModel] = Field(default_factory=dict)
    """Models of your own, by the name that roles call them: records that are like none of the specification."""
    candidates: Literal["all"] | dict[Name, dict[Name, TargetName]] = "all"
    """`all`: each store and variant that there are results of, in all roles at once. Or by name: the store of each role."""
    machine: Machine | None = None
    """What every candidate is given, and what a machine of `costs` has."""
    costs: Costs | None = None
    """Your prices; without them nothing is said of costs."""

    @property
    def own_models(self) -> tuple[Model, ...]:
        """The models of `models`, by the names that results call them."""
        return tuple(each.named(name) for name, each in self.models.items())

    def with_names_of_results(self) -> Self:
        """With roles that name models as results do."""
        if not self.models:
            return self
        names = {name: own.named(name).model for name, own in self.models.items()}
        roles = {name: role.model_copy(update={"model": names.get(role.model, role.model)}) for name, role in self.roles.items()}
        return self.model_copy(update={"roles": roles})

    @model_validator(mode="after")
    def _every_role_has_a_store(self) -> Self:
        if self.costs is not None and self.machine is None:
            raise RuleError("found prices of a machine; allowed: with `machine`, which says what it has", "costs")
        named: Mapping[str, Mapping[str, str]] = {} if isinstance(self.candidates, str) else self.candidates
        for candidate, targets in named.items():
            if targets.keys() != self.roles.keys():
                raise RuleError(
                    f"found {', '.join(targets) or 'none'}; allowed: a store for each role: {', '.join(self.roles)}",
                    "candidates",
                    candidate,
                )
        return self
