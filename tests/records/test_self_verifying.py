"""Records tell who wrote them: whole, torn or invented, from nothing but the key and what was read."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from storeproof.contract import Row
from storeproof.records.filler import BLOCK, place_of, text_at
from storeproof.records.keys import key_of
from storeproof.records.self_verifying import Recipe, identify, payload_bytes, recipe, record, write_id
from storeproof.spec import Model
from storeproof.spec.sizes import Sizes
from storeproof.spec.variation import Variation
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
NAMES = ["single_key", "hash10", "document10", "nested", "row"]


def _key(model: Model) -> str | int:
    return "key:42" if model.key == "text" else 42


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_whole_under_its_key_and_names_its_writer(name: str) -> None:
    """What was written is recognised, and equal write ids make equal records."""
    model = MODELS[name]
    made = record(model, _key(model), write_id(7, 1042))
    assert made == record(model, _key(model), "7:1042")
    seen = identify(model, _key(model), made)
    assert (seen.kind, seen.write_ids, seen.write_id) == ("whole", ("7:1042",), "7:1042")


@pytest.mark.parametrize(
    ("name", "path", "kind"),
    [("hash10", ("field3",), bytearray), ("nested", ("orders", 1, "number"), float), ("document10", ("field3",), type("Text", (str,), {}))],
)
def test_a_part_of_another_type_is_not_what_was_written(name: str, path: tuple[str | int, ...], kind: Any) -> None:
    """Also where Python calls the two equal."""
    made: Any = record(MODELS[name], "k", "7:1042")
    *steps, last = path
    within = made
    for step in steps:
        within = within[step]
    within[last] = kind(within[last])
    assert made == record(MODELS[name], "k", "7:1042")
    seen = identify(MODELS[name], "k", made)
    assert (seen.kind, seen.write_ids, seen.complete) == ("torn", ("7:1042",), False)


@pytest.mark.parametrize("name", NAMES)
def test_a_record_under_a_wrong_key_is_not_whole(name: str) -> None:
    """A store that mixes up keys is not believed."""
    model = MODELS[name]
    other = "key:43" if model.key == "text" else 43
    assert identify(model, other, record(model, _key(model), "7:1042")).kind != "whole"


@pytest.mark.parametrize("name", ["hash10", "document10", "nested"])
def test_parts_of_two_writes_are_torn_and_both_are_named(name: str) -> None:
    """Each part tells its own writer."""
    model = MODELS[name]
    old: Any = record(model, "k", "1:1")
    new: Any = record(model, "k", "2:9")
    first = next(iter(old))
    seen = identify(model, "k", {**old, first: new[first]})
    assert seen.kind == "torn"
    assert set(seen.write_ids) == {"1:1", "2:9"}
    assert seen.parts[(first,)] == "2:9"


def test_numbers_of_a_document_derive_from_the_write_id() -> None:
    """A nested aggregate whose numbers come from another write is torn, though no number carries a write id."""
    model = MODELS["nested"]
    old: Any = record(model, "k", "1:1")
    new: Any = record(model, "k", "2:9")
    old["orders"][1]["lines"][0]["quantity"] = new["orders"][1]["lines"][0]["quantity"]
    assert identify(model, "k", old).kind == "torn"


def test_fixed_numbers_are_the_same_in_all_records_and_texts_tell_the_writer() -> None:
    """So a record is as long as any other; a wrong number is seen, and a right one says nothing of who wrote it."""
    made = recipe(MODELS["nested"], fixed_numbers=True)
    old: Any = made.make("k", "0001:00000000001")
    new: Any = made.make("k", "0002:00000000009")
    assert old["orders"][1]["number"] == new["orders"][1]["number"]
    assert len(json.dumps(old)) == len(json.dumps(new))
    assert made.identify("k", old).kind == made.identify("k", new).kind == "whole"
    assert ("orders", 1, "number") not in made.identify("k", old).parts
    mixed = {**old, "profile": {**old["profile"], "address": {**old["profile"]["address"], "city": new["profile"]["address"]["city"]}}}
    seen = made.identify("k", mixed)
    assert {path for path, write_id in seen.parts.items() if write_id == "0002:00000000009"} == {("profile", "address", "city")}
    old["orders"][1]["lines"][0]["quantity"] += 1
    seen = made.identify("k", old)
    assert (seen.kind, seen.parts[("orders", 1, "lines", 0, "quantity")]) == ("torn", None)
    assert recipe(MODELS["nested"]).identify("k", new).kind == "torn", "the others' numbers derive from the write id"


@pytest.mark.parametrize("name", ["single_key", "hash10", "document10", "nested"])
def test_texts_of_a_record_have_their_filler_at_their_shift(name: str) -> None:
    """The wire engine writes them by that rule."""
    made = recipe(MODELS[name])
    assert isinstance(made, Recipe)
    write_id = "0001:00000000001"
    texts = made.texts("k", write_id)
    assert len(texts) == {"single_key": 1, "nested": 9}.get(name, 10)
    for shift, text in texts:
        head = f"{write_id}|" if text.startswith(write_id) else ""
        assert text == head + text_at(place_of("k", write_id) + shift, len(text) - len(head))


def test_a_part_alone_is_what_the_whole_record_has_there() -> None:
    """Field and path updates write the same part as a put with that write id."""
    nested, hashes = recipe(MODELS["nested"]), recipe(MODELS["hash10"])
    whole: Any = nested.make("k", "3:5")
    assert nested.part("k", "3:5", ("profile", "address", "city")) == whole["profile"]["address"]["city"]
    assert nested.part("k", "3:5", ("orders", 1)) == whole["orders"][1]
    fields: Any = hashes.make("k", "3:5")
    assert hashes.part("k", "3:5", ("field3",)) == fields["field3"]


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (lambda value: value[:60], "torn"),  # cut short
        (lambda value: value[:60] + b"\0" * 40, "torn"),  # the end was never written
        (lambda value: value[:60] + record(MODELS["single_key"], "k", "2:2")[60:], "torn"),  # type: ignore[index]
        (lambda value: b"1:1|" + b"x" * 96, "invented"),
        (lambda value: b"", "invented"),
        (lambda value: b"no one wrote this", "invented"),
        (lambda value: value + b"x", "torn"),
        (lambda value: value.decode(), "invented"),
        (lambda value: None, "invented"),
    ],
)
def test_a_damaged_value_is_never_whole(damage: Any, kind: str) -> None:
    """Cut short or overwritten in part is torn; what does not even begin as our writes do is invented."""
    model = MODELS["single_key"]
    assert identify(model, "k", damage(record(model, "k", "1:1"))).kind == kind


def test_missing_and_foreign_fields() -> None:
    """A hash that lacks fields is torn; one with a field that no client writes is invented."""
    model = MODELS["hash10"]
    made: Any = record(model, "k", "1:1")
    assert identify(model, "k", {name: made[name] for name in list(made)[:4]}).kind == "torn"
    assert identify(model, "k", {**made, "field99": made["field9"]}).kind == "invented"
    assert identify(model, "k", {}).kind == "invented"


def test_rows() -> None:
    """The double carries the write id exactly, up to the largest; the integer derives from it."""
    model = MODELS["row"]
    largest = write_id(8191, 2**40 - 1)
    made = record(model, 1, largest)
    assert identify(model, 1, made).write_id == largest
    assert isinstance(made, Row)
    assert identify(model, 1, Row(made.integer + 1, made.real)).kind == "torn"
    assert identify(model, 1, Row(1, -0.5)).kind == "invented"
    assert identify(model, 1, Row(1, 0.3)).kind == "invented"


def test_counters_are_plain_numbers() -> None:
    """A counter carries no write id."""
    assert record(MODELS["counter"], "k", "3:17") == 17
    assert identify(MODELS["counter"], "k", 17).write_ids == ()
    assert identify(MODELS["counter"], "k", b"17").kind == "invented"


def test_sizes() -> None:
    """A value has the size that was asked for, from the write id's own to far beyond the filler block."""
    model = MODELS["single_key"]
    for size in (4, 5, 100, 65536, 1_048_576, 2_500_000):
        made = record(model, "k", "1:1", size)
        assert isinstance(made, bytes)
        assert len(made) == size
        assert identify(model, "k", made, size).write_id == "1:1"


@pytest.mark.parametrize("size", [100, BLOCK // 2, BLOCK, 2 * BLOCK])
def test_no_two_fields_are_alike(size: int) -> None:
    """Otherwise a swap of two of them would go unnoticed."""
    made = record(MODELS["hash10"], "k", "1:1", size)
    assert isinstance(made, dict)
    assert len(set(made.values())) == 10


def test_a_part_too_small_for_its_write_id_is_refused() -> None:
    """Two such fields could not be told apart; nor such values, but for those that are meant to be short."""
    with pytest.raises(ValueError, match="a field of 3 bytes cannot carry the write id 1:1: give it at least 4 bytes"):
        record(MODELS["hash10"], "k", "1:1", size=3)
    longest = write_id(8191, 2**40 - 1)
    with pytest.raises(ValueError, match="a value of 17 bytes cannot carry the write id"):
        record(MODELS["single_key"], "k", longest, size=17)
    assert len(record(MODELS["single_key"], "k", longest, size=16)) == 16  # type: ignore[arg-type]


def test_a_short_value_derives_from_its_write_id() -> None:
    """It is known to have been written, and not by whom; one of another length or of other characters never was."""
    model = MODELS["single_key"]
    made = {record(model, "k", f"1:{sequence}", 3) for sequence in range(1000)}
    assert len(made) > 900, "a store that leaves equal values alone would have less to do"
    assert {len(value) for value in made} == {3}  # type: ignore[arg-type]
    for value in made:
        found = identify(model, "k", value, 3)
        assert (found.kind, found.write_ids, found.complete) == ("whole", (), True)
    wrong: list[Any] = [b"", b"ab", b"abcd", b"a\0c", b"a c", "abc", None, bytearray(b"abc")]
    assert {identify(model, "k", value, 3).kind for value in wrong} == {"invented"}


def test_write_ids_have_bounds() -> None:
    """A write id that no double could carry is not made."""
    with pytest.raises(ValueError, match="8192"):
        write_id(8192, 0)
    with pytest.raises(ValueError, match=r"2\*\*40"):
        write_id(0, 2**40)


def test_payload() -> None:
    """Bytes of data, without keys and names."""
    assert {name: payload_bytes(MODELS[name]) for name in NAMES} == {
        "single_key": 100,
        "hash10": 1000,
        "document10": 1000,
        "nested": 20 + 30 + 20 + 16 + 3 * (8 + 2 * (12 + 4)),
        "row": 12,
    }


@pytest.mark.parametrize("sizes", [Sizes(uniform=(20, 300)), Sizes(uniform=(20, 22)), Sizes(histogram={50: 70, 500: 25, 5000: 5})])
def test_sizes_are_drawn_as_they_are_said_to_be(sizes: Sizes) -> None:
    """Of one write it is always the same, and a value that was cut to another of the sizes is no whole one."""
    made = recipe(Variation(sizes=sizes).applied(MODELS["single_key"]))
    found: Counter[int] = Counter()
    for number in range(8000):
        key, write_id = key_of(made.model, number), f"3:{number}"
        value = made.make(key, write_id)
        assert isinstance(value, bytes)
        assert made.make(key, write_id) == value
        assert made.identify(key, value).write_id == write_id
        found[len(value)] += 1
        if len(value) > sizes.table[0]:
            assert made.identify(key, value[: sizes.table[0]]).kind == "torn"
    for size, times in Counter(sizes.table).items():
        share = times / len(sizes.table)
        assert found[size] == pytest.approx(8000 * share, abs=5 * (8000 * share * (1 - share)) ** 0.5)
    assert found.keys() == set(sizes.table)
