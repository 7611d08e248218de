"""Probe records for learning the requests of a store's client: under keys that no workload uses, and removed afterwards."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

from storeproof.contract import OPERATIONS, Collection, call
from storeproof.load.calls import MISSED
from storeproof.load.engine import Plan, label, operation_name
from storeproof.load.wire.slots import About, NotTemplated, fixed_write_id
from storeproof.records.arguments import arguments_of, drawing, forms_of, sizes_of
from storeproof.records.filler import pick, place_of
from storeproof.records.keys import form_of
from storeproof.records.self_verifying import Recipe, recipe
from storeproof.spec.model import Value
from storeproof.spec.workload import Mix

_FIRST: Final = 900_000_000_000
_SPREAD: Final = 99_999_999_977
"""A prime: probe keys are spread over twelve digits, so that none is found by chance among other bytes."""
_STRIDE: Final = 61_803_398_875
_NOBODY: Final = 10**15
"""No workload uses integer keys from here on."""
_CLIENT: Final = 8_100
"""The client in the write ids of probes."""


class Probes:
    """Makes them for one plan, through a client of its own, and removes them."""

    def __init__(self, plan: Plan, collection: Collection) -> None:
        """`collection`: of an ordinary client that speaks to the store itself."""
        self.plan = plan
        self._collection = collection
        self._numbers = count(1)
        self._made: set[int] = set()
        self.form = form_of(plan.layout.model)
        self.integer = plan.layout.model.key == "integer"
        for mix in plan.mix:
            self._check(mix)
        made = recipe(plan.layout.model, article_store=plan.article_store, fixed_numbers=plan.fixed_numbers)
        assert isinstance(made, Recipe), "models whose texts are searched are refused above"
        self._recipe = made

    def absent(self, batch: int) -> tuple[int, ...]:
        """Numbers of keys without a record, in the order of the keys."""
        if self.integer:
            return tuple(_NOBODY + next(self._numbers) for _ in range(batch))
        return tuple(sorted((_FIRST + next(self._numbers) * _STRIDE % _SPREAD for _ in range(batch)), key=self.form.shown))

    def present(self, batch: int) -> tuple[int, ...]:
        """Numbers of keys that are there."""
        numbers = tuple(range(batch)) if self.integer else self.absent(batch)
        for number in numbers:
            key = self._recipe.key(number)
            if call(self._collection, self.plan.layout, "get", key) is None:
                call(self._collection, self.plan.layout, "put", key, self._recipe.make(key, f"{_CLIENT}:{next(self._numbers)}"))
                self._made.add(number)
        return numbers

    def about(self, mix: Mix, numbers: tuple[int, ...], form: int = 0) -> tuple[About, tuple[Any, ...]]:
        """A request of a mix, in one of its forms, and the arguments of the call that makes it."""
        name, forms, write_id = operation_name(mix), forms_of(mix, self.plan.layout.model), self._write_id()
        if self.sizes(mix):
            while pick(place_of(self._recipe.key(numbers[0]), write_id), forms) != form:
                write_id = self._write_id()
        drawn = drawing(form, forms)
        arguments = arguments_of(name, mix, self._recipe, iter(numbers).__next__, lambda _sequence: write_id, lambda: drawn)
        if not OPERATIONS[name].writes:
            return About(numbers, form=self.form), arguments(0)[0]
        self._made.update(numbers)
        texts = tuple(tuple(self._recipe.texts(self._recipe.key(each), write_id)) for each in numbers)
        return About(numbers, write_id, texts, self.form), arguments(0)[0]

    def sizes(self, mix: Mix) -> tuple[int, ...]:
        """Sizes in bytes of the value that is written in each of the forms; none, where forms differ in something else."""
        return sizes_of(mix, self.plan.layout.model)

    def remove(self) -> None:
        """The collection is as it was before."""
        for number in sorted(self._made):
            call(self._collection, self.plan.layout, "delete", self._recipe.key(number))
        self._made.clear()

    def _write_id(self) -> str:
        return fixed_write_id(_CLIENT, next(self._numbers) * 7_919_317 % 99_999_999_977)

    def _check(self, mix: Mix) -> None:
        """Refuse what no template can be made of. Raises `NotTemplated`: it is such a mix."""
        model, name = self.plan.layout.model, operation_name(mix)
        if mix.request is not None:
            raise NotTemplated(
                f"{label(mix)}: what it asks differs in more than a key, and the size of an answer does not say if it is right"
            )
        if isinstance(model.record, Value) and model.record.drawn and name in ("put_many", "insert_many"):
            raise NotTemplated(f"{label(mix)}: each value of one request has a size of its own")
        if model.text:
            raise NotTemplated(f"{label(mix)}: the texts of {model.model} differ in length")
        if name not in MISSED:
            raise NotTemplated(f"{label(mix)}: no engine runs `{name}`")
        if self.integer and OPERATIONS[name].writes:
            raise NotTemplated(f"{label(mix)}: the numbers of {model.model} differ in width when they are written")
        if self.integer and mix.operation == "scan":
            raise NotTemplated(f"{label(mix)}: both the integer key and the length differ in width")
        if self.integer and mix.batch > 1:
            raise NotTemplated(f"{label(mix)}: the integer keys of one request differ in width")
