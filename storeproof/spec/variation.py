"""Variations of a model's records in size, number of fields or depth, for series of measurements."""

from __future__ import annotations

from typing import Final, Self

from pydantic import PositiveInt, model_validator

from storeproof.spec.base import Frozen, RuleError
from storeproof.spec.model import Document, Hash, Model, Object, Value
from storeproof.spec.sizes import Size, Sizes

LEVEL: Final = "level"
"""The field name of an object that only contains the next one."""


class Variation(Frozen):
    """One difference from the model's file, or none."""

    size: Size | None = None
    """Bytes of a value, or of each field of a hash."""
    sizes: Sizes | None = None
    """Bytes of a value, drawn per write."""
    fields: PositiveInt | None = None
    """Number of fields of a hash."""
    depth: PositiveInt | None = None
    """Nesting depth of a document; the innermost object has all the fields. 1 changes nothing."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) > 1:
            raise RuleError(f"found {' and '.join(given)}; allowed: one of them, so that a series shows the cost of one thing")
        return self

    @property
    def name(self) -> str:
        """Such as `size-100`; empty without a variation."""
        return next((f"{name}-{value}" for name in type(self).model_fields if (value := getattr(self, name)) is not None), "")

    def applied(self, model: Model) -> Model:
        """The model with these records.

        Raises:
            RuleError: it cannot be applied to this kind of record.
        """
        record: Value | Hash | Document
        match self, model.record:
            case Variation(size=int(size)), Value() | Hash():
                record = model.record.model_copy(update={"size": size})
            case Variation(sizes=Sizes() as sizes), Value():
                record = model.record.model_copy(update={"size": sizes.table[-1], "drawn": sizes})
            case Variation(fields=int(fields)), Hash():
                record = model.record.model_copy(update={"fields": tuple(f"field{place}" for place in range(fields))})
            case Variation(depth=int(depth)), Document(shape=shape):
                for _ in range(depth - 1):
                    shape = Object(object={LEVEL: shape})
                record = model.record.model_copy(update={"shape": shape})
            case Variation(size=None, sizes=None, fields=None, depth=None), _:
                return model
            case _:
                raise RuleError(f"{model.model} is a {model.record.kind}, of which {self.name.partition('-')[0]} cannot be changed")
        return model.model_copy(update={"record": record, "indexes": ()})


AS_IT_IS: Final = Variation()
"""No variation."""
