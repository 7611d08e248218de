"""A model of a reader's own: the records of one of the roles, where no model of the specification is like them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import Field, Strict, model_validator

from storeproof.spec.base import Frozen, RuleError
from storeproof.spec.model import Document, Hash, List, Model, Object, Shape, Text, Value, is_path_of
from storeproof.spec.sizes import LEAST, SHORTEST

_FIELD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
"""What all stores take as the name of a column; PostgreSQL cuts names after 63 bytes."""
_TAKEN: Final = ("k", "key")
"""Columns of our own beside the fields of a hash."""
_LARGEST: Final = 1 << 20
"""Bytes of a record: of the smallest scale, 47 such are loaded."""
_MOST_PARTS: Final = 1000
"""Fields and items of a record."""
_DIGITS: Final = 8


class OwnModel(Frozen):
    """Records as a file of `spec/models/` describes them: values, hashes or documents under text keys."""

    title: str = ""
    """For people; its name by default."""
    key: Literal["text"] = "text"
    """Keys are Unicode strings."""
    key_order: Literal["ordered", "hashed"] = "ordered"
    """How load engines make keys from numbers: `ordered`, so that new keys come last, or `hashed` as in YCSB."""
    record: Annotated[Value | Hash | Document, Field(discriminator="kind")]
    """The form of a record, and its size under load."""
    indexes: Annotated[tuple[Annotated[tuple[str, ...], Strict(False)], ...], Strict(False)] = ()
    """Paths of secondary indexes; `indexes: n` of a load creates the first n."""

    @model_validator(mode="after")
    def _can_be_loaded(self) -> Self:
        record = self.record
        if isinstance(record, Value):
            _check_value(record)
        if isinstance(record, Hash):
            _check_hash(record)
        if isinstance(record, Document):
            _check_document(record)
        if (size := _bytes_of(record)) > _LARGEST:
            raise RuleError(f"found a record of {size:,} bytes; allowed: at most {_LARGEST:,}", "record")
        for position, path in enumerate(self.indexes):
            if not is_path_of(path, record):
                raise RuleError(
                    f"found the path {'.'.join(path) or '(nothing)'}; allowed: that of a field of the record", "indexes", position
                )
        return self

    def named(self, name: str) -> Model:
        """The model. Its name ends with the digits of a hash of what it says: results of another model with that name are no evidence."""
        said = self.model_dump_json(exclude={"title"}, exclude_defaults=True)
        digits = hashlib.sha256(said.encode()).hexdigest()[:_DIGITS]
        return Model(
            format="1.0",
            model=f"{name}-{digits}",
            title=self.title or name,
            key=self.key,
            key_order=self.key_order,
            record=self.record,
            indexes=self.indexes,
        )


def _check_value(record: Value) -> None:
    if record.size < SHORTEST:
        raise RuleError(f"found a value of {record.size} bytes; allowed: {SHORTEST} or more", "record", "size")
    if record.drawn is not None and record.size != record.drawn.table[-1]:
        raise RuleError(f"found {record.size}; allowed: {record.drawn.table[-1]}, the largest of `drawn`", "record", "size")


def _check_hash(record: Hash) -> None:
    if record.size < LEAST:
        raise RuleError(
            f"found fields of {record.size} bytes; allowed: {LEAST} or more: each begins with the id of its write", "record", "size"
        )
    _check_names(record.fields, "record", "fields")
    if taken := [name for name in record.fields if name.lower() in _TAKEN]:
        raise RuleError(f"found {taken[0]}, which is the column of the key; allowed: another name", "record", "fields")


def _check_document(record: Document) -> None:
    parts = list(_parts(record.shape))
    if len(parts) > _MOST_PARTS:
        raise RuleError(f"found more than {_MOST_PARTS} fields and items; allowed: as many or fewer", "record", "shape")
    for part in parts:
        if isinstance(part, Object):
            _check_names(tuple(part.object), "record", "shape")
    if not any(isinstance(part, Text) and part.text >= LEAST for part in parts):
        least = f"one text of {LEAST} characters or more: the id of a write stands in it"
        raise RuleError(f"found no text that is long enough; allowed: {least}", "record", "shape")


def _check_names(names: tuple[str, ...], *place: str) -> None:
    if not names or len(names) > _MOST_PARTS:
        raise RuleError(f"found {len(names)} fields; allowed: 1 to {_MOST_PARTS}", *place)
    if wrong := [name for name in names if not _FIELD.fullmatch(name)]:
        raise RuleError(f"found the field {wrong[0]!r}; allowed: a letter, then up to 59 letters, digits and `_`", *place)
    if len({name.lower() for name in names}) < len(names):
        raise RuleError("found two fields with one name; allowed: names that differ in more than upper and lower case", *place)


def _parts(shape: Shape) -> Iterator[Shape]:
    """The shape and all in it, no more than one beyond what is allowed."""
    left: list[Shape] = [shape]
    for _ in range(_MOST_PARTS + 1):
        if not left:
            return
        part = left.pop()
        yield part
        if isinstance(part, List):
            left += [part.of] * min(part.list, _MOST_PARTS)
        if isinstance(part, Object):
            left += part.object.values()


def _bytes_of(record: Value | Hash | Document) -> int:
    if isinstance(record, Value):
        return max(record.size, *record.sizes, *(record.drawn.table if record.drawn else ()))
    if isinstance(record, Hash):
        return record.size * len(record.fields)
    leaves = (part for part in _parts(record.shape) if not isinstance(part, (List, Object)))
    return sum(part.text if isinstance(part, Text) else 8 for part in leaves)
