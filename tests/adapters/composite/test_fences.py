"""A copy whose client gave it up never counts, also if the front is given it after newer writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from storeproof.adapters.composite.fences import Fences
from storeproof.adapters.composite.locks import Locks
from storeproof.contract import Collection, Layout, Unknown, call
from tests.adapters.composite.memory import LOST, Layer
from tests.shipped import SHIPPED

VALUES = Layout("sp_values", SHIPPED.models["single_key"])


def prepared(layer: Layer) -> Collection:
    """A collection of a new session, with an old record under `k` in the home."""
    made = layer.session().collection(VALUES)
    made.prepare()
    layer.home.records["sp_values"]["k"] = b"old"
    return made


def given_up(layer: Layer, request: Callable[[], object]) -> list[Callable[[], None]]:
    """Send a request while the front carries out puts later: what it will do then."""
    late: list[Callable[[], None]] = []
    layer.front.late = late
    try:
        request()
    except Unknown:
        pass
    finally:
        layer.front.late = None
    assert late
    return late


@pytest.mark.parametrize(("policy", "last"), [("cache-aside", b"old"), ("read-through", b"old"), ("write-through", b"new")])
def test_a_late_fill_does_not_hide_a_newer_write(policy: str, last: bytes, tmp_path: Path) -> None:
    """The reader has its record all the same. Without fences, as most applications have it, the old copy is served from then on."""
    layer = Layer(tmp_path, policy=policy)
    both = prepared(layer)
    late = given_up(layer, lambda: call(both, VALUES, "get", "k"))
    call(both, VALUES, "put", "k", b"new")
    for arrive in late:
        arrive()
    assert call(both, VALUES, "get", "k") == last


def test_each_late_copy_is_kept_out(tmp_path: Path) -> None:
    """Also one that was sent after others had been given up, and the last write counts again as soon as its copy is there."""
    layer = Layer(tmp_path, policy="write-through", invalidate="update")
    both = prepared(layer)
    late = [
        *given_up(layer, lambda: call(both, VALUES, "get", "k")),
        *given_up(layer, lambda: call(both, VALUES, "put", "k", b"second")),
        *given_up(layer, lambda: call(both, VALUES, "put", "k", b"third")),
    ]
    for arrive in late:
        call(both, VALUES, "put", "k", b"last")
        assert call(both, VALUES, "get", "k") == b"last"
        arrive()
        assert call(both, VALUES, "get", "k") == b"last"
    before = len(layer.home.asked)
    assert call(both, VALUES, "get", "k") == b"last"
    assert len(layer.home.asked) == before, "the record has a copy again, which the front serves"


def test_a_copy_that_could_not_be_removed_does_not_count(tmp_path: Path) -> None:
    """The write is unknown, and what the front still has is older than what the home has."""
    layer = Layer(tmp_path, policy="write-through", invalidate="delete")
    both = prepared(layer)
    assert call(both, VALUES, "get", "k") == b"old"
    layer.front.fails = LOST
    with pytest.raises(Unknown):
        call(both, VALUES, "put", "k", b"new")
    layer.front.fails = None
    assert layer.front.records["sp_values_copies"] == {"k": b"old"}
    assert call(both, VALUES, "get", "k") == b"new"


def test_other_keys_keep_their_copies(tmp_path: Path) -> None:
    """Only those that share the slot lose them."""
    layer = Layer(tmp_path, policy="write-through")
    both = prepared(layer)
    keys = [f"key{number}" for number in range(50)]
    for key in keys:
        call(both, VALUES, "put", key, b"v")
    given_up(layer, lambda: call(both, VALUES, "put", "key7", b"new"))
    layer.home.asked.clear()
    for key in keys:
        call(both, VALUES, "get", key)
    assert layer.home.asked == ["get key7"]


def test_the_copies_of_a_collection_that_could_not_be_removed_do_not_count(tmp_path: Path) -> None:
    """A write to all that match, whose keys are not known."""
    layer = Layer(tmp_path, policy="write-through")
    documents = Layout("sp_documents", SHIPPED.models["document10"])
    both = layer.session().collection(documents)
    both.prepare()
    for key in ("a", "b"):
        call(both, documents, "put", key, {"field0": "old"})
    layer.front.fails = LOST
    with pytest.raises(Unknown):
        call(both, documents, "update_where", None, ("field0",), "new")
    layer.front.fails = None
    assert [call(both, documents, "get", key) for key in ("a", "b")] == [{"field0": "new"}] * 2


def test_all_clients_see_the_same_tokens(tmp_path: Path) -> None:
    """Those of other sessions and processes have the file open, as the locks have it."""
    (tmp_path / "locks").touch()
    one, other = (Fences(Locks(str(tmp_path / "locks"))) for _ in range(2))
    assert one.token("c", "k") == other.token("c", "k") == b""
    one.replace("c", ["k"])
    first = other.token("c", "k")
    assert len(first) == 8
    assert other.token("c", "another") == other.token("d", "k") == b""
    one.replace_all()
    assert len({first, other.token("c", "k"), other.token("c", "another"), other.token("d", "k")}) == 4
