"""Claims about the states of a recording that no run can have made, and for what each is refused."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from storeproof.disk.recording import packed, unpacked
from storeproof.history import Observation
from storeproof.records.beside.places import ENTRY, EXPIRY, PlaceBeside, record_of
from tests.conformance.crash_states.recorded_log import Claim

_FIRST_CHANGES: Final = b"\x0c\x01\x05\x02\x00\x07k0 0:0\n"
"""In a recording: the first mark, and the first write. Their number is before them."""
_SYNC: Final = b"\x09\x02\x00"


def dropped(claim: Claim) -> None:
    """The count says so, too."""
    state = claim.crash.states.pop(3)
    claim.counted(state.tier, -1)


def raised(claim: Claim) -> None:
    """One more than there are."""
    claim.counted(0, 1)


def relabelled(claim: Claim) -> None:
    """It has the name of another one."""
    claim.crash.states[3] = replace(claim.crash.states[3], name=claim.crash.states[4].name)


def moved(claim: Claim) -> None:
    """Fewer writes have to be there."""
    number = next(number for number, each in enumerate(claim.crash.states) if each.mark > 20)
    claim.crash.states[number] = replace(claim.crash.states[number], mark=claim.crash.states[number].mark - 2)
    state = claim.crash.states[number]
    gone = {each.place for each in claim.evidence.operations if state.mark < each.invoked <= state.mark + 2}
    assert state.seen is not None
    assert state.again is not None
    seen, again = ({place: what for place, what in shown.items() if place not in gone} for shown in (state.seen, state.again))
    claim.crash.states[number] = replace(state, seen=seen, again=again)


def replaced(claim: Claim) -> None:
    """What is missing was read after all."""
    ids = {each.place: each.write_id for each in claim.evidence.operations}
    number = next(number for number, each in enumerate(claim.crash.states) if each.again is None)
    state = claim.crash.states[number]
    assert state.seen is not None
    seen = {place: Observation("whole", ids[place]) for place in state.seen}
    client = max(each.client for each in claim.evidence.operations) + 1
    later = replace(claim.evidence.operations[-1], client=client, key="p2:new", invoked=10_000, completed=10_001, write_id="9:1")
    claim.evidence.operations.append(later)
    again = {**seen, later.place: Observation("whole", later.write_id)}
    claim.crash.states[number] = replace(state, seen=seen, depth=2, client=client, again=again)


def mark_moved(claim: Claim) -> None:
    """The reply to a write came later."""
    operations = claim.evidence.operations
    operations[3] = replace(operations[3], completed=operations[4].invoked)


def acknowledged_earlier(claim: Claim) -> None:
    """In the recording, the reply to the first write comes before its sync."""
    content, mark = unpacked(claim.crash.recording), b"\x0c\x02"
    assert content.count(_SYNC + mark) == 1
    claim.crash.recording = packed(with_checksum(content.replace(_SYNC + mark, mark + _SYNC)[:-4]))


def unacknowledged(claim: Claim) -> None:
    """Of one write it was never heard."""
    claim.evidence.operations[6] = replace(claim.evidence.operations[6], completed=None, outcome="unknown")


def expiry_unacknowledged(claim: Claim) -> None:
    """Of the write of a record it was heard, and of that of its expiry not."""
    operations = claim.evidence.operations
    assert record_of(operations[2].key) == operations[1].key
    operations[2] = replace(operations[2], completed=None, outcome="unknown")


def by_two_clients(claim: Claim) -> None:
    """A record is written by one client, and its expiry by another at the same moment."""
    operations = claim.evidence.operations
    operations[2] = replace(operations[2], client=operations[2].client + 1)
    claim.crash.clients += 1


def altered(kind: PlaceBeside, claim: Claim) -> None:
    """One state has what is beside a record, and it is wrong."""
    shown = ((number, each, each.seen) for number, each in enumerate(claim.crash.states) if each.seen is not None)
    number, state, seen = next(each for each in shown if any(kind.is_its_own(key) for _, key in each[2]))
    forged = {place: Observation("torn") if kind.is_its_own(place[1]) else each for place, each in seen.items()}
    claim.crash.states[number] = replace(state, seen=forged)


def expiry_altered(claim: Claim) -> None:
    """It is that of no write."""
    altered(EXPIRY, claim)


def entry_altered(claim: Claim) -> None:
    """The record is found by another value."""
    altered(ENTRY, claim)


def left_out(kind: PlaceBeside, claim: Claim) -> None:
    """Nothing of it was written, and nothing was read."""
    claim.evidence.operations = [each for each in claim.evidence.operations if not kind.is_its_own(each.key)]
    for number, state in enumerate(claim.crash.states):
        seen, again = (
            None if shown is None else {place: each for place, each in shown.items() if not kind.is_its_own(place[1])}
            for shown in (state.seen, state.again)
        )
        claim.crash.states[number] = replace(state, seen=seen, again=again)


def expiry_left_out(claim: Claim) -> None:
    """None was ever set."""
    left_out(EXPIRY, claim)


def entry_left_out(claim: Claim) -> None:
    """No record was ever looked for by its value."""
    left_out(ENTRY, claim)


def entry_not_read(claim: Claim) -> None:
    """In one state of all."""
    number, state, seen = next((number, each, each.seen) for number, each in enumerate(claim.crash.states) if each.seen)
    kept = {place: each for place, each in seen.items() if not ENTRY.is_its_own(place[1])}
    claim.crash.states[number] = replace(state, seen=kept)


def cut_off(claim: Claim) -> None:
    """The recording ends before the last changes."""
    claim.crash.recording = packed(unpacked(claim.crash.recording)[:-9])


def change_removed(claim: Claim) -> None:
    """The last sync; all counts and the checksum are written again."""
    content = unpacked(claim.crash.recording)
    begin, sync = content.index(_FIRST_CHANGES), content.rindex(_SYNC)
    assert content[begin - 1] == claim.crash.changes
    changes = content[begin:sync] + content[sync + len(_SYNC) : -4]
    claim.crash.changes -= 1
    claim.counts = claim.counts.model_copy(update={"changes": claim.crash.changes})
    claim.crash.recording = packed(with_checksum(content[: begin - 1] + bytes([claim.crash.changes]) + changes))


def of_another_run(claim: Claim) -> None:
    """Each request is the same, and the lines have other contents."""
    content = unpacked(claim.crash.recording)
    assert content.count(b"k6 0:6\n") == 1
    claim.crash.recording = packed(with_checksum(content.replace(b"k6 0:6\n", b"k6 1:6\n")[:-4]))


def model_swapped(claim: Claim) -> None:
    """All that reached the kernel is there."""
    claim.crash.model = "kernel"
    claim.counts = claim.counts.model_copy(update={"model": "kernel"})


def with_checksum(content: bytes) -> bytes:
    """As a recording ends."""
    return content + zlib.crc32(content).to_bytes(4, "little")


class Forgery(NamedTuple):
    """One forged claim."""

    forge: Callable[[Claim], None]
    says: str


FORGERIES = (
    Forgery(dropped, "was due"),
    Forgery(raised, "the number of tried by tier is"),
    Forgery(relabelled, "was due"),
    Forgery(moved, "was due"),
    Forgery(mark_moved, "the marks among its changes are not the requests and replies of its operations"),
    Forgery(unacknowledged, "the marks among its changes are not the requests and replies of its operations"),
    Forgery(expiry_unacknowledged, "not all parts of one request have the same reply"),
    Forgery(by_two_clients, "a mark is that of requests of several clients"),
    Forgery(expiry_altered, "it is said to have worked after the crash, and it did not"),
    Forgery(expiry_left_out, ":expiring'] is there without"),
    Forgery(entry_altered, "it is said to have worked after the crash, and it did not"),
    Forgery(entry_left_out, ":indexed'] is there without"),
    Forgery(entry_not_read, "keys were to be read and were not, or the reverse"),
    Forgery(acknowledged_earlier, "was due"),
    Forgery(change_removed, "was due"),
    Forgery(of_another_run, "is another disk"),
    Forgery(cut_off, "its checksum is another one"),
    Forgery(model_swapped, "is tried under the model ext4; it is kernel in the evidence"),
)
