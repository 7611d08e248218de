"""Mixes of operations that are measured, once they were correct."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.operation import OperationName
from storeproof.spec.query import READING, check_request

Distribution = Literal["uniform", "zipf", "zipfian", "latest", "sequential", "hotspot", "exponential"]
"""How keys are drawn of those that are there; the names are those of YCSB's `requestdistribution`, and its constants hold.

* `uniform`: each as likely as any other.
* `zipf`: key k with a probability in proportion to 1 / (k + 1)^0.99, over exactly the loaded records.
* `zipfian`: YCSB's: drawn over 10^10 items and scattered over the keys by a hash; the hottest gets 3.78 % whatever their number.
* `latest`: the newest key minus a Zipfian draw.
* `sequential`: one after the other, again from the first after the last.
* `hotspot`: 80 % of the requests ask for the first 20 % of the keys; even within both.
* `exponential`: the newest key minus an exponential draw; 95 % of the requests ask for the newest 6/7 of the keys.
"""

DRAWN = ("word", "language", "category")
"""What a request may have drawn of a loaded record, as `$word`: all values of one request are drawn of the same one."""
_DRAWN = re.compile(r"\$([a-z]+)")


def fill_in(request: Any, draw: Callable[[str], str]) -> Any:
    """A request with `$word` and its like replaced by what `draw` answers for their names."""
    match request:
        case str():
            return _DRAWN.sub(lambda found: draw(found[1]), request)
        case dict():
            return {name: fill_in(value, draw) for name, value in request.items()}
        case list() | tuple():
            return [fill_in(value, draw) for value in request]
    return request


class Mix(Frozen):
    """One operation of a mix."""

    name: Name | None = None
    """As results call it, where the operation alone does not say enough; the operation's name otherwise."""
    operation: OperationName
    weight: PositiveInt = 1
    batch: PositiveInt = 1
    """Records per request; above 1 the batch form of the operation is used."""
    keys: Literal["new", "oldest", Distribution] | None = None
    """`new`: each key was never written before. A distribution: drawn from the loaded records, which stay; `latest` and `exponential`
    lean to what is newest, and draw new records too.

    `oldest`: of the new records of the same client the one that is there longest; for `delete`, so that what is loaded stays.
    """
    request: dict[str, Any] | None = None
    """What `find`, `count_where`, `aggregate` or `browse` is asked, in the language of QUERY.md, with `$word` and its like."""
    distinct: Annotated[float, Field(gt=0, le=1, strict=False)] = 1.0
    """With `keys: new`: the share of requests that write a new key; the others write one that is there."""
    path: Annotated[tuple[str | int, ...], Strict(False)] = ()
    """The path of a path operation, or the one field of a field operation."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        asks = self.operation in READING
        if asks != (self.request is not None) or asks != (self.keys is None):
            raise RuleError(f"`{self.operation}` needs {'a request and no keys' if asks else 'keys and no request'}")
        if (self.keys == "oldest") != (self.operation == "delete"):
            raise RuleError("`delete` takes the keys `oldest`, and nothing else does: the other operations need what was loaded", "keys")
        if asks:
            try:
                check_request(self.operation, (fill_in(self.request, _known),))
            except RuleError as wrong:
                raise RuleError(str(wrong), "request") from None
        return self


class Workload(Frozen):
    """A measured mix over one model."""

    workload: Name
    title: str
    model: Name
    mix: Annotated[tuple[Mix, ...], Strict(False), Field(min_length=1)]
    load: bool
    """Whether the collection is filled with the scale's records before the measurement."""
    clients: Literal["one", "few", "sweep"]
    """Which of the scale's client counts it runs at."""
    indexes: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Strict(False), Field(min_length=1)] = (0,)
    """Numbers of secondary indexes it runs with; those a store does not have are skipped by name."""
    source: str = ""
    """Where the workload comes from."""

    @model_validator(mode="after")
    def _parts_suit_each_other(self) -> Self:
        for place, mix in enumerate(self.mix):
            if not self.load and mix.keys not in ("new", "oldest"):
                raise RuleError("takes loaded records, and none are loaded; allowed: `load: true`", "mix", place)
            if mix.keys == "oldest" and not any(each.keys == "new" and each.distinct == 1 for each in self.mix):
                raise RuleError("removes new records; allowed: in a mix that also writes some, each under a key of its own", "mix", place)
        names = [mix.name or mix.operation for mix in self.mix]
        if twice := next((place for place, name in enumerate(names) if name in names[:place]), None):
            raise RuleError(f"the mix has two `{names[twice]}`; give one of them a name", "mix", twice)
        return self


class WorkloadFile(SpecFile):
    """One file of `spec/workloads/`."""

    group: Name
    workloads: Annotated[tuple[Workload, ...], Strict(False), Field(min_length=1)]


def _known(name: str) -> str:
    """Stands for what is drawn while a file is read."""
    if name not in DRAWN:
        raise RuleError(f"found ${name}; allowed: {', '.join('$' + each for each in DRAWN)}")
    return name
