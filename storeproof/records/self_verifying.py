"""Self-verifying records, generated from a model, a key and a write id (client and sequence number).

Every part of a record (the value, each field of a hash, each leaf of a document) either begins with the write id in plain text,
`7:1042|…`, or is derived from it. The rest is filler: a slice of one fixed block, at a place that depends on key, write id and part.
So a record that is read back shows by itself whether it is whole, torn between writes, or was never written under this key; no list of
written records is needed. A value too short for a write id shows that it was written, but not by which write.

The filler is fixed pseudo-random text over 64 characters: printable (a store may keep it as a string) and hard to compress. It costs
one slice: about 1 µs for a 100-byte value, 3-5 µs for a hash or document of ten fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any, Final, Literal
from zlib import crc32

from storeproof.contract.values import Json, Key, Path, Record, Row
from storeproof.corpus.articles import articles
from storeproof.records.article_records import ArticleRecipe
from storeproof.records.filler import (
    BLOCK,
    BYTES,
    MASK,
    REAL_SCALE,
    SEPARATOR,
    TEXT,
    apart,
    bytes_at,
    number_of,
    place_of,
    text_of,
)
from storeproof.records.keys import key_of
from storeproof.records.readback import INVENTED, Identified
from storeproof.records.written_parts import begins_well, carried, drawn_size, is_number, is_same, matches
from storeproof.spec.model import CounterRecord, Document, Hash, Integer, List, Model, Object, Real, Shape, Text, Value
from storeproof.spec.model import RowRecord as RowShape
from storeproof.spec.sizes import LEAST

MAX_CLIENT: Final = 2**13
"""Client numbers are below this (13 bits), and sequence numbers below `MAX_SEQUENCE` (40): 53 bits fit exactly into a double."""
MAX_SEQUENCE: Final = 2**40


def write_id(client: int, sequence: int) -> str:
    """The id of one write: `client:sequence`. Raises `ValueError`: `client` exceeds 13 bits, or `sequence` 40."""
    if not (0 <= client < MAX_CLIENT and 0 <= sequence < MAX_SEQUENCE):
        raise ValueError(f"a write id has a client below {MAX_CLIENT} and a sequence below 2**40; found {client}:{sequence}")
    return f"{client}:{sequence}"


class Recipe:
    """Makes the records of one model, and identifies those read back. Keeps no track of the records it made."""

    def __init__(self, model: Model, size: int | None = None, fixed_numbers: bool = False) -> None:
        """
        Args:
            size: bytes of a value, or of each field of a hash, instead of the model's size.
            fixed_numbers: give each number in a document the same value in all records, so that all records are equally long even if
                numbers are sent as decimal text. Only the texts then identify the write.
        """
        self.model = model
        self._fixed = fixed_numbers
        shape = model.record
        self._size = size if size is not None else getattr(shape, "size", 0)
        drawn = shape.drawn if isinstance(shape, Value) and size is None else None
        self._sizes: tuple[int, ...] = drawn.table if drawn else ()
        """Sizes in bytes, equally likely, of values that vary in size; empty for a fixed size."""
        self._leaves: list[tuple[Path, int, Shape]] = []
        """The leaves of a document: path, shift of the filler relative to the record's place, and shape."""
        self._end = 0
        self._builders: dict[Path, Callable[[int, str, str], Json]] = {}
        if isinstance(shape, Document):
            self._compile(shape.shape, ())
        makers: dict[type, Callable[[Key, str], Record]] = {
            Value: self._value,
            Hash: self._hash,
            Document: self._document,
            RowShape: _row,
            CounterRecord: _counter,
        }
        if type(shape) not in makers:
            raise ValueError(f"{model.model} takes no load: a {shape.kind} grows by its items, and no write id can be part of it")
        self.make = makers[type(shape)]
        """(key, write id) -> record."""
        self._telling = self._telling_parts(shape)

    def key(self, number: int) -> Key:
        return key_of(self.model, number)

    def part(self, key: Key, write_id: str, path: Path) -> Any:
        """One part of the record: the bytes of a field, or the value at a path of a document."""
        if path in self._builders:
            return self._builders[path](place_of(key, write_id), write_id, write_id + SEPARATOR)
        part: Any = self.make(key, write_id)
        for step in path:
            part = part[step]
        return part

    def texts(self, key: Key, write_id: str) -> list[tuple[int, str]]:
        """The texts of a record, each after its shift: its filler begins at the record's place + shift."""
        made, shape = self.make(key, write_id), self.model.record
        if isinstance(made, bytes):
            return [(0, made.decode("ascii"))]
        if isinstance(shape, Hash) and isinstance(made, dict):
            return [
                (number * apart(self._size), part.decode("ascii")) for number, part in enumerate(made.values()) if isinstance(part, bytes)
            ]
        found: dict[Path, Any] = {}
        _flatten(made, (), found)
        return [(shift, found[path]) for path, shift, leaf in self._leaves if isinstance(leaf, Text)]

    def identify(self, key: Key, record: Record) -> Identified:
        """Identify the write of a record that was read under `key`."""
        return self._as_written(key, record) or self._by_parts(key, record)

    def _telling_parts(self, shape: Any) -> tuple[Path, ...]:
        """The parts that tell their write, a text or bytes first; none of a row, a counter, or a document of numbers alone."""
        if isinstance(shape, Value):
            return ((),)
        if isinstance(shape, Hash):
            return tuple((name,) for name in shape.fields)
        texts = [path for path, _, leaf in self._leaves if isinstance(leaf, Text)]
        numbers = [path for path, _, leaf in self._leaves if not (self._fixed or isinstance(leaf, Text))]
        return (*texts, *numbers) if texts else ()

    def _as_written(self, key: Key, record: Record) -> Identified | None:
        """The write of a record that is byte for byte what it stored, as nearly all are; None for any other record."""
        if not self._telling:
            return None
        part: Any = record
        try:
            for step in self._telling[0]:
                part = part[step]
            write_id = carried(part)
            if write_id is None or not is_same(record, self.make(key, write_id)):
                return None
        except (LookupError, TypeError, ValueError):  # it is of another form, or no record can be made with what stands there
            return None
        return Identified("whole", (write_id,), dict.fromkeys(self._telling, write_id), True)

    def _by_parts(self, key: Key, record: Record) -> Identified:
        """Identify the writes of each part."""
        shape = self.model.record
        if isinstance(shape, CounterRecord):
            return Identified("whole" if type(record) is int else "invented", (), {})
        if isinstance(shape, RowShape):
            return _identify_row(key, record)
        if isinstance(shape, Value):
            if type(record) is not bytes:
                return INVENTED
            judged = self._judge(key, {(): record}, {(): (0, self._sizes or self._size)}, complete=True)
            short = judged.kind == "invented" and len(record) == self._size < LEAST and record in BYTES
            return Identified("whole", (), {(): None}) if short else judged
        if not isinstance(record, dict):
            return INVENTED
        found: dict[Path, Any] = {}
        if isinstance(shape, Hash):
            expected: dict[Path, Any] = {(name,): (number * apart(self._size), self._size) for number, name in enumerate(shape.fields)}
            found = {(name,): value for name, value in record.items()}
        else:
            expected = {path: (shift, leaf) for path, shift, leaf in self._leaves}
            _flatten(record, (), found)
        if not found.keys() <= expected.keys():
            return INVENTED
        return self._judge(key, found, expected, complete=len(found) == len(expected))

    def _value(self, key: Key, write_id: str) -> bytes:
        head, place = f"{write_id}|".encode(), place_of(key, write_id)
        size = drawn_size(self._sizes, place) if self._sizes else self._size
        room = size - len(head)
        if room < 0 and size < LEAST:
            return bytes_at(place, size)  # as `text_of` does for a text that is too short
        if room < 0:
            raise ValueError(f"a value of {size} bytes cannot carry the write id {write_id}: give it at least {len(head)} bytes")
        return head + bytes_at(place, room)

    def _hash(self, key: Key, write_id: str) -> dict[str, bytes]:
        shape = self.model.record
        assert isinstance(shape, Hash)
        head = f"{write_id}|".encode()
        room = self._size - len(head)
        if room < 0:
            raise ValueError(f"a field of {self._size} bytes cannot carry the write id {write_id}: give it at least {len(head)} bytes")
        place = place_of(key, write_id)
        record = {}
        for name in shape.fields:
            at = place & MASK
            record[name] = head + BYTES[at : at + room] if room <= BLOCK else head + bytes_at(place, room)
            place += apart(self._size)
        return record

    def _document(self, key: Key, write_id: str) -> dict[str, Json]:
        made = self._builders[()](place_of(key, write_id), write_id, write_id + SEPARATOR)
        assert isinstance(made, dict)
        return made

    def _compile(self, shape: Shape, path: Path) -> Callable[[int, str, str], Json]:
        """Make a builder (place, write id, head) -> value for this part of a document, and register it under its path."""
        build = self._builders[path] = self._builder(shape, path)
        return build

    def _builder(self, shape: Shape, path: Path) -> Callable[[int, str, str], Json]:
        if isinstance(shape, Object):
            members = [(name, self._compile(inner, (*path, name))) for name, inner in shape.object.items()]
            return lambda place, write_id, head: {name: build(place, write_id, head) for name, build in members}
        if isinstance(shape, List):
            items = [self._compile(shape.of, (*path, position)) for position in range(shape.list)]
            return lambda place, write_id, head: [build(place, write_id, head) for build in items]
        shift = self._end
        self._end += apart(_shape_bytes(shape))
        self._leaves.append((path, shift, shape))
        if isinstance(shape, Text):
            return _text_leaf(shift, shape.text)
        if self._fixed:
            fixed = number_of(shape, shift)
            return lambda _place, _write_id, _head: fixed
        return lambda place, _write_id, _head: number_of(shape, place + shift)

    def _judge(self, key: Key, found: Mapping[Path, Any], expected: Mapping[Path, Any], *, complete: bool) -> Identified:
        """Collect the write ids in the parts, then compare every part with what these writes would have stored."""
        parts: dict[Path, str | None] = {}
        claimed: dict[str, int] = {}
        damaged = False
        for value in found.values():
            text = carried(value)
            if text is not None:
                claimed.setdefault(text, place_of(key, text))
        for path, value in found.items():
            shift, kind = expected[path]
            if self._fixed and isinstance(kind, (Integer, Real)):
                if not is_number(value, kind, shift):  # a correct one identifies no write: all records have it
                    parts[path], damaged = None, True
                continue
            parts[path] = next(
                (text for text, place in claimed.items() if matches(value, text, place + shift, kind)),
                None,
            )
            if parts[path] is None:
                text = carried(value)
                if text is not None and not begins_well(value, text, claimed[text] + shift):
                    return Identified("invented", (), parts)
                if text is not None:
                    parts[path] = text
                damaged = True
        # In order of the first part, without duplicates. A write id that no part confirms is left out.
        write_ids = tuple(dict.fromkeys(text for text in parts.values() if text is not None))
        if not write_ids:
            return Identified("invented", (), parts)
        kind_seen: Literal["whole", "torn"] = "whole" if complete and not damaged and len(write_ids) == 1 else "torn"
        return Identified(kind_seen, write_ids, parts, complete and not damaged)


_recipes: dict[tuple[int, int | None, FilePath | None, bool], Recipe | ArticleRecipe] = {}


def recipe(
    model: Model, size: int | None = None, article_store: FilePath | None = None, fixed_numbers: bool = False
) -> Recipe | ArticleRecipe:
    """The recipe of a model, created on first use. `article_store`: articles for a model with text search; None generates them."""
    known_as = id(model), size, article_store, fixed_numbers
    found = _recipes.get(known_as)
    if found is None:  # the recipe keeps its model alive, so that the id is not reused
        found = ArticleRecipe(model, articles(article_store)) if model.text else Recipe(model, size, fixed_numbers)
        _recipes[known_as] = found
    return found


def record(model: Model, key: Key, write_id: str, size: int | None = None) -> Record:
    """The record that the write with this id stores under this key. In a loop, call `recipe(model).make` instead."""
    return recipe(model, size).make(key, write_id)


def identify(model: Model, key: Key, record: Record, size: int | None = None) -> Identified:
    """Identify the write of a record that was read under `key`. `size`: as when it was written."""
    return recipe(model, size).identify(key, record)


def payload_bytes(model: Model, size: int | None = None, article_store: FilePath | None = None) -> int:
    """Bytes of data in one record: the length of values and texts, 4 for a 32-bit integer, 8 for other numbers; without keys and names.

    For values that vary in size, the mean; for articles, the mean of the first ones.
    """
    made, shape = recipe(model, size, article_store) if model.text else None, model.record
    if isinstance(made, ArticleRecipe):
        return made.payload_bytes()
    if isinstance(shape, Value):
        sizes = shape.drawn.table if shape.drawn and size is None else (size or shape.size,)
        return round(sum(sizes) / len(sizes))
    if isinstance(shape, Hash):
        return (size or shape.size) * len(shape.fields)
    if isinstance(shape, RowShape):
        return 12
    if isinstance(shape, Document):
        return _shape_bytes(shape.shape)
    if isinstance(shape, CounterRecord):
        return 8
    raise ValueError(f"{model.model} takes no load")


def _shape_bytes(shape: Shape) -> int:
    if isinstance(shape, Object):
        return sum(_shape_bytes(inner) for inner in shape.object.values())
    if isinstance(shape, List):
        return shape.list * _shape_bytes(shape.of)
    if isinstance(shape, Text):
        return shape.text
    return 4 if isinstance(shape, Integer) and shape.integer == 32 else 8


def _text_leaf(shift: int, length: int) -> Callable[[int, str, str], Json]:
    def build(place: int, _write_id: str, head: str) -> Json:
        at = (place + shift) & MASK
        room = length - len(head)
        return head + TEXT[at : at + room] if 0 <= room <= BLOCK else text_of(head, place + shift, length)

    return build


def _row(key: Key, write_id: str) -> Row:
    client, _, sequence = write_id.partition(":")
    return Row(crc32(f"{key}\0{write_id}".encode()) - 2**31, ((int(client) << 40) + int(sequence)) / REAL_SCALE)


def _identify_row(key: Key, record: Record) -> Identified:
    """The write id is recovered from the double; the 32-bit integer, too small for it, is a hash of key and write id."""
    if not isinstance(record, Row):
        return INVENTED
    packed = record.real * REAL_SCALE
    if not 0 <= packed < 2**53 or packed != int(packed):
        return INVENTED
    client, sequence = divmod(int(packed), MAX_SEQUENCE)
    found = f"{client}:{sequence}"
    borne_out = record.integer == _row(key, found).integer
    return Identified("whole" if borne_out else "torn", (found,), {("integer",): found if borne_out else None, ("real",): found})


def _counter(_key: Key, write_id: str) -> int:
    return int(write_id.partition(":")[2])


def _flatten(value: Any, path: Path, into: dict[Path, Any]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _flatten(inner, (*path, name), into)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            _flatten(inner, (*path, position), into)
    else:
        into[path] = value
