"""Learns from the store's ordinary client which request each operation of a mix is, and what the store replies.

The first connection is the scout: its requests become templates. Of each further one it is only seen whether its client asks the same,
but for a few bytes of its own at places that do not move, the id of its session, say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from storeproof.contract import OPERATIONS, Collection, Refused, Unsupported, call
from storeproof.load.calls import MISSED
from storeproof.load.engine import label, operation_name
from storeproof.load.wire.probes import Probes
from storeproof.load.wire.relay import Recording, Relay
from storeproof.load.wire.request import Op, Patch, RequestTemplate, WireProtocol
from storeproof.load.wire.request_ids import NormalizedRequest, id_in_reply, normalize
from storeproof.load.wire.slots import About, NotTemplated, describe_difference, fill_template, number_template, own_bytes, template
from storeproof.records.arguments import forms_of
from storeproof.spec.workload import Mix

_TRIES: Final = 10
"""Executions in which a client comes to the final form of its requests: some prepare a statement when they have seen it five times."""
_ALIKE: Final = 3
"""Executions of one form, the last ones, of which the first makes the template and the others verify it."""
_BOUNDS: Final = tuple(sorted({10**power for power in range(1, 13)} | {2**bits for bits in (7, 8, 15, 16, 31, 32)}))
"""Below which an integer is written in fewer digits or bytes, in decimals, msgpack or BSON."""
_SHARES: Final = (190, 557, 851, 313, 677, 797, 433, 919, 131, 367)
"""Keys, as parts in 1009 of a range of integers, by which it is learned. Round ones would have bytes of zero, and 0x9800 between others of
zero is the same from both ends."""


@dataclass(frozen=True)
class Exchange:
    request: NormalizedRequest
    reply: bytes
    last: bool
    """The client asked nothing more."""


@dataclass(frozen=True)
class CapturedReply:
    """A reply to one request, as the compiled part will see it."""

    count: int
    frames: int
    last: bool
    """The client was content with it."""
    data: bytes
    error: str | None = None
    """What it says, where it is an error that the client takes for a missing record."""


@dataclass(frozen=True)
class Learned:
    mix: Mix
    op: Op
    settled: tuple[int, ...]
    """For each of its forms, of which the first templates are, executions after which requests have the final one."""
    sample: bytes
    """A reply to it."""


class Capture:
    def __init__(self, protocol: WireProtocol, relay: Relay, probes: Probes) -> None:
        self._protocol = protocol
        self._relay = relay
        self._probes = probes
        self._plan = probes.plan

    def scout(self, collection: Collection) -> tuple[int, tuple[Learned, ...]]:
        """The link of a connection, and how its client asks for each operation of the mix.

        Raises:
            NotTemplated: one of them cannot be made without the client.
            Unknown: the store does not answer.
        """
        links: set[int] = set()
        learned: list[Learned] = []
        for mix in self._plan.mix:
            for place, half in enumerate(parts := split_operation(mix)):
                each = self._learn(collection, half, links)
                then = len(learned) + 1 if half is not parts[-1] else None
                learned.append(replace(each, op=replace(each.op, weight=0 if place else mix.weight, then=then)))
        return _one_link(links), tuple(learned)

    def follow(self, collection: Collection, learned: Sequence[Learned]) -> tuple[int, tuple[Patch, ...]]:
        """The link of a further connection, and the bytes of its own. Raises as `scout`."""
        links: set[int] = set()
        patches: list[Patch] = []
        for place, each in enumerate(learned):
            patches.extend(self._patches(collection, place, each, links))
        return _one_link(links), tuple(patches)

    def _patches(self, collection: Collection, place: int, learned: Learned, links: set[int]) -> list[Patch]:
        """What this connection's requests of one operation have of their own; verified by one request more.

        A field whose requests took executions to settle has something of its own on each connection, a prepared statement, say, and is
        asked for as often again. The other fields have nothing there but what the first one has too: what that costs is paid once.
        """
        patches: list[Patch] = []
        common: list[tuple[int, bytes, bytes]] = []
        for number, made in enumerate(learned.op.templates):
            settled = learned.settled[number] if number < len(learned.settled) else 0
            if number == 0 or settled:
                own = self._own(collection, learned, number, settled, links)
                common = common or own
                patches.extend(Patch(place, number, offset, mine) for offset, _, mine in own)
                continue
            for _, general, mine in common:
                if (at := made.request.find(general)) < 0:
                    raise NotTemplated(f"{label(learned.mix)}: what a connection has of its own is not found in all its requests")
                patches.append(Patch(place, number, at, mine))
        return patches

    def _own(self, collection: Collection, learned: Learned, form: int, settled: int, links: set[int]) -> list[tuple[int, bytes, bytes]]:
        """What this connection has of its own in the requests of one form."""
        mix, made = learned.mix, learned.op.templates[form]
        for _ in range(settled):
            self._record(collection, mix, self._usual_keys(learned), form)
        about, recorded = self._record(collection, mix, self._usual_keys(learned), form)
        own = own_bytes(made, about, self._exchange(mix, recorded, links).request)
        if own:
            mine = apply_patches(made, [Patch(0, form, offset, data) for offset, _, data in own])
            self._verify(mix, mine, [self._record(collection, mix, self._usual_keys(learned), form)], links)
        return own

    def _usual_keys(self, learned: Learned) -> tuple[int, ...]:
        """Keys that the first template is for."""
        if self._probes.integer:
            return (learned.op.templates[0].below - 1,) if learned.op.templates[0].below else (1,)
        return self._keys(learned.mix)

    def _keys(self, mix: Mix) -> tuple[int, ...]:
        """Keys of records that make the client ask once: some look again, or do something else, where they changed nothing."""
        return (self._probes.present if operation_name(mix) in _CHANGING else self._probes.absent)(mix.batch)

    def _learn(self, collection: Collection, mix: Mix, links: set[int]) -> Learned:
        templates: list[RequestTemplate] = []
        settled: list[int] = []
        forms = range(forms_of(mix, self._plan.layout.model))
        sizes = self._probes.sizes(mix)
        try:
            for form in forms:
                if sizes and (alike := sizes.index(sizes[form])) < form:  # likelier sizes are there several times
                    templates.append(templates[alike])
                    settled.append(0)
                    continue
                made, after = self._templates(collection, mix, links, form)
                templates.extend(made)
                settled.append(after)
            answer, hit, miss = (self._learn_scan_counts if operation_name(mix) == "scan" else self._learn_counts)(collection, mix, links)
        except (Refused, Unsupported) as reason:
            raise NotTemplated(f"{label(mix)}: {reason}") from None
        reply_id = id_in_reply(self._protocol, answer.data)
        op = Op(
            name=label(mix),
            weight=mix.weight,
            templates=tuple(replace(each, id_reply=reply_id) for each in templates),
            form="record" if sizes else "chance" if len(forms) > 1 else "key",
            keys=mix.keys or "none",
            distinct=mix.distinct,
            batch=mix.batch,
            writes=OPERATIONS[operation_name(mix)].writes,
            hit=hit,
            miss=miss,
            frames=answer.frames,
        )
        return Learned(mix, op, tuple(settled), answer.data)

    def _learn_counts(self, collection: Collection, mix: Mix, links: set[int]) -> tuple[CapturedReply, tuple[int, ...], tuple[int, ...]]:
        """An answer that is as it should be, the counts of such answers, and those of records that were not as they should be.

        Where the store answers those with an error, there are none of the latter: it will count as an error.
        """
        wanted, unwanted = self._probes.present, self._probes.absent
        if operation_name(mix) in _INSERTING:
            wanted, unwanted = unwanted, wanted
        bad = [self._reply(collection, mix, links, unwanted(mix.batch), first=True) for _ in range(2)]
        good = [self._reply(collection, mix, links, wanted(mix.batch)) for _ in range(2)]
        _of_one_kind(mix, good)
        if any(answer.error for answer in bad):
            return good[0], tuple(sorted({answer.count for answer in good})), ()
        _of_one_kind(mix, bad)
        return good[0], *_hits_and_misses(mix, good, bad)

    def _learn_scan_counts(
        self, collection: Collection, mix: Mix, links: set[int]
    ) -> tuple[CapturedReply, tuple[int, ...], tuple[int, ...]]:
        """The same of a scan, of which each form must bring as many records as it asks for."""
        forms = forms_of(mix, self._plan.layout.model)
        begin = self._probes.present(forms)[:1]
        found = [self._reply(collection, mix, links, begin, form=form) for form in range(forms)]
        _of_one_kind(mix, found)
        counts = tuple(answer.count for answer in found)
        if counts != tuple(range(1, len(found) + 1)):
            raise NotTemplated(f"{label(mix)}: replies do not show how many records they have")
        return found[len(found) // 2], counts, (0,)

    def _templates(self, collection: Collection, mix: Mix, links: set[int], form: int) -> tuple[tuple[RequestTemplate, ...], int]:
        """The templates of one form of an operation, and after how many executions the client asks in this way."""
        if self._probes.integer:
            return self._number_templates(collection, mix, links)
        # A value of another size is asked for as the ones before were: the client prepares nothing again.
        tries = _ALIKE if form and self._probes.sizes(mix) else _TRIES
        recordings = [self._record(collection, mix, self._keys(mix), form) for _ in range(tries)]
        about, recorded = recordings[-_ALIKE]
        made = template(self._exchange(mix, recorded, links).request, about)
        self._verify(mix, made, recordings[-_ALIKE + 1 :], links)
        if mix.batch > 1 and OPERATIONS[operation_name(mix)].writes and (mix.keys != "new" or mix.distinct < 1):
            self._verify(mix, made, [self._record(collection, mix, self._keys(mix)[::-1])], links)  # some clients sort what they write
        for item in range(mix.batch):
            mine = [slot.kind for slot in made.slots if slot.item == item]
            if not any(kind.startswith("key") for kind in mine):
                raise NotTemplated(f"{label(mix)}: the key is not found in the request")
            if operation_name(mix) in _RECORDING and not any(kind.startswith(("filler", "write-id")) for kind in mine):
                raise NotTemplated(f"{label(mix)}: nothing in the request would say who wrote it")
        return (made,), self._executions_before(made, recordings)

    def _number_templates(self, collection: Collection, mix: Mix, links: set[int]) -> tuple[tuple[RequestTemplate, ...], int]:
        """For integer keys: one for each range of keys that are written alike."""
        made: list[RequestTemplate] = []
        settled = 0
        low = 0
        for bound in _BOUNDS:
            tries = 4 if made else _TRIES
            recordings = [self._record(collection, mix, (number,)) for number in numbers_within(low, bound)[:tries]]
            (one, first), (two, second) = recordings[-_ALIKE], recordings[-_ALIKE + 1]
            found = number_template(
                self._exchange(mix, first, links).request, one.numbers[0], self._exchange(mix, second, links).request, two.numbers[0]
            )
            self._verify(mix, found, recordings[-_ALIKE + 1 :], links)
            if not made:
                settled = self._executions_before(found, recordings)
            if made and replace(made[-1], below=0) == found:
                made[-1] = replace(found, below=bound)
            else:
                made.append(replace(found, below=bound))
            low = bound
            if low >= self._plan.known:
                break
        return (*made[:-1], replace(made[-1], below=0)), settled

    def _executions_before(self, made: RequestTemplate, recordings: Sequence[tuple[About, Recording]]) -> int:
        """After how many of these executions each request is what the template says."""
        settled = 0
        for number, (about, recorded) in enumerate(recordings):
            asked = [_turns(recorded, link) for link in {piece.link for piece in recorded.pieces}]
            if not any(len(turns) == 2 and normalize(self._protocol, turns[0][1]).data == fill_template(made, about) for turns in asked):
                settled = number + 1
        return settled

    def _verify(self, mix: Mix, made: RequestTemplate, recordings: Sequence[tuple[About, Recording]], links: set[int]) -> None:
        for about, recorded in recordings:
            expected, found = fill_template(made, about), self._exchange(mix, recorded, links).request.data
            if found != expected:
                raise NotTemplated(f"{label(mix)}: a request is not as foreseen: {describe_difference(expected, found)}")

    def _reply(
        self, collection: Collection, mix: Mix, links: set[int], numbers: tuple[int, ...], *, form: int = 0, first: bool = False
    ) -> CapturedReply:
        """How the store answers. `first`: the client may ask once more, which is not looked at, and the answer may be an error."""
        from storeproof import native  # only here: it is optional

        exchange = self._exchange(mix, self._record(collection, mix, numbers, form)[1], links, first=first)
        found, problem = native.replies(self._protocol, exchange.reply, len(exchange.reply))
        if problem or not found or sum(length for _, _, length in found) != len(exchange.reply):
            raise NotTemplated(f"{label(mix)}: a reply is not understood: {problem or 'it is cut short'}")
        if (error := next((error for _, error, _ in found if error), None)) and not first:
            raise NotTemplated(f"{label(mix)}: one of its answers is an error: {error}")
        return CapturedReply(found[-1][0], len(found), exchange.last, exchange.reply, error)

    def _record(self, collection: Collection, mix: Mix, numbers: tuple[int, ...], form: int = 0) -> tuple[About, Recording]:
        """Have the client do it once."""
        about, arguments = self._probes.about(mix, numbers, form)
        with self._relay.recording() as recorded:
            call(collection, self._plan.layout, operation_name(mix), *arguments)
        return about, recorded

    def _exchange(self, mix: Mix, recorded: Recording, links: set[int], first: bool = False) -> Exchange:
        """The one request of an execution and its reply; or the first, where the client may ask once more."""
        spoken = {piece.link for piece in recorded.pieces}
        mine = spoken & links or spoken
        if len(mine) > 1:  # some clients watch the server over a connection of its own
            name = self._plan.layout.name.encode()
            mine = {piece.link for piece in recorded.pieces if piece.direction == "to_store" and name in piece.data}
        if len(mine) != 1:
            raise NotTemplated(f"{label(mix)}: the client spoke on {len(mine)} connections at once")
        turns = _turns(recorded, *mine)
        if [direction for direction, _ in turns[: 2 if first else None]] != ["to_store", "to_client"]:
            raise NotTemplated(f"{label(mix)}: it takes {len(turns) / 2:g} requests, one after the other")
        links.update(mine)
        return Exchange(normalize(self._protocol, turns[0][1]), turns[1][1], last=len(turns) == 2)


def numbers_within(low: int, bound: int) -> list[int]:
    """Keys of a range by which its template is learned, the last of them by which it is verified."""
    return [low + (bound - low) * share // 1009 for share in _SHARES]


_CHANGING: Final = ("set_path", "set_paths", "increment")
"""Operations that change what is there."""
_INSERTING: Final = ("put_if_absent", "insert_many")
"""Operations that do nothing to a record that is there."""
_RECORDING: Final = ("put", "put_many", *_INSERTING, "set_field", "set_path", "set_fields", "set_paths")
"""Operations that write what a record is made of."""
_NEVER_MISSED: Final = frozenset(name for name, missed in MISSED.items() if missed is MISSED["put"])
"""Operations that do the same whether the record is there or not."""


def _hits_and_misses(mix: Mix, good: list[CapturedReply], bad: list[CapturedReply]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The counts that mean that all is well, and those that mean that the records were not as the operation needs them."""
    hits, misses = {answer.count for answer in good}, {answer.count for answer in bad}
    if operation_name(mix) in _NEVER_MISSED and all(answer.last for answer in bad):
        if operation_name(mix) == "increment":  # what is counted may be the counter
            return (), ()
        return tuple(range(min(hits | misses), max(hits | misses) + 1)), ()  # a record that is replaced may count otherwise than a new one
    if hits & misses:
        raise NotTemplated(f"{label(mix)}: replies do not show by their counts whether the record was there")
    if hits == {mix.batch} and misses in ({0}, {-1}):  # the records are counted: some of a batch may be there
        return (mix.batch,), tuple(range(min(misses), mix.batch))
    return () if operation_name(mix) == "increment" else tuple(sorted(hits)), tuple(sorted(misses))


def _of_one_kind(mix: Mix, answers: Sequence[CapturedReply]) -> None:
    if len({answer.frames for answer in answers}) > 1:
        raise NotTemplated(f"{label(mix)}: replies have unlike numbers of frames")


def split_operation(mix: Mix) -> tuple[Mix, ...]:
    """What an operation asks, one after the other: its record is read first, where the mix says so, and then written."""
    if not mix.reads_first:
        return (mix,)
    write = mix.model_copy(update={"name": label(mix), "reads_first": False})
    return write.model_copy(update={"operation": "get", "path": ()}), write


def apply_patches(made: RequestTemplate, patches: Sequence[Patch]) -> RequestTemplate:
    """The template with the bytes of one connection."""
    data = bytearray(made.request)
    for each in patches:
        data[each.offset : each.offset + len(each.data)] = each.data
    return replace(made, request=bytes(data))


def _turns(recorded: Recording, link: int) -> list[tuple[str, bytes]]:
    return [(direction, data) for direction, data in recorded.turns(link)]


def _one_link(links: set[int]) -> int:
    if len(links) != 1:
        raise NotTemplated(f"the client speaks on {len(links)} connections")
    return next(iter(links))
