"""What is learned of a client that sets any one field of a record, of one that reads the record first, and of scans of any length."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof import native_support
from storeproof.contract import Key, Layout, Record
from storeproof.load.engine import Plan
from storeproof.load.wire.capture import Capture
from storeproof.load.wire.probes import Probes
from storeproof.load.wire.relay import Relay
from storeproof.load.wire.slots import About, NotTemplated, fill_template, fixed_write_id
from storeproof.load.wire.wire_engine import result_of
from storeproof.records.keys import HASHED, fnv
from storeproof.records.self_verifying import recipe
from storeproof.spec import Mix
from storeproof.stats.latency import encode, new_histogram
from tests.load.wire import miniature as mini
from tests.shipped import SHIPPED

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
MODEL = SHIPPED.models["usertable"]
READ = Mix(name="read", operation="get", keys="zipfian")
UPDATE = Mix(name="update", operation="set_field", keys="zipfian", path=("*",), weight=3)
MODIFY = UPDATE.model_copy(update={"name": "modify", "reads_first": True})
SCAN = Mix(operation="scan", keys="zipfian", length=12)
FIELDS = 10
SEEN_BEFORE = 3
"""Times after which `Preparing` has a shorter form for a field."""


class Table(mini.Store):
    """Has hashes too: `HSET key field value ...`, and `H` for the same; `HGETALL key`."""

    def __init__(self) -> None:
        self.hashes: dict[bytes, dict[bytes, bytes]] = {}
        super().__init__()

    def _answer(self, words: list[bytes]) -> bytes:
        match words:
            case [b"HSET" | b"H", key, *pairs]:
                self.hashes.setdefault(key, {}).update(zip(pairs[::2], pairs[1::2], strict=True))
                return b":1\r\n"
            case [b"HGETALL", key]:
                found = self.hashes.get(key, {})
                return b"*%d\r\n" % (2 * len(found)) + b"".join(mini._string(each) for pair in found.items() for each in pair)
            case [b"RANGE", start, length]:
                found = sorted(key for key in self.hashes if key >= start)[: int(length)]
                return b"*%d\r\n" % len(found) + b"".join(mini._string(key) for key in found)
            case [b"DEL", key]:
                return b":%d\r\n" % (self.hashes.pop(key, None) is not None)
        return super()._answer(words)


class Client(mini.Client):
    """Keeps hashes."""

    def get(self, key: Key) -> Record | None:
        found = self.ask(b"HGETALL", self.named(key))
        return {name.decode(): value for name, value in zip(found[::2], found[1::2], strict=True)} or None

    def put(self, key: Key, record: Record) -> None:
        assert isinstance(record, dict)
        self.ask(b"HSET", self.named(key), *(each for name, value in record.items() for each in (name.encode(), value)))  # type: ignore[misc]

    def get_field(self, key: Key, field: str) -> bytes | None:
        raise NotImplementedError

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        self.ask(b"HSET", self.named(key), field.encode(), value)

    def delete_field(self, key: Key, field: str) -> bool:
        raise NotImplementedError


class Preparing(Client):
    """Has a shorter form for each field that it has set some times."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._times: dict[str, int] = {}

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        self._times[field] = self._times.get(field, 0) + 1
        self.ask(b"H" if self._times[field] > SEEN_BEFORE else b"HSET", self.named(key), field.encode(), value)


class Scanning(Client):
    """Scans, and brings no more than it likes to."""

    most = 12

    def scan(self, start: Key | None, count: int, backwards: bool) -> list[tuple[Key, Record]]:
        assert not backwards
        assert start is not None
        return [(key.decode(), {}) for key in self.ask(b"RANGE", self.named(start), b"%d" % min(count, self.most))]  # type: ignore[union-attr]

    def scan_prefix(self, prefix: str, count: int) -> list[tuple[Key, Record]]:
        raise NotImplementedError

    def walk(self, cursor: Any, count: int) -> Any:
        raise NotImplementedError


class WithSession(Client):
    """Says in each request which session it is of."""

    def words(self, *words: bytes) -> tuple[bytes, ...]:
        return (*words, b";", self.session)


class Bench:
    """A store and captures of its clients."""

    def __init__(self, store: Table) -> None:
        self.store = store
        self.relay = Relay(store.address)
        self.ordinary = Client(store.address)
        self.clients: list[Client] = []

    def client(self, kind: type[Client]) -> Client:
        self.clients.append(kind(self.relay.address))
        return self.clients[-1]

    def capture(self, *mix: Mix) -> Capture:
        plan = Plan(Layout("mini", MODEL), mix, clients=2, seconds=1.0, seed=1, known=10)
        return Capture("resp", self.relay, Probes(plan, self.ordinary))


@pytest.fixture
def bench() -> Iterator[Bench]:
    with contextlib.closing(Table()) as store:
        made = Bench(store)
        yield made
        for client in (*made.clients, made.ordinary):
            client.close()
        made.relay.close()


def _about(number: int, sequence: int) -> tuple[About, str, str]:
    made, write_id = recipe(MODEL), fixed_write_id(3, sequence)
    key = str(made.key(number))
    return About((number,), write_id, (tuple(made.texts(key, write_id)),), HASHED), key, write_id  # type: ignore[union-attr]


def _sent(store: Table) -> bytes:
    words = store.commands[-1]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def test_any_field_is_a_template_for_each(bench: Bench) -> None:
    """Each is byte for byte what the client sends, about keys that show the hash of their number."""
    _, learned = bench.capture(READ, UPDATE).scout(bench.client(Client))
    read, update = learned
    assert (len(read.op.templates), read.op.form, read.op.weight) == (1, "key", 1)
    assert (len(update.op.templates), update.op.form, update.op.weight) == (FIELDS, "chance", 3)
    assert update.settled == (0,) * FIELDS
    about, key, write_id = _about(42, 1)
    assert key == f"user{fnv(42):019d}"
    for number, made in enumerate(update.op.templates):
        field = f"field{number}"
        bench.ordinary.set_field(key, field, recipe(MODEL).part(key, write_id, (field,)))
        assert fill_template(made, about) == _sent(bench.store)
    bench.ordinary.get(key)
    assert fill_template(read.op.templates[0], about) == _sent(bench.store)


def test_the_opening_of_a_connection_is_short(bench: Bench) -> None:
    """One field is asked for where none needs more: another one has nothing of a connection's own that the first has not."""
    capture = bench.capture(UPDATE)
    _, learned = capture.scout(bench.client(Client))
    _, patches = capture.follow(client := bench.client(Client), learned)
    assert (patches, client.asked) == ((), 1)
    capture = bench.capture(UPDATE)
    _, learned = capture.scout(bench.client(WithSession))
    _, patches = capture.follow(client := bench.client(WithSession), learned)
    assert {each.template for each in patches} == set(range(FIELDS))
    assert client.asked == 2


def test_a_field_that_took_executions_takes_them_on_each_connection(bench: Bench) -> None:
    """A client that prepares per connection is brought to its final form on each one."""
    capture = bench.capture(UPDATE)
    _, learned = capture.scout(bench.client(Preparing))
    assert learned[0].settled == (SEEN_BEFORE,) * FIELDS
    assert all(made.request.startswith(b"*4\r\n$1\r\nH\r\n") for made in learned[0].op.templates)
    _, patches = capture.follow(client := bench.client(Preparing), learned)
    assert (patches, client.asked) == ((), FIELDS * (SEEN_BEFORE + 1))


def test_a_read_comes_first(bench: Bench) -> None:
    """It has the weight, and what follows it has none."""
    _, learned = bench.capture(READ, MODIFY, UPDATE).scout(bench.client(Client))
    assert [(each.op.name, each.op.weight, each.op.then, each.op.writes) for each in learned] == [
        ("read", 1, None, False),
        ("modify", 3, 2, False),
        ("modify", 0, None, True),
        ("update", 3, None, True),
    ]
    assert [each.op.keys for each in learned] == ["zipfian"] * 4
    assert (learned[1].op.hit, learned[1].op.miss) == ((20,), (0,))


def test_a_scan_is_a_template_for_each_length(bench: Bench) -> None:
    """Each brings as many records as it asks for; nothing at all is a miss, and more than it may ask for no answer."""
    _, (scan,) = bench.capture(SCAN).scout(client := bench.client(Scanning))
    assert (len(scan.op.templates), scan.op.form, scan.op.batch) == (SCAN.length, "chance", 1)
    assert (scan.op.hit, scan.op.miss) == (tuple(range(1, 13)), (0,))
    about, key, _ = _about(42, 1)
    for number, made in enumerate(scan.op.templates):
        client.scan(key, number + 1, False)
        assert fill_template(made, about) == _sent(bench.store)
    assert scan.sample.startswith(b"*7\r\n")


@pytest.mark.parametrize("length", [5, 12])
def test_a_scan_that_brings_too_little_is_not_learned(bench: Bench, length: int) -> None:
    """One that stops early would be faster than the others."""
    Scanning.most = length
    try:
        with contextlib.nullcontext() if length == 12 else pytest.raises(NotTemplated, match="how many records"):
            bench.capture(SCAN).scout(bench.client(Scanning))
    finally:
        Scanning.most = 12


def test_both_halves_are_one_operation_in_the_result() -> None:
    """As many requests as operations, and the time of the whole."""

    def counts(ok: int, misses: int, errors: int, malformed: int) -> SimpleNamespace:
        histogram = new_histogram()
        for _ in range(ok):
            histogram.record_value(1000)
        return SimpleNamespace(ok=ok, misses=misses, errors=errors, malformed=malformed, service=encode(histogram), response="")

    found: Any = SimpleNamespace(
        ops=[counts(7, 0, 0, 0), counts(0, 3, 2, 0), counts(20, 0, 1, 1)],
        throughput=1.0,
        request_rate=1.0,
        busy_seconds=34.0,
        pause_seconds=0.0,
        cpu_seconds=0.0,
        waiting_seconds=0.0,
        elapsed_seconds=1.0,
        threads=1,
        positions=[0],
        removed=[0],
        indeterminate=[],
        samples=[],
        schedule_lag="",
        missed_sends=0,
    )
    result = result_of(Plan(Layout("t", MODEL), (READ, MODIFY), clients=1, seconds=1.0, seed=1, known=10), found)
    modify = result.operations["modify"]
    assert (modify.operation, modify.ok, modify.misses, modify.errors, modify.malformed) == ("set_field", 20, 3, 3, 1)
    assert modify.requests == 20
    assert result.busy_seconds == 1.0
