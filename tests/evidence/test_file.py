"""The evidence file: read as a stream, within limits; what is none is refused with the reason."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest

from storeproof.evidence import (
    AuditEvidence,
    Broken,
    EvidenceDamaged,
    RoundEvidence,
    StoreEvidence,
    evidence_file,
    member_of,
    read_evidence,
)
from storeproof.evidence import file as evidence
from storeproof.evidence.lines import FileLine
from storeproof.history import ABSENT, Observation, Operation
from tests.evidence.packing import as_a_run_packs

KEYS = [("single_key", "a"), ("counter", "n"), ("row", 7), ("hash10", "\0☃")]


def operation(key: int, action: str, invoked: int, **more: Any) -> Operation:
    """One by client 3 on one of the keys."""
    collection, name = KEYS[key]
    return Operation(client=3, action=action, collection=collection, key=name, invoked=invoked, **more)  # type: ignore[arg-type]


OPERATIONS = [
    operation(0, "put", 1_005, completed=1_010, outcome="ok", write_id="3:1"),
    operation(1, "increment", 1_015, completed=1_016, outcome="refused", amount=-2),
    operation(2, "delete", 1_020, completed=None, outcome="unknown"),
    operation(3, "put", 1_500, completed=1_600, outcome="ok", write_id="3:2"),
]
ROUNDS = [
    RoundEvidence(
        "burst",
        began=1_001,
        struck=1_100,
        load_ended=1_200,
        second_fault=True,
        recovered=0.25,
        audit=AuditEvidence(
            moment=1_300,
            everything=False,
            seen={KEYS[0]: Observation("whole", "3:1"), KEYS[1]: None, KEYS[2]: ABSENT},
            gone=("row",),
            ended=1_400,
        ),
    ),
    RoundEvidence(
        "stream",
        began=1_450,
        struck=1_700,
        load_ended=1_800,
        unstartable=1_900,
        broken=Broken("it does not start", "the last line", needs_repair=False),
    ),
]
STORE = StoreEvidence("durability.power_loss", "1 small:only", "small:only", cuts_off=True, rounds=ROUNDS, operations=OPERATIONS)
WHOLE = evidence_file("r1", [member_of(STORE)])


def test_a_delete_that_found_nothing_is_told_from_others() -> None:
    """Durability is judged by it; a put has no such answer."""
    deletes = [operation(0, "delete", 1_005 + each, completed=1_100, outcome="ok", answer=False if each else None) for each in range(2)]
    file = evidence_file("r1", [member_of(replace(STORE, operations=deletes, rounds=ROUNDS[1:]))])
    (read,) = read_evidence(io.BytesIO(file), "r1")
    assert [each.answer for each in read.operations] == [None, False]
    with pytest.raises(EvidenceDamaged, match="operation 0 is none of a run"):
        list(read_evidence(packed(change(3, outcome="nrpo")), "r1"))


def lines() -> list[Any]:
    """What is in the file."""
    return [json.loads(line) for line in gzip.decompress(WHOLE).splitlines()]


def packed(changed: list[Any]) -> io.BytesIO:
    """A file of these lines."""
    return io.BytesIO(as_a_run_packs(changed))


def test_a_file_has_what_was_put_in() -> None:
    """Keys of all kinds, replies that were lost, a counter that is absent, a store that broke; times begin at the first round."""
    (found,) = read_evidence(io.BytesIO(WHOLE), "r1")
    assert found.rounds[0].began == 1
    assert [each.invoked for each in found.operations] == [5, 15, 20, 500]
    assert [each.completed for each in found.operations] == [10, 16, None, 600]
    assert [(each.collection, each.key) for each in found.operations] == KEYS
    assert [(each.action, each.outcome, each.write_id, each.amount) for each in found.operations] == [
        (each.action, each.outcome, each.write_id, each.amount) for each in OPERATIONS
    ]
    audit, kept = found.rounds[0].audit, ROUNDS[0].audit
    assert audit is not None
    assert kept is not None
    assert (audit.seen, audit.gone, audit.moment, audit.ended) == (kept.seen, kept.gone, 300, 400)
    assert found.rounds[1].broken == ROUNDS[1].broken
    assert (found.rounds[1].unstartable, found.rounds[1].recovered) == (900, None)


def test_the_same_evidence_makes_the_same_file() -> None:
    """No time, no name of a machine."""
    assert evidence_file("r1", [member_of(STORE)]) == WHOLE


def test_stores_of_several_parts_are_read_one_after_the_other() -> None:
    """Gzip members are read as one file."""
    assert [each.case for each in read_evidence(io.BytesIO(evidence_file("r1", [member_of(STORE)] * 3)), "r1")] == [STORE.case] * 3


def change(line: int, **fields: Any) -> list[Any]:
    """The lines with other fields in one of them."""
    found = lines()
    found[line] |= fields
    return found


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ([], "does not begin with the line of a file"),
        (lines()[1:], "does not begin with the line of a file"),
        (change(0, format="2.0"), "its format is '2.0'"),
        (change(0, run="r2"), "it is of the run 'r2', and the result of 'r1'"),
        (change(1, more=1), "a line is not one of evidence: store.more: Extra inputs"),
        ([lines()[0], lines()[2]], "a line of the kind `keys` is out of place"),
        ([*lines(), lines()[0]], "a line of the kind `file` is out of place"),
        (change(3, action="pid"), "columns of operations have different lengths"),
        (change(3, action="pxdp"), "operation 1 is none of a run"),
        (change(3, key=[0, 1, 2, 4]), "operation 3 is none of a run"),
        (change(3, after=[4, 15, -1, 480]), "operation 2 is none of a run"),
        (change(3, took=[5, -1, -1, 100]), "operation 1 is refused after -1 ns"),
        (change(3, client=[True, 3, 3, 3]), "a line is not one of evidence: operations.client.0: Input should be a valid integer"),
        (change(4, audit=lines()[4]["audit"] | {"keys": [0, 1, 1]}), "does not have one value for each key"),
        (change(4, audit=lines()[4]["audit"] | {"keys": [0, 1, 9]}), "key 9 was read back, and there are 4"),
        (change(4, audit=lines()[4]["audit"] | {"seen": [7, None, None]}), "key 0 is read back as another kind of record"),
        (change(4, shape="whirl"), "a line is not one of evidence: round.shape"),
    ],
)
def test_what_a_run_does_not_write_is_refused(changed: list[Any], reason: str) -> None:
    """Each kind of damage by its name."""
    with pytest.raises(EvidenceDamaged) as refused:
        list(read_evidence(packed(changed), "r1"))
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "content", [b"", b"not gzip", WHOLE[:-9], WHOLE[:20] + b"\xff\xff\xff\xff" + WHOLE[24:]], ids=["empty", "text", "cut", "spoiled"]
)
def test_what_cannot_be_unpacked_is_refused(content: bytes) -> None:
    """With one message, whatever gzip raises."""
    with pytest.raises(EvidenceDamaged):
        list(read_evidence(io.BytesIO(content), "r1"))


def test_it_is_read_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a line, of all lines, of the operations on one store."""
    for name, most in (("MOST_OPERATIONS", 3), ("MOST_BYTES", 400), ("_LONGEST", 100)):
        with monkeypatch.context() as limited:
            limited.setattr(evidence, name, most)
            with pytest.raises(EvidenceDamaged, match=r"the most that is judged again|longer than"):
                list(read_evidence(io.BytesIO(WHOLE), "r1"))


def test_of_ones_own_run_all_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have tried many stores at the largest scale; a bundle has one."""
    monkeypatch.setattr(evidence, "MOST_BYTES", 400)
    many = HEAD + MEMBER * 301
    with pytest.raises(EvidenceDamaged):
        list(read_evidence(io.BytesIO(many), "r1"))
    assert len(list(read_evidence(io.BytesIO(many), "r1", whole_run=True))) == 301


HEAD = evidence_file("r1", [])
MEMBER = member_of(STORE)
LINES = gzip.decompress(MEMBER)


def member(text: bytes) -> bytes:
    """A file whose only store has this text."""
    return HEAD + gzip.compress(text, mtime=0)


def sparse(text: bytes, blocks: int) -> bytes:
    """One gzip member of a text, after empty blocks, which are five bytes each."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = b"\0\0\0\xff\xff" * blocks + packer.compress(text) + packer.flush()
    return MEMBER[:10] + body + zlib.crc32(text).to_bytes(4, "little") + len(text).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            member(LINES.replace(b'"cuts_off":true', b'"cuts_off":false,"cuts_off":true')),
            "line 1 of durability.power_loss is not written as",
        ),
        (member(LINES.replace(b'"line":"keys",', b'"line": "keys",')), "line 2 of durability.power_loss is not written as a run writes it"),
        (member(LINES.replace(b'"line":"round","shape":"burst",', b'"shape":"burst","line":"round",')), "line 4 of "),
        (member(LINES.replace(b'"recovered":0.25', b'"recovered":0.250')), "line 4 of durability.power_loss is not written as a run"),
        (member(LINES.replace(b"durability", b"durabilit\\u0079", 1)), "line 1 of durability.power_loss is not written as a run writes it"),
        (member(LINES.replace(b"\n", b"\r\n")), "line 1 of durability.power_loss is not written as a run writes it"),
        (member(LINES.removesuffix(b"\n")), "line 5 of durability.power_loss is not written as a run writes it"),
        (member(LINES + b'{"line":"keys","keys":[]}\n'), "durability.power_loss has more lines than a run writes of it"),
        (HEAD + gzip.compress(b"", mtime=0) + MEMBER, "member 2 is empty"),
        (HEAD + MEMBER + gzip.compress(b"", mtime=0) * 400_000, "member 3 is empty"),
        (HEAD + MEMBER * 301, "it has more than 300 members"),
        (HEAD + sparse(LINES, 1_000), "member 2 is padded: it has "),
        (HEAD + MEMBER[:3] + b"\x10" + MEMBER[4:10] + b"a comment\0" + MEMBER[10:], "member 2 does not begin as one that a run writes"),
        (HEAD + MEMBER[:4] + b"\1" + MEMBER[5:], "member 2 does not begin as one that a run writes"),
        (HEAD + MEMBER + b"\0" * 1_000, "member 3 does not begin as one that a run writes"),
        (gzip.compress(gzip.decompress(HEAD) + LINES, mtime=0), "the file has more lines than a run writes of it"),
        (member(LINES + LINES), "a line of the kind `store` is out of place"),
    ],
    ids=lambda each: each[:60].replace(" ", "-") if isinstance(each, str) else "",
)
def test_there_is_one_notation(content: bytes, reason: str) -> None:
    """What says the same in other bytes is refused at once: two readers might find different things in it."""
    assert list(read_evidence(io.BytesIO(HEAD + sparse(LINES, 0)), "r1"))
    with pytest.raises(EvidenceDamaged) as refused:
        list(read_evidence(io.BytesIO(content), "r1"))
    assert reason in str(refused.value)


def test_what_earlier_releases_wrote_keeps_its_notation() -> None:
    """A field that came later is left out where it says nothing."""

    class Wider(FileLine):
        later = frozenset({"more"})
        more: int | None = None

    assert Wider(format="1.0", run="r1").text == FileLine(format="1.0", run="r1").text
    assert Wider(format="1.0", run="r1", more=0).text == '{"line":"file","format":"1.0","run":"r1","more":0}'
