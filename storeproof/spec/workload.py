"""Workloads: measured mixes of operations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, Strict, model_validator

from storeproof.spec import older_formats
from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.operation import OperationName
from storeproof.spec.query import READING, REQUESTS, check_request
from storeproof.spec.variation import AS_IT_IS, Variation

Distribution = Literal["uniform", "zipf", "zipfian", "latest", "sequential", "hotspot", "exponential"]
"""How existing keys are drawn, with the names and constants of YCSB's `requestdistribution`.

* `uniform`: all keys are equally likely.
* `zipf`: key k has a probability proportional to 1 / (k + 1)^0.99, over exactly the preloaded records.
* `zipfian`: as in YCSB, drawn over 10^10 items and scattered by a hash; the most popular key gets 3.78 % for any number of keys.
* `latest`: the newest key minus a Zipfian draw.
* `sequential`: in order, from the first again after the last.
* `hotspot`: 80 % of the requests are for the first 20 % of the keys; uniform within both.
* `exponential`: the newest key minus an exponential draw; 95 % of the requests are for the newest 6/7 of the keys.
"""

Kind = Literal[
    "value-read",
    "value-write",
    "hash-read",
    "hash-write",
    "document-read",
    "document-write",
    "path-update",
    "row-read",
    "batch-write",
    "scan",
    "text-search",
    "mixed",
    "open-loop",
]
"""What a workload is an instance of. A scale that does not measure all workloads measures one of each kind.

* `value-read`, `hash-read`, `document-read`, `row-read`: one record by its key; `*-write`: one record whole.
* `path-update`: one path of a document, or several. `batch-write`: several records in a request. `scan`: a range of keys.
* `text-search`: requests for documents by their words, with the writes between them.
* `mixed`: reads and writes by key. `open-loop`: requests at a given rate.
"""

ANY_FIELD = "*"
"""Stands for a random field."""
SEVERAL = ("get_fields", "set_fields", "get_paths", "set_paths")
"""Operations on several fields or paths of one record."""
_READ_FIRST = ("put", "set_field", "set_path")
DRAWN = ("word", "language", "category", "published")
"""Variables in a request, such as `$word`: values from one random preloaded record."""
_DRAWN = re.compile(r"\$([a-z]+)")


def fill_in(request: Any, draw: Callable[[str], str]) -> Any:
    """Replace `$word` and the other variables in a request by what `draw` returns for their names."""
    match request:
        case str():
            return _DRAWN.sub(lambda found: draw(found[1]), request)
        case dict():
            return {name: fill_in(value, draw) for name, value in request.items()}
        case list() | tuple():
            return [fill_in(value, draw) for value in request]
    return request


def check_measured(operation: OperationName, request: dict[str, Any] | None) -> None:
    """Validate the request of a mix, which may have variables. Raises `RuleError`, with the field `request`."""
    try:
        check_request(operation, (fill_in(request, _known),))
    except RuleError as wrong:
        raise RuleError(str(wrong), "request") from None


def what_is_asked(operation: OperationName, request: dict[str, Any] | None) -> str:
    """An operation and the request it asks: equal for requests that are the same, however they are written."""
    if request is None:
        return operation
    said = REQUESTS[operation].model_validate(request).model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return f"{operation} {json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(',', ':'))}"


def variables_of(request: Any) -> tuple[str, ...]:
    """The variables in a request, each once, without the `$`."""
    found: dict[str, None] = {}
    fill_in(request, lambda name: found.setdefault(name) or "")
    return tuple(found)


class Mix(Frozen):
    """One operation of a mix."""

    name: Name | None = None
    """Its name in results; the operation's by default."""
    operation: OperationName
    weight: PositiveInt = 1
    batch: PositiveInt = 1
    """Records per request; above 1 the operation's batch form is used."""
    keys: Literal["new", "oldest", Distribution] | None = None
    """`new`: keys that were never written. A distribution: preloaded records, which stay; `latest` and `exponential` prefer the newest
    and draw new records too.

    `oldest`: the client's own oldest new record; for `delete`, so that preloaded records stay.
    """
    request: dict[str, Any] | None = None
    """The request of `find`, `count_where`, `aggregate` or `browse`, in the language of QUERY.md, with variables such as `$word`."""
    distinct: Annotated[float, Field(gt=0, le=1, strict=False)] = 1.0
    """With `keys: new`: the share of requests that write a new key; the others overwrite one."""
    path: Annotated[tuple[str | int, ...], Strict(False)] = ()
    """The path of a path operation, or the field of a field operation; `["*"]` for `set_field`: a random field each time."""
    paths: Annotated[tuple[Annotated[tuple[str | int, ...], Strict(False)], ...], Strict(False)] = ()
    """The paths of an operation on several of them, or the fields of a hash, each as a path of one name: `[[field0], [field3]]`."""
    reads_first: bool = False
    """Read-modify-write: the record is read before it is written, as one operation; a missing record is not written."""
    length: PositiveInt | None = None
    """Of `scan`: the maximum number of records; each scan draws 1 to that many, from a key drawn as `keys` says."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        asks = self.operation in READING
        if asks != (self.request is not None) or asks != (self.keys is None):
            raise RuleError(f"`{self.operation}` needs {'a request and no keys' if asks else 'keys and no request'}")
        if ANY_FIELD in self.path and (self.operation != "set_field" or self.path != (ANY_FIELD,)):
            raise RuleError("found any field; allowed only with `set_field`", "path")
        if (len(self.paths) > 1) != (self.operation in SEVERAL) or len(set(self.paths)) < len(self.paths):
            raise RuleError(f"{', '.join(SEVERAL)} need two paths or more, each once; other operations have none", "paths")
        if self.reads_first and (self.operation not in _READ_FIRST or self.batch > 1 or self.keys in ("new", "oldest", None)):
            raise RuleError(f"needs one existing record, and an operation that writes it: {', '.join(_READ_FIRST)}", "reads_first")
        if (self.length is not None) != (self.operation == "scan"):
            raise RuleError("`scan` needs a length; other operations have none", "length")
        if self.operation == "scan" and (self.batch > 1 or self.keys in ("new", "oldest")):
            raise RuleError("`scan` starts at an existing record", "keys")
        if (self.keys == "oldest") != (self.operation == "delete"):
            raise RuleError("`delete` takes the keys `oldest`, and no other operation does: the others need the preloaded records", "keys")
        if asks:
            check_measured(self.operation, self.request)
        return self

    @property
    def asked(self) -> str:
        return what_is_asked(self.operation, self.request)


class Workload(Frozen):
    """A measured mix of operations over one model."""

    workload: Name
    kind: Kind
    title: str
    model: Name
    mix: Annotated[tuple[Mix, ...], Strict(False), Field(min_length=1)]
    preload: bool
    """Whether the collection is filled with the scale's number of records before the measurement."""
    preload_records: PositiveInt | None = None
    """How many are preloaded in place of the scale's number; 1: all requests are for the same key."""
    clients: Literal["one", "few", "several", "sweep"]
    """Which of the scale's numbers of clients it runs with."""
    indexes: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Strict(False), Field(min_length=1)] = (0,)
    """Numbers of secondary indexes it runs with."""
    records: Annotated[tuple[Variation, ...], Strict(False), Field(min_length=1)] = (AS_IT_IS,)
    """Variations of the model's records it runs with: `{size: 1000}`, `{sizes: {uniform: [32, 1000]}}`, `{fields: 100}`, `{depth: 3}`; with
    `key_order: hashed` in addition, keys are as YCSB makes them."""
    pipelines: Annotated[tuple[PositiveInt, ...], Strict(False), Field(min_length=1)] = (1,)
    """Numbers of requests in flight per client it runs with."""
    loop: Literal["closed", "open"] = "closed"
    """`closed`: a client sends its next request after a reply. `open`: requests are due at each of the scale's rates, at exponential
    intervals; latency counts from when a request was due."""
    source: str = ""
    """Origin of the workload."""

    @property
    def keeps_records(self) -> bool:
        """Whether it neither adds nor removes any."""
        return all(mix.keys not in ("new", "oldest") for mix in self.mix)

    @model_validator(mode="after")
    def _parts_suit_each_other(self) -> Self:
        for place, mix in enumerate(self.mix):
            if not self.preload and mix.keys not in ("new", "oldest"):
                raise RuleError("takes loaded records, and none are loaded; allowed: `preload: true`", "mix", place)
            if mix.keys == "oldest" and not any(each.keys == "new" and each.distinct == 1 for each in self.mix):
                raise RuleError("removes new records; allowed: in a mix that also writes some, each under a key of its own", "mix", place)
        if len({record.name for record in self.records}) < len(self.records):
            raise RuleError("found two that are alike; allowed: each once, since their cases are named after them", "records")
        if self.preload_records is not None and not self.preload:
            raise RuleError("found a number of records, and none are loaded; allowed: with `preload: true`", "preload_records")
        if len(self.records) > 1 and self.indexes != (0,):
            raise RuleError("found several of both; allowed: several `indexes` or `records`, so that a series shows one cost", "records")
        if self.loop == "open" and self.pipelines != (1,):
            raise RuleError("found both; allowed: other pipelines in a closed loop", "pipelines")
        names = [mix.name or mix.operation for mix in self.mix]
        if twice := next((place for place, name in enumerate(names) if name in names[:place]), None):
            raise RuleError(f"the mix has two `{names[twice]}`; give one of them a name", "mix", twice)
        return self


class WorkloadFile(SpecFile):
    """One file of `spec/workloads/`."""

    FORMAT = (2, 0)
    RENAMED = older_formats.WORKLOADS

    group: Name
    workloads: Annotated[tuple[Workload, ...], Strict(False), Field(min_length=1)]


def _known(name: str) -> str:
    """A placeholder for a variable while a file is validated."""
    if name not in DRAWN:
        raise RuleError(f"found ${name}; allowed: {', '.join('$' + each for each in DRAWN)}")
    return name
