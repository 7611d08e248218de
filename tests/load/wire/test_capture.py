"""What is learned of a client by what it sends; and of one that cannot be learned, why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storeproof import native_support
from storeproof.contract import Layout
from storeproof.load.engine import Plan
from storeproof.load.wire.capture import Capture, Learned, apply_patches
from storeproof.load.wire.probes import Probes
from storeproof.load.wire.relay import Relay
from storeproof.load.wire.request import Patch
from storeproof.load.wire.slots import About, NotTemplated, fill_template, fixed_write_id
from storeproof.records.filler import pick
from storeproof.records.self_verifying import recipe
from storeproof.spec import Mix
from storeproof.spec.sizes import Sizes
from storeproof.spec.variation import Variation
from tests.load.wire import miniature as mini
from tests.shipped import SHIPPED

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
MODELS = SHIPPED.models
MODEL = MODELS["single_key"]
LAYOUT = Layout("mini", MODEL)
GET = Mix(operation="get", keys="uniform")
PUT = Mix(operation="put", keys="new")
DELETE = Mix(operation="delete", keys="oldest")


class Bench:
    """A store, a relay, and captures of clients."""

    def __init__(self, store: mini.Store) -> None:
        self.store = store
        self.relay = Relay(store.address)
        self.ordinary = mini.Client(store.address)
        self.probes: Probes | None = None
        self._clients: list[mini.Client] = []

    def client(self, kind: type[mini.Client]) -> mini.Client:
        """One that speaks through the relay."""
        self._clients.append(kind(self.relay.address))
        return self._clients[-1]

    def capture(self, *mix: Mix, layout: Layout = LAYOUT) -> Capture:
        """Of the clients of a plan."""
        self.probes = Probes(Plan(layout, mix, clients=2, seconds=1.0, seed=1, known=0), self.ordinary)
        return Capture("resp", self.relay, self.probes)

    def learn(self, client: type[mini.Client], *mix: Mix) -> tuple[Learned, ...]:
        """What a first client shows."""
        return self.capture(*mix).scout(self.client(client))[1]

    def close(self) -> None:
        """End all."""
        for client in (*self._clients, self.ordinary):
            client.close()
        self.relay.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    """For each test."""
    with mini.a_store() as store:
        made = Bench(store)
        yield made
        made.close()


def sent(store: mini.Store) -> bytes:
    """The last command that a client sent through the relay, as it was on the wire."""
    words = store.commands[-1]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def wrote(number: int, sequence: int) -> tuple[About, str, bytes]:
    """A write: what it is about, its key, and its record."""
    made, write_id = recipe(MODEL), fixed_write_id(3, sequence)
    key = str(made.key(number))
    record = made.make(key, write_id)
    assert isinstance(record, bytes)
    return About((number,), write_id, (tuple(made.texts(key, write_id)),)), key, record  # type: ignore[union-attr]


def test_what_a_client_asks_and_is_answered(bench: Bench) -> None:
    """Templates are the bytes that the client sends for another record; counts tell a hit from a miss."""
    put, get, delete = bench.learn(mini.Client, PUT, GET, DELETE)
    about, key, record = wrote(42, 1)
    bench.ordinary.put(key, record)
    assert fill_template(put.op.templates[0], about) == sent(bench.store)
    bench.ordinary.get(key)
    assert fill_template(get.op.templates[0], about) == sent(bench.store)
    assert (put.op.hit, put.op.miss) == ((1,), ())
    assert (get.op.hit, get.op.miss) == ((1,), (0,))
    assert (delete.op.hit, delete.op.miss) == ((1,), (0,))
    assert [each.op.writes for each in (put, get, delete)] == [True, False, True]
    assert [each.op.keys for each in (put, get, delete)] == ["new", "uniform", "oldest"]
    assert put.settled == get.settled == (0,)


def test_values_of_unlike_sizes_are_asked_for_in_a_form_each(bench: Bench) -> None:
    """Likelier ones in as many; and who reads one need not know how long it is."""
    layout = Layout("mini", Variation(sizes=Sizes(histogram={200: 1, 20: 2, 60: 1})).applied(MODEL))
    put, get = bench.capture(PUT, GET, layout=layout).scout(bench.client(mini.Client))[1]
    assert (put.op.form, get.op.form, len(get.op.templates)) == ("record", "key", 1)
    assert [len(each.request) - len(put.op.templates[0].request) for each in put.op.templates] == [0, 0, 40, 181]
    made = recipe(layout.model)
    for number in range(20):
        key, write_id = str(made.key(number)), fixed_write_id(3, number)
        about = About((number,), write_id, (tuple(made.texts(key, write_id)),))  # type: ignore[union-attr]
        bench.ordinary.put(key, made.make(key, write_id))
        assert fill_template(put.op.templates[pick(about.place(0), 4)], about) == sent(bench.store)
    with pytest.raises(NotTemplated, match="each value of one request has a size of its own"):
        bench.capture(Mix(operation="put", keys="new", batch=10), layout=layout)


def test_probes_are_removed(bench: Bench) -> None:
    """And what was there before stays."""
    bench.ordinary.put("key:000000000001", b"mine")
    bench.learn(mini.Client, PUT, GET, DELETE, Mix(name="many", operation="put", keys="new", batch=10))
    assert len(bench.store.records) > 20
    assert bench.probes is not None
    bench.probes.remove()
    assert bench.store.records == {b"mini:key:000000000001": b"mine"}


def test_a_client_that_comes_to_another_form(bench: Bench) -> None:
    """It prepares what it has asked for five times: the last form counts, and further connections are brought to it."""
    capture = bench.capture(GET)
    _, learned = capture.scout(bench.client(mini.Preparing))
    assert learned[0].op.templates[0].request.startswith(b"*2\r\n$1\r\nG\r\n")
    assert learned[0].settled == (5,)
    _, patches = capture.follow(other := bench.client(mini.Preparing), learned)
    assert patches == ()
    assert other.asked == 6


def test_the_bytes_of_a_connections_own(bench: Bench) -> None:
    """The id of a session is another one on each connection."""
    capture = bench.capture(PUT, GET)
    first, learned = capture.scout(bench.client(mini.WithSession))
    second, patches = capture.follow(client := bench.client(mini.WithSession), learned)
    assert first != second
    assert {each.op for each in patches} == {0, 1}
    about, key, record = wrote(7, 3)
    client.put(key, record)
    mine = [each for each in patches if each.op == 0]
    assert fill_template(apply_patches(learned[0].op.templates[0], mine), about) == sent(bench.store)
    assert fill_template(learned[0].op.templates[0], about) != sent(bench.store)
    assert all(isinstance(each, Patch) and len(each.data) <= 16 for each in patches)


def test_a_client_that_watches_over_a_second_connection(bench: Bench) -> None:
    """The connection that carries the requests is the one that is learned and taken."""
    link, learned = bench.capture(GET).scout(client := bench.client(mini.Watching))
    taken = bench.relay.take(link)
    port = client.sock.getsockname()[1]
    assert b"GET" in learned[0].op.templates[0].request
    client.sock.settimeout(2)
    assert client.sock.recv(10) == b"", f"the connection from port {port} was the one that asked"
    taken.close()


def test_a_client_that_looks_again_where_it_found_nothing(bench: Bench) -> None:
    """What is taken away is asked for once, and the first answer already says that there was nothing."""
    with pytest.raises(NotTemplated, match="takes 2 requests"):
        bench.learn(mini.LookingAgain, DELETE)


def test_a_store_that_answers_a_missing_record_with_an_error(bench: Bench) -> None:
    """There is no count of misses: such an answer is an error for the engine, and no success."""
    (plain,) = bench.learn(mini.Client, DELETE)
    assert (plain.op.hit, plain.op.miss) == ((1,), (0,))
    (corrected,) = bench.learn(mini.Corrected, DELETE)
    assert (len(corrected.op.hit), corrected.op.miss) == (1, ())
    assert corrected.sample == b"+OK\r\n"


@pytest.mark.parametrize(
    ("client", "mix", "why"),
    [
        (mini.WithClock, GET, "not as foreseen"),
        (mini.WithNumber, GET, "bytes long"),
        (mini.AskingTwice, GET, "takes 2 requests"),
        (mini.Untelling, GET, "do not show by their counts"),
        (mini.Compressing, PUT, "not as foreseen"),
        (mini.Client, Mix(operation="put_if_absent", keys="new"), "does not offer|put_if_absent"),
    ],
)
def test_clients_that_cannot_be_learned(bench: Bench, client: type[mini.Client], mix: Mix, why: str) -> None:
    """Each kind is refused with its own reason."""
    with pytest.raises(NotTemplated, match=why):
        bench.learn(client, mix)


def test_batches(bench: Bench) -> None:
    """Each record of a batch has its own key and filler; of a batch of reads some records may be missing."""
    put, get = bench.learn(mini.Client, Mix(operation="put", keys="new", batch=10), Mix(operation="get", keys="uniform", batch=10))
    assert {slot.item for slot in put.op.templates[0].slots} == set(range(10))
    assert (get.op.hit, get.op.miss) == ((10,), tuple(range(10)))


def test_a_store_that_answers_a_record_that_is_there_with_an_error(bench: Bench) -> None:
    """Of inserts it is the records that are there that are not as they should be: a count, or an error for the engine."""
    inserts = Mix(operation="put_if_absent", keys="new", batch=10)
    (plain,) = bench.learn(mini.Inserting, inserts)
    assert (plain.op.hit, plain.op.miss, plain.sample) == ((1,), (0,), b":1\r\n")
    bench.store.records.clear()
    (refused,) = bench.learn(mini.InsertingOrNot, inserts)
    assert (refused.op.hit, refused.op.miss, refused.sample) == ((1,), (), b":1\r\n")
    assert {slot.item for slot in plain.op.templates[0].slots} == set(range(10))


def test_a_client_that_sorts(bench: Bench) -> None:
    """New keys ascend, so that it makes no difference; drawn ones would go out in another order than the client's."""
    bench.learn(mini.Sorting, Mix(operation="put", keys="new", batch=10))
    with pytest.raises(NotTemplated, match="not as foreseen"):
        bench.learn(mini.Sorting, Mix(operation="put", keys="uniform", batch=10))


@pytest.mark.parametrize(
    ("model", "mix", "why"),
    [
        ("row", PUT, "differ in width"),
        ("row", Mix(operation="get", keys="uniform", batch=10), "differ in width"),
        ("corpus", GET, "differ in length"),
        ("corpus", Mix(operation="find", request={"filter": ["language", "eq", "$language"]}), "more than a key"),
    ],
)
def test_mixes_that_are_refused_at_once(bench: Bench, model: str, mix: Mix, why: str) -> None:
    """Before the store is asked anything."""
    layout = Layout("mini", MODELS[model])
    with pytest.raises(NotTemplated, match=why):
        Probes(Plan(layout, (mix,), clients=1, seconds=1.0, seed=1, known=10), bench.ordinary)
    assert bench.store.commands == []
