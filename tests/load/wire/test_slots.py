"""Templates found in bytes: keys as text, in hexadecimal digits, in binary and in decimals; ids; and what cannot be templated."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Literal

import msgpack
import pytest

from storeproof.load.wire.capture import _BOUNDS, numbers_within
from storeproof.load.wire.request import Slot
from storeproof.load.wire.request_ids import NormalizedRequest, id_in_reply, normalize
from storeproof.load.wire.slots import (
    About,
    NotTemplated,
    describe_difference,
    fill_template,
    fixed_write_id,
    number_template,
    own_bytes,
    template,
)
from storeproof.records.filler import apart, bytes_at
from storeproof.records.keys import INTEGER
from storeproof.records.self_verifying import recipe
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
NUMBERS = (987_600_000_001, 912_345_678_907, 945_610_000_333)


def about(model: str, number: int, sequence: int = 7) -> About:
    """A write of one record."""
    write_id = fixed_write_id(8100, sequence)
    made = recipe(MODELS[model], fixed_numbers=True)
    return About((number,), write_id, (tuple(made.texts(made.key(number), write_id)),))  # type: ignore[union-attr]


def written(model: str, number: int, sequence: int = 7) -> object:
    """The record of that write."""
    made = recipe(MODELS[model], fixed_numbers=True)
    return made.make(made.key(number), fixed_write_id(8100, sequence))


def as_set(number: int, sequence: int = 7) -> bytes:
    """The request of a made-up protocol."""
    return b"SET %d key:%012d " % (len(str(number)), number) + bytes(written("single_key", number, sequence)) + b"\n"  # type: ignore[call-overload]


def test_a_template_is_right_for_any_other_key_and_write_id() -> None:
    """Filled in, it is what the client sends for them."""
    made = template(NormalizedRequest(as_set(NUMBERS[0])), about("single_key", NUMBERS[0]))
    assert [(slot.kind, slot.width) for slot in made.slots] == [("key", 12), ("write-id", 16), ("filler", 83)]
    for number, sequence in ((NUMBERS[1], 8), (NUMBERS[2], 99_999_999_999), (NUMBERS[0], 7)):
        assert fill_template(made, about("single_key", number, sequence)) == as_set(number, sequence)
    assert template(NormalizedRequest(as_set(NUMBERS[1], 5)), about("single_key", NUMBERS[1], 5)) == made, (
        "nothing is left of whom it was made from"
    )


def test_hexadecimal_digits() -> None:
    """As some clients write bytes into SQL."""

    def statement(number: int, sequence: int) -> bytes:
        value = bytes(written("single_key", number, sequence))  # type: ignore[call-overload]
        return b"INSERT (X'%s', X'%s')" % ((b"key:%012d" % number).hex().encode(), value.hex().encode())

    made = template(NormalizedRequest(statement(NUMBERS[0], 7)), about("single_key", NUMBERS[0]))
    assert [(slot.kind, slot.width) for slot in made.slots] == [("key-hex", 24), ("write-id-hex", 32), ("filler-hex", 166)]
    assert fill_template(made, about("single_key", NUMBERS[1], 8)) == statement(NUMBERS[1], 8)


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("prefix", [b"", b"a", b"ab", b"table/key:"])
def test_base64_is_named_as_the_reason(prefix: bytes, encode: Callable[[bytes], bytes]) -> None:
    """As gateways to JSON have it: etcd's, for one. What is before the key in the same text shifts all that follows."""
    number, value = NUMBERS[0], bytes(written("single_key", NUMBERS[0]))  # type: ignore[call-overload]
    key = prefix + b"%012d" % number
    with pytest.raises(NotTemplated, match="carries the key as base64"):
        template(NormalizedRequest(b'{"key": "%s"}' % encode(key)), About((number,)))
    with pytest.raises(NotTemplated, match="carries the value as base64"):
        template(NormalizedRequest(b'PUT /%s {"value": "%s"}' % (key, encode(prefix + value))), about("single_key", number))
    assert template(NormalizedRequest(b"GET /%s" % key), About((number,))).slots, "what is not in base64 is found"


@pytest.mark.parametrize("model", ["hash10", "document10", "nested"])
def test_every_text_of_a_record_is_found(model: str) -> None:
    """Also those that are too short for the write id, and numbers stand still."""

    def packed(number: int, sequence: int) -> bytes:
        return bytes(msgpack.packb([f"key:{number:012d}", written(model, number, sequence)]))

    made = template(NormalizedRequest(packed(NUMBERS[0], 7)), about(model, NUMBERS[0]))
    fillers = [slot.shift for slot in made.slots if slot.kind == "filler"]
    assert len(fillers) == (10 if model != "nested" else 9)
    assert fill_template(made, about(model, NUMBERS[1], 8)) == packed(NUMBERS[1], 8)


def test_a_filler_is_the_recipes() -> None:
    """Where a pump would put it: the place of the key and write id, and each part further on."""
    of = about("hash10", NUMBERS[0])
    field3 = written("hash10", NUMBERS[0])["field3"]  # type: ignore[index]
    assert field3 == f"{of.write_id}|".encode() + bytes_at(of.place(0) + 3 * apart(100), 83)


def test_batches_tell_their_records_apart() -> None:
    """Slots name the record of the batch that they are of."""
    one, other = NUMBERS[:2]
    both = About((one, other), fixed_write_id(8100, 7), about("single_key", one).texts + about("single_key", other).texts)
    made = template(NormalizedRequest(as_set(one) + as_set(other)), both)
    assert [slot.item for slot in made.slots] == [0, 0, 0, 1, 1, 1]
    swapped = About((other, one), both.write_id, both.texts[::-1])
    assert fill_template(made, swapped) == as_set(other) + as_set(one)


def decimals(number: int) -> bytes:
    """As a request in text has a number."""
    return b"GET %d:k%d;" % (len(str(number)), number)


@pytest.mark.parametrize(
    ("encode", "first", "second", "slot"),
    [
        (decimals, 4021, 7930, Slot(7, 4, "key")),
        (decimals, 40, 46, Slot(7, 2, "key")),
        (lambda number: b"Q\0\0\0\x08" + struct.pack(">q", number) + b"\0;", 300, 70_001, Slot(5, 8, "key-be")),
        (lambda number: b"\x10_id\0" + struct.pack("<i", number) + b"\x10x\0\x01\0\0\0", 300, 70_001, Slot(5, 4, "key-le")),
        (lambda number: b"\x91" + msgpack.packb(number) + b"\x01", 20, 100, Slot(1, 1, "key-be")),
        (lambda number: b"\x91" + msgpack.packb(number) + b"\x01", 300, 60_000, Slot(2, 2, "key-be")),
        (lambda number: b"\x91" + msgpack.packb(number) + b"\x01", 70_000, 2**32 - 5, Slot(2, 4, "key-be")),
    ],
)
def test_integer_keys(encode: object, first: int, second: int, slot: Slot) -> None:
    """Decimals and binary numbers of each width and order; a third number of the same size bears it out."""
    assert callable(encode)
    made = number_template(NormalizedRequest(encode(first)), first, NormalizedRequest(encode(second)), second)
    assert [(each.kind, each.offset) for each in made.slots] == [(slot.kind, slot.offset)]
    assert made.slots[0].width == slot.width
    third = (first + second) // 2
    assert fill_template(made, About((third,), form=INTEGER)) == encode(third)


def test_what_differs_and_is_not_the_key() -> None:
    """A template of it would be wrong for other keys: it is refused."""
    with pytest.raises(NotTemplated, match="not recognised"):
        number_template(NormalizedRequest(b"GET 41 at 17:01"), 41, NormalizedRequest(b"GET 42 at 17:02"), 42)
    with pytest.raises(NotTemplated, match="bytes long"):
        number_template(NormalizedRequest(decimals(99)), 99, NormalizedRequest(decimals(100)), 100)


def test_mongos_ids() -> None:
    """The id is blank, and its slot is where the header has it."""
    request = struct.pack("<iiii", 20, 0x01020304, 0, 2013) + b"body"
    found = normalize("mongo", request)
    assert found.data[4:8] == bytes(4)
    assert found.data[8:] == request[8:]
    assert found.slots == (Slot(4, 4, "id-le"),)
    assert id_in_reply("mongo", request) == (8, 4, "le")


@pytest.mark.parametrize("sync", [0, 5, 127, 128, 70_000, 2**32])
def test_tarantools_ids_are_made_wide(sync: int) -> None:
    """The client writes small ones in one byte; a server takes any width."""
    body = msgpack.packb({0: 1, 1: sync, 5: 0}) + msgpack.packb({0x10: 512, 0x20: [1]})
    found = normalize("iproto", msgpack.packb(len(body)) + body)
    (slot,) = found.slots
    assert slot.kind == "id-be"
    patched = bytearray(found.data)
    patched[slot.offset : slot.offset + 4] = (77).to_bytes(4, "big")
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(bytes(patched))
    length, header, rest = unpacker
    assert header == {0: 1, 1: 77, 5: 0}
    assert rest == {0x10: 512, 0x20: [1]}
    assert length == len(patched) - 5


def test_the_id_in_tarantools_reply() -> None:
    """It is found in the header; other protocols have none."""
    reply = bytes.fromhex("ce0000001f8300ce0000000001cf00000000000000090 5ce000000588130dd00000001c3".replace(" ", ""))
    offset, width, order = id_in_reply("iproto", reply) or pytest.fail("none was found")
    assert int.from_bytes(reply[offset : offset + width], "big") == 9
    assert order == "be"
    assert id_in_reply("resp", b"+OK\r\n") is None


def test_what_a_connection_has_of_its_own() -> None:
    """The id of a session: 16 bytes of which some may be alike by chance."""
    general, mine = bytes(range(16)), bytes(range(100, 108)) + bytes(range(8, 16))
    made = template(NormalizedRequest(b"GET key:%012d of " % NUMBERS[0] + general + b"."), About(NUMBERS[:1]))
    other = NormalizedRequest(b"GET key:%012d of " % NUMBERS[1] + mine + b".")
    assert own_bytes(made, About(NUMBERS[1:2]), other) == [(24, general[:8], mine[:8])]
    assert own_bytes(made, About(NUMBERS[:1]), NormalizedRequest(b"GET key:%012d of " % NUMBERS[0] + general + b".")) == []


def test_a_connection_that_asks_otherwise() -> None:
    """Requests of another length, or that differ within a slot, are refused."""
    made = template(NormalizedRequest(b"GET key:%012d;" % NUMBERS[0]), About(NUMBERS[:1]))
    with pytest.raises(NotTemplated, match="bytes long"):
        own_bytes(made, About(NUMBERS[:1]), NormalizedRequest(b"MGET key:%012d;" % NUMBERS[0]))
    with pytest.raises(NotTemplated, match="where the key"):
        own_bytes(made, About(NUMBERS[:1]), NormalizedRequest(b"GET key:%012d;" % NUMBERS[1]))


def test_a_difference_in_words() -> None:
    """The message says where, or how long both are."""
    assert "at byte 4" in describe_difference(b"GET a", b"GET b")
    assert "5 bytes long" in describe_difference(b"GET", b"GET b")


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize(
    ("width", "low", "bound"),
    [(width, low, bound) for width in (4, 8) for low, bound in pairwise((0, *_BOUNDS)) if bound <= 2 ** (8 * width)],
)
def test_an_integer_between_zeros_is_found_where_it_is(width: int, low: int, bound: int, order: Literal["little", "big"]) -> None:
    """BSON's keys stand behind the zero that ends their name. Learned by 0x9800 and its like they were taken for others from the left."""

    def request(number: int) -> bytes:
        return bytes(8) + number.to_bytes(width, order) + bytes(8)

    first, second = numbers_within(low, bound)[:2]
    found = number_template(NormalizedRequest(request(first)), first, NormalizedRequest(request(second)), second)
    for number in (low, low + (bound - low) // 3, bound - 1, *numbers_within(low, bound)):
        assert fill_template(found, About((number,), form=INTEGER)) == request(number)
