"""Needs: what a reader's decision demands of one or more stores, each in a role."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Strict,
    WithJsonSchema,
    model_validator,
)

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.guarantee import GuaranteeName
from storeproof.spec.operation import OperationName
from storeproof.spec.profile import Wanted

_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|min|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(MiB|GiB)")
_BYTES = {"MiB": 1 << 20, "GiB": 1 << 30}
_TARGET = re.compile(r"[^:]+:[^:]+")

Struck = Literal["clean_restart", "process_crash", "power_loss"]
"""The guarantees whose fault strikes one server."""


def _seconds(found: Any) -> float:
    span = _SPAN.fullmatch(found) if isinstance(found, str) else None
    if span is None:
        raise ValueError("allowed: a number with its unit, ms, s, min or h, as in `10s`")
    return float(span[1]) * _SECONDS[span[2]]


def _bytes(found: Any) -> int:
    size = _SIZE.fullmatch(found) if isinstance(found, str) else None
    if size is None:
        raise ValueError("allowed: a number with its unit, MiB or GiB, as in `8GiB`")
    return int(float(size[1]) * _BYTES[size[2]])


def _loss(found: Any) -> Any:
    if isinstance(found, int) and not isinstance(found, bool):
        if found < 0:
            raise ValueError("allowed: a number of writes from 0 on, or a span with its unit, as in `1s`")
        return found
    return _seconds(found)


def _store_and_variant(found: str) -> str:
    if not _TARGET.fullmatch(found):
        raise ValueError("allowed: a store with its variant, as in `redis:aof-always`")
    return found


_SPAN_SCHEMA: Final[dict[str, Any]] = {"type": "string", "pattern": f"^{_SPAN.pattern}$"}

Span = Annotated[float, BeforeValidator(_seconds), WithJsonSchema(_SPAN_SCHEMA)]
"""Seconds; written with a unit: `250ms`, `10s`, `5min`."""
Memory = Annotated[int, BeforeValidator(_bytes), WithJsonSchema({"type": "string", "pattern": f"^{_SIZE.pattern}$"})]
"""Bytes; written with a unit: `512MiB`, `8GiB`."""
Loss = Annotated[
    NonNegativeInt | Annotated[float, Strict(False)],
    BeforeValidator(_loss),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, _SPAN_SCHEMA]}),
]
"""Acknowledged writes, a whole number; or with a unit, the seconds before the fault whose writes may be lost."""
TargetName = Annotated[str, AfterValidator(_store_and_variant), WithJsonSchema({"type": "string", "pattern": f"^{_TARGET.pattern}$"})]


class Share(Frozen):
    """One operation of a load."""

    operation: OperationName
    """As adapters call it."""
    weight: PositiveInt = 1
    """Its share of the requests is this over the sum of all weights."""


class Load(Frozen):
    """The requests that a role receives."""

    workload: Name | None = None
    """A workload of the specification; or else `mix`."""
    mix: Annotated[tuple[Share, ...], Strict(False)] = ()
    """Operations on records that are there. A workload of the role's model with the same operations in the same shares, to within five per
    cent, is evidence for it."""
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
        return self


class Role(Frozen):
    """What one kind of data needs."""

    model: Name
    """The model of its records."""
    records: PositiveInt | None = None
    """How many there are: as many are loaded before its load, and cost memory and disk."""
    guarantee: GuaranteeName = "volatile"
    """What acknowledged writes must survive."""
    lost_at_most: dict[Struck, Loss] = Field(default_factory=dict)
    """What a fault may cost where the guarantee does not say it: the recovery point."""
    back_within: Span | None = None
    """From a crash to the first answer: the recovery time."""
    must: Wanted = ()
    """Capabilities without which a store is no candidate: each a whole group, `group.capability`, or `{any_of: [...]}`."""
    should: Wanted = ()
    """Capabilities that are wished for: they decide between candidates that have the others."""
    load: Load | None = None
    """The requests that it receives; without it, no speed is needed."""


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

    decision: Name
    """A short name for it."""
    question: str
    """In one sentence; the answer is put below it."""
    roles: dict[Name, Role] = Field(min_length=1)
    """What each kind of data needs, by its name."""
    candidates: Literal["all"] | dict[Name, dict[Name, TargetName]] = "all"
    """`all`: each store and variant that there are results of, in all roles at once. Or by name: the store of each role."""
    machine: Machine | None = None
    """What every candidate is given, and what a machine of `costs` has."""
    costs: Costs | None = None
    """Your prices; without them nothing is said of costs."""

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
