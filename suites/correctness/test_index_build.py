"""Indexes that are created and dropped under concurrent reads and writes: no acknowledged write is missing, and no answer is wrong."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from storeproof.contract import Collection, Json, Key, Layout, Record, Refused, Unsupported, call, supports
from storeproof.experiments.case_collections import fill
from storeproof.experiments.client_threads import ClientThread, at_work, wait_until
from storeproof.outcome import Outcome
from storeproof.result.running_case import CaseResult, WrongAnswer
from storeproof.spec.model import Index
from storeproof.spec.query import Query, Where
from storeproof.store_under_test import StoreUnderTest

Fresh = Callable[..., tuple[Collection, Layout]]

_RECORDS = 4000
"""That are there before: enough that a build takes longer than a write."""
_BATCH = 500
_WRITERS = 3
_ROUNDS = 5
_AT_LEAST = 10
"""Writes of each client before the index is asked for, and again after it is there: what is between meets the build."""
_ASKED = 40
"""Records of each kind for which the index is asked."""
_HEAD_START = 0.02
"""Seconds, at most, by which duplicates come before the index that forbids them, in every second round."""
_OF_EACH = 2
"""Queries of each client while the index is gone: one of them may have been under way when it was dropped."""
_MOST_REFUSED = 100
"""Queries of a client that are refused in a row, at most, when the index is there again."""
_LOOK = 0.001
"""Seconds between two looks at how many they are."""
_LONGEST = 60.0
"""Seconds for the clients of one round."""


@dataclass
class Reader:
    """One client, which asks for single values until it is told to stop."""

    number: int
    right: int = 0
    refused: int = 0

    @property
    def asked(self) -> int:
        """Queries that were answered or refused."""
        return self.right + self.refused

    def read(self, sut: StoreUnderTest, layout: Layout, stop: threading.Event) -> None:
        """Ask."""
        session = sut.connect(sut.shared())
        choice = random.Random(f"{sut.seed}/{self.number}")
        try:
            own, in_vain = session.collection(layout), 0
            while not stop.is_set() or self.right < _AT_LEAST:
                value = choice.randrange(_RECORDS)
                try:
                    found = call(own, layout, "count_where", Where.model_validate({"filter": ["stock", "eq", value]}))
                except Refused:
                    self.refused += 1
                    in_vain += stop.is_set()
                    if in_vain > _MOST_REFUSED:
                        raise
                    continue
                in_vain = 0
                assert found == 1, f"one record has stock {value}; while the index was dropped the store counted {found}"
                self.right += 1
        finally:
            session.close()


@dataclass
class Writer:
    """One client, with keys of its own. It writes until it is told to stop."""

    number: int
    records: dict[str, int] = field(default_factory=dict)
    """The `stock` of each record as it was acknowledged."""
    gone: list[int] = field(default_factory=list)
    """Values that no record has any more."""
    refused: int = 0
    done: int = 0

    def write(self, collection: Collection, layout: Layout, choice: random.Random) -> None:
        """One write: a new record, another value for an old one, or a removal."""
        value = 1_000_000 * (self.number + 1) + self.done
        key = choice.choice(list(self.records)) if self.records and choice.random() < 0.6 else f"w{self.number}-{self.done}"
        self.done += 1
        try:
            if key in self.records and choice.random() < 0.3:
                assert call(collection, layout, "delete", key) is True, f"{key} existed, but delete returned that it did not"
                self.gone.append(self.records.pop(key))
                return
            call(collection, layout, "put", key, _record(key, value))
        except Refused:
            self.refused += 1
            return
        if key in self.records:
            self.gone.append(self.records[key])
        self.records[key] = value


def _case(capability: str, case: str, operations: tuple[str, ...]) -> pytest.MarkDecorator:
    """One more case of a capability, which is selected by the same name."""
    name = f"{capability}/{case}"
    mark = pytest.mark.case(id=f"capabilities.{name}", model="product", operations=operations, capability=capability)
    return pytest.mark.parametrize("capability", [pytest.param(capability, id=name, marks=mark)])


@_case("indexes.built-while-writing", "concurrent", ("create_index", "put", "find"))
def test_an_index_has_what_was_written_while_it_was_built(
    capability: str, sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult
) -> None:
    """Queries through a new index find what clients wrote during its build."""
    lacking = Outcome.FAIL if sut.target.claims(capability) else Outcome.UNSUPPORTED
    collection, layout = _fill(fresh, lacking, case_result)
    writers = [Writer(number) for number in range(_WRITERS)]
    choice = random.Random(sut.seed)
    for round_ in range(_ROUNDS):

        def build(name: str = f"round{round_}") -> None:
            _create(collection, layout, Index(name=name, paths=(("stock",),)), lacking, case_result)

        _while_writing(sut, layout, writers, build)
        assert call(collection, layout, "index_names") == [f"round{round_}"]
        for writer in writers:
            there = choice.sample(sorted(writer.records), min(_ASKED, len(writer.records)))
            for key in there:
                found = [name for name, _ in _where(collection, layout, "stock", writer.records[key])]
                _check_found(found, [key], f"stock {writer.records[key]} of {key} was acknowledged")
            for value in choice.sample(writer.gone, min(_ASKED, len(writer.gone))):
                found = [name for name, _ in _where(collection, layout, "stock", value)]
                _check_found(found, [], f"no record has stock {value} any more")
        for number in choice.sample(range(_RECORDS), _ASKED):
            found = [name for name, _ in _where(collection, layout, "stock", number)]
            _check_found(found, [f"r{number}"], f"stock {number} was there before")
        assert call(collection, layout, "drop_index", f"round{round_}") is True
    written, refused = sum(writer.done for writer in writers), sum(writer.refused for writer in writers)
    assert call(collection, layout, "count") == _RECORDS + sum(len(writer.records) for writer in writers)
    case_result.add(f"{_ROUNDS} indexes on {_RECORDS} records were built during {written} writes, {refused} of them refused")


@_case("indexes.built-while-writing", "unique", ("create_index", "put", "find"))
def test_a_unique_index_meets_duplicates_while_it_is_built(
    capability: str, sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult
) -> None:
    """If the index comes first it must refuse the second record; if the second record comes first, the index must be refused."""
    lacking = Outcome.FAIL if sut.target.claims(capability) else Outcome.UNSUPPORTED
    collection, layout = _fill(fresh, lacking, case_result)
    ended: Counter[str] = Counter()
    choice = random.Random(sut.seed)
    for round_ in range(_ROUNDS):
        index = Index(name=f"unique{round_}", paths=(("name",),), unique=True)
        twins = [f"n{round_ * 100 + number}" for number in range(20)]
        building = threading.Event()
        with at_work([partial(_add_twins, sut, layout, twins, building)]) as (adding,):
            building.set()
            time.sleep(choice.random() * _HEAD_START * (round_ % 2))
            try:
                _create(collection, layout, index, lacking, case_result)
                built = True
            except Refused:
                built = False
            taken = adding.result()
        assert call(collection, layout, "index_names") == ([index.name] if built else []), "an index whose creation was refused exists"
        for name in twins:
            wanted = [f"r{name[1:]}", *([f"twin-{name}"] if name in taken else [])]
            found = [key for key in (f"r{name[1:]}", f"twin-{name}") if call(collection, layout, "exists", key)]
            assert found == wanted, f"the records named {name} are {wanted}, as acknowledged; found {found}"
            if built:
                found = sorted(str(key) for key, _ in _where(collection, layout, "name", name))
                assert found == wanted, f"the records named {name} are {wanted}, as acknowledged; the index finds {found}"
        assert not (built and taken), f"{len(taken)} records were accepted that violate a unique index, {sorted(taken)[0]} among them"
        ended["index built, duplicates refused" if built else "index refused because of a duplicate"] += 1
        for name in taken:
            call(collection, layout, "delete", f"twin-{name}")
        if built:
            call(collection, layout, "drop_index", index.name)
    case_result.add("; ".join(f"{words}: {times} of {_ROUNDS}" for words, times in sorted(ended.items())))


@_case("indexes.dropped-while-reading", "concurrent", ("create_index", "drop_index", "count_where"))
def test_answers_stay_right_while_an_index_is_dropped(capability: str, sut: StoreUnderTest, fresh: Fresh, case_result: CaseResult) -> None:
    """Queries give the same answers before, during and after the drop of an index."""
    lacking = Outcome.FAIL if sut.target.claims(capability) else Outcome.UNSUPPORTED
    collection, layout = _fill(fresh, lacking, case_result)
    index = Index(name="by_stock", paths=(("stock",),))
    _create(collection, layout, index, lacking, case_result)
    try:
        call(collection, layout, "drop_index", index.name)
        _where(collection, layout, "stock", 1)
    except Unsupported as reason:
        case_result.settle(lacking, f"without the index the queries are not possible: {reason}")
    _create(collection, layout, index, lacking, case_result)
    stop, readers = threading.Event(), [Reader(number) for number in range(_WRITERS)]
    with at_work(partial(reader.read, sut, layout, stop) for reader in readers) as reading:
        try:
            for _ in range(_ROUNDS):
                assert call(collection, layout, "drop_index", index.name) is True
                _let_each_ask(readers, reading)
                _create(collection, layout, index, lacking, case_result)
        finally:
            stop.set()
        for each in reading:
            each.result()
    answers, refused = sum(reader.right for reader in readers), sum(reader.refused for reader in readers)
    case_result.add(
        f"{answers} answers were correct while an index was dropped and created {_ROUNDS} times; {refused} queries were refused"
    )


def _let_each_ask(readers: list[Reader], reading: list[ClientThread[None]]) -> None:
    """Wait until each has asked what it had not asked before, or has ended. Raises `TimeoutError`: one does neither."""
    wanted = [reader.asked + _OF_EACH for reader in readers]

    def asked() -> bool:
        return all(not each.is_alive() or reader.asked >= number for each, reader, number in zip(reading, readers, wanted, strict=True))

    wait_until(asked, _LONGEST, _LOOK)
    if not asked():
        raise TimeoutError(f"not each client had an answer {_LONGEST:g} s after the index was dropped")


def _fill(fresh: Fresh, lacking: Outcome, case_result: CaseResult) -> tuple[Collection, Layout]:
    collection, layout = fresh("product")
    for operation in ("create_index", "find"):
        if not supports(collection, operation):
            case_result.settle(lacking, f"the store has no {operation} on product")
    records: dict[Key, Record] = {f"r{number}": _record(f"n{number}", number) for number in range(_RECORDS)}
    fill(collection, layout, records, _BATCH)
    return collection, layout


def _record(name: str, stock: int) -> Record:
    fields: dict[str, Json] = {"name": name, "stock": stock}
    return fields


def _create(collection: Collection, layout: Layout, index: Index, lacking: Outcome, case_result: CaseResult) -> None:
    try:
        call(collection, layout, "create_index", index)
    except Unsupported as reason:
        case_result.settle(lacking, str(reason))


def _where(collection: Collection, layout: Layout, path: str, value: Any) -> Any:
    return call(collection, layout, "find", Query.model_validate({"filter": [path, "eq", value], "fields": []}))


def _check_found(found: list[Key], wanted: list[Key], why: str) -> None:
    if found != wanted:
        raise WrongAnswer([f"{why}; the index finds {found}"], "find", found, repr(wanted))


def _while_writing(sut: StoreUnderTest, layout: Layout, writers: list[Writer], build: Callable[[], None]) -> None:
    """Build when every client has begun, and end when every one has gone on for a while."""
    stop, begun = threading.Event(), threading.Barrier(len(writers) + 1)
    handle = sut.shared()

    def write(writer: Writer) -> None:
        session = sut.connect(handle)
        try:
            own, choice = session.collection(layout), random.Random(f"{sut.seed}/{writer.number}/{writer.done}")
            for _ in range(_AT_LEAST):
                writer.write(own, layout, choice)
            begun.wait(_LONGEST)
            while not stop.is_set():
                writer.write(own, layout, choice)
            for _ in range(_AT_LEAST):
                writer.write(own, layout, choice)
        except BaseException:
            begun.abort()  # the others, and who builds, need not wait for this one
            raise
        finally:
            session.close()

    with at_work(partial(write, writer) for writer in writers) as writing:
        try:
            begun.wait(_LONGEST)
            build()
        except threading.BrokenBarrierError:
            stop.set()
            for each in writing:
                with suppress(threading.BrokenBarrierError):
                    each.result()
            raise TimeoutError(f"the clients had not started after {_LONGEST:g} s") from None
        finally:
            stop.set()
        for each in writing:
            each.result()


def _add_twins(sut: StoreUnderTest, layout: Layout, names: list[str], building: threading.Event) -> set[str]:
    """Put a second record for each name; those that were acknowledged."""
    session = sut.connect(sut.shared())
    taken = set()
    try:
        own = session.collection(layout)
        building.wait(_LONGEST)
        for name in names:
            try:
                call(own, layout, "put", f"twin-{name}", _record(name, -1))
            except Refused:
                continue
            taken.add(name)
    finally:
        session.close()
    return taken
