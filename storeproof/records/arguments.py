"""Arguments of requests under load: random keys, and self-verifying records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from storeproof.contract.values import Path
from storeproof.records.article_records import ArticleRecipe
from storeproof.records.distributions import Draw
from storeproof.records.self_verifying import Recipe
from storeproof.spec.model import Hash, Model, Value
from storeproof.spec.workload import ANY_FIELD, Mix

Arguments = Callable[[int], tuple[tuple[Any, ...], tuple[int, ...]]]
"""(sequence number) -> the arguments of a call, and the numbers of the keys in them."""
_WHOLE: Final = ("put", "put_if_absent")
"""Operations that write a whole record."""


def forms_of(mix: Mix, model: Model) -> int:
    """The number of different requests that a mix can make for one key, all equally likely: one per field, per length of a scan, or per
    size of the written value."""
    if sizes := sizes_of(mix, model):
        return len(sizes)
    return mix.length or len(_paths_of(mix, model))


def sizes_of(mix: Mix, model: Model) -> tuple[int, ...]:
    """Sizes in bytes, equally likely, of the values that a mix writes; empty if the size is fixed or the mix writes no whole value."""
    drawn = model.record.drawn if isinstance(model.record, Value) else None
    return drawn.table if drawn and mix.operation in _WHOLE else ()


def drawing(form: int, forms: int) -> float:
    """The number that `random` of `arguments_of` must return to select a form, counted from 0."""
    return (form + 0.5) / forms


def _paths_of(mix: Mix, model: Model) -> list[Path]:
    """The paths or fields from which an operation of the mix takes one."""
    if mix.path == (ANY_FIELD,) and isinstance(model.record, Hash):
        return [(name,) for name in model.record.fields]
    return [mix.path]


def arguments_of(
    name: str, mix: Mix, made: Recipe | ArticleRecipe, draw: Draw, write_id: Callable[[int], str], random: Callable[[], float]
) -> Arguments:
    """A function that makes the arguments of an operation.

    `draw`: returns the number of the next key. `write_id`: (sequence number) -> the write id of a request. `random`: returns numbers in
    [0, 1), for all other choices.
    """
    make, key_at = made.make, made.key

    def key_only(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        return (key_at(number),), (number,)

    def key_and_record(sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        key = key_at(number)
        return (key, make(key, write_id(sequence))), (number,)

    def many_keys(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        numbers = tuple(draw() for _ in range(mix.batch))
        return ([key_at(number) for number in numbers],), numbers

    def many_records(sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        numbers = tuple(dict.fromkeys(draw() for _ in range(mix.batch)))
        text = write_id(sequence)
        return ({(key := key_at(number)): make(key, text) for number in numbers},), numbers

    path: Any = mix.path[0] if name.endswith("_field") and mix.path else mix.path
    paths = _paths_of(mix, made.model)

    def key_and_path(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        return (key_at(number), path), (number,)

    def key_path_and_part(sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        key = key_at(number)
        chosen = paths[int(random() * len(paths))]
        return (key, chosen[0] if name == "set_field" else chosen, made.part(key, write_id(sequence), chosen)), (number,)

    names: list[Any] = [path[0] if name.endswith("_fields") else path for path in mix.paths]

    def key_and_paths(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        return (key_at(number), names), (number,)

    def key_and_parts(sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        key, text = key_at(number), write_id(sequence)
        return (key, {part: made.part(key, text, path) for part, path in zip(names, mix.paths, strict=True)}), (number,)

    def key_and_one(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        return (key_at(number), 1), (number,)

    def key_and_length(_sequence: int) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        number = draw()
        return (key_at(number), 1 + int(random() * length), False), (number,)

    length = mix.length or 1
    return {
        "scan": key_and_length,
        "put": key_and_record,
        "put_if_absent": key_and_record,
        "get_many": many_keys,
        "put_many": many_records,
        "insert_many": many_records,
        "get_field": key_and_path,
        "get_path": key_and_path,
        "set_field": key_path_and_part,
        "set_path": key_path_and_part,
        "get_fields": key_and_paths,
        "get_paths": key_and_paths,
        "set_fields": key_and_parts,
        "set_paths": key_and_parts,
        "increment": key_and_one,
    }.get(name, key_only)
