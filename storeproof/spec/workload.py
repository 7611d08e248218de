"""Mixes of operations that are measured, once they were correct."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.operation import OperationName
from storeproof.spec.query import READING, check_request
from storeproof.spec.variation import AS_IT_IS, Variation

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
* `path-update`: one path of a document. `batch-write`: several records in a request. `scan`: a range of keys.
* `text-search`: requests for documents by their words, with the writes between them.
* `mixed`: reads and writes by key. `open-loop`: requests at a given rate.
"""

ANY_FIELD = "*"
"""In place of the name of a field."""
_READ_FIRST = ("put", "set_field", "set_path")
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
    """The path of a path operation, or the one field of a field operation; `["*"]` for `set_field`: any field, drawn evenly each time."""
    reads_first: bool = False
    """The same record is read before it is written, and both are one operation; where it is not there, nothing is written."""
    length: PositiveInt | None = None
    """Of `scan`: from 1 to so many records, drawn evenly each time, from a key on that is drawn as `keys` says."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        asks = self.operation in READING
        if asks != (self.request is not None) or asks != (self.keys is None):
            raise RuleError(f"`{self.operation}` needs {'a request and no keys' if asks else 'keys and no request'}")
        if ANY_FIELD in self.path and (self.operation != "set_field" or self.path != (ANY_FIELD,)):
            raise RuleError("found any field; allowed: `set_field` of one", "path")
        if self.reads_first and (self.operation not in _READ_FIRST or self.batch > 1 or self.keys in ("new", "oldest", None)):
            raise RuleError(f"needs one record that is there, and an operation that writes it: {', '.join(_READ_FIRST)}", "reads_first")
        if (self.length is not None) != (self.operation == "scan"):
            raise RuleError("`scan` needs a length, and nothing else has one", "length")
        if self.operation == "scan" and (self.batch > 1 or self.keys in ("new", "oldest")):
            raise RuleError("`scan` begins at one record that is there", "keys")
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
    kind: Kind
    title: str
    model: Name
    mix: Annotated[tuple[Mix, ...], Strict(False), Field(min_length=1)]
    preload: bool
    """Whether the collection is filled with the scale's records before the measurement."""
    clients: Literal["one", "few", "sweep"]
    """Which of the scale's client counts it runs at."""
    indexes: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Strict(False), Field(min_length=1)] = (0,)
    """Numbers of secondary indexes it runs with; those a store does not have are skipped by name."""
    records: Annotated[tuple[Variation, ...], Strict(False), Field(min_length=1)] = (AS_IT_IS,)
    """Records it runs with: `{size: 1000}`, `{sizes: {uniform: [32, 1000]}}`, `{fields: 100}`, `{depth: 3}`; those of the
    model without it."""
    pipelines: Annotated[tuple[PositiveInt, ...], Strict(False), Field(min_length=1)] = (1,)
    """Requests that each client has in flight."""
    loop: Literal["closed", "open"] = "closed"
    """`closed`: a client sends its next request when it has a reply. `open`: requests come at each of the scale's rates, at exponential
    intervals, whatever became of the ones before; latency is then from when a request was due."""
    source: str = ""
    """Where the workload comes from."""

    @model_validator(mode="after")
    def _parts_suit_each_other(self) -> Self:
        for place, mix in enumerate(self.mix):
            if not self.preload and mix.keys not in ("new", "oldest"):
                raise RuleError("takes loaded records, and none are loaded; allowed: `preload: true`", "mix", place)
            if mix.keys == "oldest" and not any(each.keys == "new" and each.distinct == 1 for each in self.mix):
                raise RuleError("removes new records; allowed: in a mix that also writes some, each under a key of its own", "mix", place)
        if any(record.name for record in self.records) and self.indexes != (0,):
            raise RuleError("found both; allowed: `indexes` or other records, so that a series shows the cost of one thing", "records")
        if self.loop == "open" and self.pipelines != (1,):
            raise RuleError("found both; allowed: other pipelines in a closed loop", "pipelines")
        names = [mix.name or mix.operation for mix in self.mix]
        if twice := next((place for place, name in enumerate(names) if name in names[:place]), None):
            raise RuleError(f"the mix has two `{names[twice]}`; give one of them a name", "mix", twice)
        return self


class WorkloadFile(SpecFile):
    """One file of `spec/workloads/`."""

    FORMAT = (2, 0)
    RENAMED = MappingProxyType({"load": "preload"})

    group: Name
    workloads: Annotated[tuple[Workload, ...], Strict(False), Field(min_length=1)]


def _known(name: str) -> str:
    """Stands for what is drawn while a file is read."""
    if name not in DRAWN:
        raise RuleError(f"found ${name}; allowed: {', '.join('$' + each for each in DRAWN)}")
    return name
