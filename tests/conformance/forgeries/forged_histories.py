"""Forgeries of whole histories, with every sum that follows from them: their times, their attempts, their notation."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from storeproof.conformance.archive import RESULT
from storeproof.conformance.reasons import Reason
from storeproof.evidence import EVIDENCE, AuditEvidence, StoreEvidence
from storeproof.history import Observation, Operation
from tests.conformance.forgeries.forged_evidence import CRASH, as_judged, guarantee_of, struck
from tests.conformance.forging import Forge, Forgery, Json, result_in, sealed, with_stores
from tests.conformance.true_bundle import TrueBundle


class Writer:
    """A history out of nothing."""

    def __init__(self, *, gap: int, took: int, load: int, start: int) -> None:
        """All in nanoseconds: from one write of the client to the next, to its reply, before the fault, and from start to answer."""
        self._gap, self._took, self._load, self._start = gap, took, load, start
        self._now = 1
        self._made = 0

    def fill(self, store: StoreEvidence, writes: int) -> None:
        """This number of writes in each round, all acknowledged and all found."""
        store.operations.clear()
        rounds = list(store.rounds)
        store.rounds.clear()
        seen: dict[Any, Any] = {}
        for number, each in enumerate(rounds, 1):
            began = self._now
            made = [self._write() for _ in range(writes)]
            store.operations += made
            now = {one.place: Observation("whole", one.write_id) for one in made}
            seen |= now
            struck_at = max(began + self._load, self._now)
            read = struck_at + self._start + 1_000
            everything = number == len(rounds)
            audit = AuditEvidence(read, everything, seen if everything else now, (), read + 1)
            self._now = read + 2
            store.rounds.append(
                replace(
                    each,
                    began=began,
                    struck=struck_at,
                    load_ended=struck_at + 1,
                    recovered=self._start / 1e9,
                    audit=audit,
                )
            )

    def _write(self) -> Operation:
        at, self._made = self._now, self._made + 1
        self._now += self._gap
        return Operation(
            client=0,
            action="put",
            collection="single_key",
            key=f"p1:c0:{self._made}",
            invoked=at,
            completed=at + self._took,
            outcome="ok",
            write_id=f"0-{self._made}",
            amount=0,
        )


def invented(writes: int, *, gap: int = 400_000, took: int = 300_000, load: int = 100_000_000, start: int = 40_000_000) -> Forge:
    """A history of kills out of nothing, and the sums that follow from it."""
    made = Writer(gap=gap, took=took, load=load, start=start)
    return with_stores(lambda stores: made.fill(struck(stores, CRASH), writes), as_judged)


def in_a_microsecond(stores: list[StoreEvidence]) -> None:
    """The store was back before a reader could ask."""
    for each in struck(stores, CRASH).rounds:
        each.recovered = 1e-6


def after_a_day(stores: list[StoreEvidence]) -> None:
    """It was read back before it was there."""
    struck(stores, CRASH).rounds[0].recovered = 86_400.0


def impatient(stores: list[StoreEvidence]) -> None:
    """A client asks again before it has its reply."""
    store = struck(stores, CRASH)
    number = next(
        number
        for number, each in enumerate(store.operations)
        if each.outcome == "ok"
        and not any(other.write_id == each.write_id for other in store.operations if other is not each)  # of a group
        and any(later.client == each.client for later in store.operations[number + 1 :])
    )
    one = store.operations[number]
    later = next(each for each in store.operations[number + 1 :] if each.client == one.client and each.invoked > one.invoked)
    store.operations[number] = replace(one, completed=later.invoked + 1)


def partly_unheard(stores: list[StoreEvidence]) -> None:
    """Of a group one record was lost, and it is said that its reply was."""
    sent = struck(stores, CRASH).operations
    number = next(
        number for number, (one, other) in enumerate(pairwise(sent)) if (one.client, one.invoked) == (other.client, other.invoked)
    )
    assert sent[number].outcome == "ok"
    sent[number] = sent[number].without_reply()


def _attempt(number: int) -> Callable[[list[StoreEvidence]], None]:
    """The kills are those of a later attempt; those before it were lost."""

    def change(stores: list[StoreEvidence]) -> None:
        store = struck(stores, CRASH)
        store.seed = store.seed.removesuffix("0") + str(number)

    return change


def _empty_attempt(stores: list[StoreEvidence]) -> None:
    """A first attempt of which nothing is there."""
    store = struck(stores, CRASH)
    first = StoreEvidence(store.case, store.seed, store.target, store.cuts_off)
    _attempt(1)(stores)
    stores.insert(stores.index(store), first)


def _tried_again(stores: list[StoreEvidence]) -> None:
    """A second attempt after one that was not spoiled."""
    store = struck(stores, CRASH)
    stores.insert(stores.index(store) + 1, StoreEvidence(store.case, store.seed.removesuffix("0") + "1", store.target, store.cuts_off))


def _spoiled(number: int) -> Callable[[Json, list[StoreEvidence]], None]:
    return lambda store, _: guarantee_of(store, CRASH).update(spoiled=number)


EMPTY = gzip.compress(b"", mtime=0)


def repacked(content: bytes, old: bytes, new: bytes) -> bytes:
    """The histories with other bytes in the text of each store."""
    first, *others = gzip.decompress(content).splitlines(keepends=True)
    begins = [number for number, line in enumerate(others) if b'"line":"store"' in line]
    texts = [b"".join(others[one:other]) for one, other in zip(begins, [*begins[1:], len(others)], strict=True)]
    assert old in texts[0]
    return b"".join(gzip.compress(each, mtime=0) for each in (first, *(text.replace(old, new) for text in texts)))


def notation(change: Callable[[bytes], bytes]) -> Forge:
    """Other bytes of the histories, which say the same, and their hash in the result."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        content = change(bundle.parts[EVIDENCE])
        result = bundle.result
        result["run"]["evidence"] = hashlib.sha256(content).hexdigest()
        file.write_bytes(sealed({**bundle.parts, EVIDENCE: content, RESULT: result_in(result)}))

    return forge


HISTORIES = (
    Forgery("one write in each round", "at plausible times", invented(1), Reason.DURABILITY, "and inconclusive by the histories"),
    Forgery("nine writes in each round", "too few", invented(9), Reason.DURABILITY, "and inconclusive by the histories"),
    Forgery("writes in nanoseconds", "enough of them", invented(60, gap=7, took=5), Reason.EVIDENCE, "was acknowledged after 5 ns"),
    Forgery(
        "load of a millisecond",
        "shorter than any at this scale",
        invented(60, gap=10_000, took=9_000, load=1_000_000),
        Reason.EVIDENCE,
        "was struck after 0.00",
    ),
    Forgery(
        "impatient client", "two requests at once", with_stores(impatient, as_judged), Reason.EVIDENCE, "before its client had the reply"
    ),
    Forgery(
        "group unheard in part",
        "of its other records the reply came",
        with_stores(partly_unheard),
        Reason.EVIDENCE,
        "not all parts of one request have the same reply",
    ),
    Forgery(
        "start in a microsecond", "after each kill", with_stores(in_a_microsecond, as_judged), Reason.EVIDENCE, "has a start in 0.000001 s"
    ),
    Forgery(
        "read before it was there", "a start of a day", with_stores(after_a_day, as_judged), Reason.EVIDENCE, "has a start in 86400.000 s"
    ),
    Forgery(
        "attempt chosen",
        "the third one, and two are missing",
        with_stores(_attempt(2), _spoiled(2)),
        Reason.ATTEMPTS,
        "where those of '1 sqlite:wal-full process_crash 0' are due",
    ),
    Forgery(
        "attempt not counted",
        "the first one was spoiled",
        with_stores(_empty_attempt),
        Reason.ATTEMPTS,
        "has 0 spoiled attempts in the result, and 1",
    ),
    Forgery(
        "spoiled without a trace",
        "of attempts that are not there",
        with_stores(lambda _: None, _spoiled(2)),
        Reason.ATTEMPTS,
        "has 2 spoiled attempts",
    ),
    Forgery("tried again", "after an attempt that counts", with_stores(_tried_again), Reason.ATTEMPTS, "was tried again after attempt 1"),
    Forgery(
        "empty members", "four hundred thousand of them", notation(lambda content: content + EMPTY * 400_000), Reason.EVIDENCE, "is empty"
    ),
    Forgery(
        "padded histories", "with zeros", notation(lambda content: content + b"\0" * 1024), Reason.EVIDENCE, "does not begin as one that"
    ),
    Forgery(
        "spaces in histories",
        "between names and values",
        notation(lambda content: repacked(content, b'":', b'": ')),
        Reason.EVIDENCE,
        "is not written as",
    ),
    Forgery(
        "key twice in histories",
        "one value for each reader",
        notation(lambda content: repacked(content, b'"spoiled":false', b'"spoiled":true,"spoiled":false')),
        Reason.EVIDENCE,
        "is not written as a run writes it",
    ),
)
