"""Models: the form of the records that stores are asked to keep."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, PositiveInt, Strict, Tag, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.query import FieldPath, Where
from storeproof.spec.sizes import Sizes


class Value(Frozen):
    """An opaque value of bytes."""

    kind: Literal["value"]
    size: PositiveInt
    """Bytes of a value under load."""
    sizes: Annotated[tuple[PositiveInt, ...], Strict(False)]
    """Sizes in bytes for tests of correctness."""
    drawn: Sizes | None = None
    """Sizes under load that vary from write to write; `size` is then the largest."""


class Hash(Frozen):
    """A flat hash: named fields, each with an opaque value."""

    kind: Literal["hash"]
    fields: Annotated[tuple[str, ...], Strict(False)]
    """Their names."""
    size: PositiveInt
    """Bytes of a field's value under load."""


class RowRecord(Frozen):
    """A table row: `integer` (32 bits, signed) and `real` (IEEE 754 double) under a 64-bit key."""

    kind: Literal["row"]


class CounterRecord(Frozen):
    """A signed 64-bit counter."""

    kind: Literal["counter"]


class QueueRecord(Frozen):
    """A list of opaque items with push and pop at both ends."""

    kind: Literal["list"]


class MembersRecord(Frozen):
    """A set of text members."""

    kind: Literal["set"]


class RankingRecord(Frozen):
    """A sorted set: text members ordered by score (IEEE 754 double)."""

    kind: Literal["ranking"]


class PlacesRecord(Frozen):
    """A geospatial set: text members, each with a position."""

    kind: Literal["places"]


class Text(Frozen):
    """A printable string of `text` characters."""

    text: PositiveInt
    """Characters."""


class Integer(Frozen):
    """A signed integer of `integer` bits."""

    integer: Literal[32, 53, 64]
    """Bits."""


class Real(Frozen):
    """An IEEE 754 number of `real` bits."""

    real: Literal[64]
    """Bits."""


class List(Frozen):
    """A list with `list` items of one shape."""

    list: PositiveInt
    """Items."""
    of: Shape
    """The shape of each."""


class Object(Frozen):
    """Named fields, each with its own shape."""

    object: dict[str, Shape]
    """The shape of each field, by its name."""


def _kind_of_shape(written: Any) -> str | None:
    """The shape that has one of the given fields; each has one that no other has."""
    fields = written if isinstance(written, dict) else type(written).model_fields if isinstance(written, Frozen) else ()
    return next((kind.capitalize() for kind in ("text", "integer", "real", "list", "object") if kind in fields), None)


Shape = Annotated[
    Annotated[Text, Tag("Text")]
    | Annotated[Integer, Tag("Integer")]
    | Annotated[Real, Tag("Real")]
    | Annotated[List, Tag("List")]
    | Annotated[Object, Tag("Object")],
    Discriminator(
        _kind_of_shape,
        custom_error_type="shape",
        custom_error_message="a shape: {text: 20}, {integer: 32}, {real: 64}, {list: 3, of: SHAPE} or {object: {field: SHAPE}}",
    ),
]
"""The form of one value of a document."""


class Document(Frozen):
    """A JSON document: null, booleans, 64-bit integers, finite doubles, strings, lists and objects."""

    kind: Literal["document"]
    shape: Object
    """Of its fields under load."""


Record = Value | Hash | RowRecord | CounterRecord | Document | QueueRecord | MembersRecord | RankingRecord | PlacesRecord
"""The form of a record."""

List.model_rebuild()
Object.model_rebuild()
Document.model_rebuild()


class Model(SpecFile):
    """A data model: records of one form under unique keys."""

    model: Name
    title: str
    key: Literal["text", "integer"]
    """Text keys are Unicode strings; integer keys are signed 64-bit numbers."""
    key_order: Literal["ordered", "hashed"] = "ordered"
    """How load engines make text keys from numbers: `ordered`, so that new keys come last, or `hashed` as in YCSB, so that they are
    scattered."""
    record: Annotated[Record, Field(discriminator="kind")]
    indexes: Annotated[tuple[Annotated[tuple[str, ...], Strict(False)], ...], Strict(False)] = ()
    """Paths of secondary indexes; `indexes: n` creates the first n."""

    text: Annotated[tuple[Annotated[tuple[str, ...], Strict(False)], ...], Strict(False)] = ()
    """Paths for full-text search; stores that can have a text index on them."""
    language: Annotated[tuple[str, ...], Strict(False)] = ()
    """The path of the language of these texts, as a lower-case IETF tag."""
    places: Annotated[tuple[Annotated[tuple[str, ...], Strict(False)], ...], Strict(False)] = ()
    """Paths of GeoJSON points; stores that can have a geospatial index on them. They are optional in a record."""
    decimals: Annotated[tuple[Annotated[tuple[str, ...], Strict(False)], ...], Strict(False)] = ()
    """Paths of exact decimals, which must not be stored as doubles. They are optional in a record."""

    @model_validator(mode="after")
    def _hashed_keys_are_texts(self) -> Self:
        if self.key_order == "hashed" and (self.key != "text" or self.text):
            raise RuleError("found hashed; allowed: with text keys, of records that are not articles", "key_order")
        return self

    @model_validator(mode="after")
    def _indexes_are_in_the_record(self) -> Self:
        for position, path in enumerate(self.indexes):
            if not is_path_of(path, self.record):
                raise RuleError(
                    f"found the path {'.'.join(path) or '(nothing)'}; allowed: the path of a field of the record", "indexes", position
                )
        return self


def is_path_of(path: tuple[str, ...], record: Record) -> bool:
    """Whether a record has a field at a path that an index may be on."""
    if isinstance(record, Hash):
        return len(path) == 1 and path[0] in record.fields
    if isinstance(record, RowRecord):
        return path in (("integer",), ("real",))
    if isinstance(record, Document):
        shape: Shape = record.shape
        for part in path:
            if not isinstance(shape, Object) or part not in shape.object:
                return False
            shape = shape.object[part]
        return True
    return False


class Index(Where):
    """An index on paths, in order; with a filter, a partial index of the records that match."""

    name: Name
    paths: Annotated[tuple[FieldPath, ...], Strict(False), Field(min_length=1)]
    unique: bool = False
    """No two records have equal values at all paths."""
    each: bool = False
    """The path is a list, and each of its items is indexed."""
