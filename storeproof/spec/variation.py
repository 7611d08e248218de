"""Variations of a model's records in size, number of fields, depth or keys, for series of measurements."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import PositiveInt, model_validator

from storeproof.spec.base import Frozen, RuleError
from storeproof.spec.model import Document, Hash, Model, Object, Record, Value, is_path_of
from storeproof.spec.sizes import LEAST, Size, Sizes

LEVEL: Final = "level"
"""The field name of an object that only contains the next one."""


class Variation(Frozen):
    """One difference from the model's file, or none."""

    size: Size | None = None
    """Bytes of a value, or of each field of a hash."""
    sizes: Sizes | None = None
    """Bytes of a value, drawn per write."""
    fields: PositiveInt | None = None
    """Number of fields of a hash; or how many of a document's it keeps, the first ones."""
    depth: PositiveInt | None = None
    """Nesting depth of a document; the innermost object has all the fields. 1 changes nothing."""
    key_order: Literal["hashed"] | None = None
    """Keys as YCSB makes them, in place of the model's; alone, or beside one of the others. It has no part in the name."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = [name for name in _OF_RECORDS if getattr(self, name) is not None]
        if len(given) > 1:
            raise RuleError(f"found {' and '.join(given)}; allowed: one of them, so that a series shows the cost of one thing")
        return self

    @property
    def name(self) -> str:
        """Such as `size-100`; empty where the records are the model's."""
        return next((f"{name}-{value}" for name in _OF_RECORDS if (value := getattr(self, name)) is not None), "")

    def applied(self, model: Model) -> Model:
        """The model with these records and keys. Of its indexes those are left whose paths are unchanged.
        Raises `RuleError`: it cannot be applied to this model."""
        record = self._record_of(model)
        if self.key_order == "hashed" and (model.key != "text" or model.text):
            raise RuleError(f"{model.model} has keys that cannot be hashed; allowed: text keys, of records that are not articles")
        indexes = tuple(path for path in model.indexes if is_path_of(path, record))
        changes = {"record": record, "indexes": indexes, "key_order": self.key_order or model.key_order}
        return model if self == AS_IT_IS else model.model_copy(update=changes)

    def _record_of(self, model: Model) -> Record:
        match self, model.record:
            case Variation(size=int(size)), Hash() if size < LEAST:
                raise RuleError(f"{model.model} has fields of {LEAST} bytes or more: each begins with the id of its write")
            case Variation(size=int(size)), Value() | Hash():
                return model.record.model_copy(update={"size": size})
            case Variation(sizes=Sizes() as sizes), Value():
                return model.record.model_copy(update={"size": sizes.table[-1], "drawn": sizes})
            case Variation(fields=int(fields)), Hash():
                return model.record.model_copy(update={"fields": tuple(f"field{place}" for place in range(fields))})
            case Variation(fields=int(fields)), Document(shape=shape):
                if fields > len(shape.object):
                    raise RuleError(f"{model.model} has {len(shape.object)} fields; allowed: as many or fewer")
                kept = dict(list(shape.object.items())[:fields])
                return model.record.model_copy(update={"shape": Object(object=kept)})
            case Variation(depth=int(depth)), Document(shape=shape):
                for _ in range(depth - 1):
                    shape = Object(object={LEVEL: shape})
                return model.record.model_copy(update={"shape": shape})
            case Variation(size=None, sizes=None, fields=None, depth=None), _:
                return model.record
        raise RuleError(f"{model.model} is a {model.record.kind}, of which {self.name.partition('-')[0]} cannot be changed")


_OF_RECORDS: Final = ("size", "sizes", "fields", "depth")
"""What differs in the records themselves."""

AS_IT_IS: Final = Variation()
"""No variation."""
