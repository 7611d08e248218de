"""Client threads end with their case, and no one waits for a thread that hangs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from storeproof import halt as halting
from storeproof.contract import Collection, Layout, call
from storeproof.errors import Halted
from storeproof.experiments import client_threads
from storeproof.experiments.client_threads import ClientThread, together, wait_for
from storeproof.halt import Halt, Limit
from tests.contract.models import VALUE


class Agreeing:
    """Answers every request, and so keeps a loop going that waits for another answer."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def get(self, key: object) -> None:
        self.asked.set()

    put = delete = exists = get


@pytest.fixture
def halt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Halt]:
    """One of the test's own, which threads do not wait for longer than they must."""
    own = Halt()
    monkeypatch.setattr(halting, "HANG_SECONDS", 0.0)
    monkeypatch.setattr(halting, "_INTERRUPTED_SECONDS", 0.0)
    monkeypatch.setattr("storeproof.contract.guard.halt", own)
    monkeypatch.setattr(client_threads, "halt", own)
    return own


def ask_for_ever(collection: Agreeing, layout: Layout) -> None:
    while call(cast(Collection, collection), layout, "get", "k") is None:
        pass


@pytest.mark.parametrize("end", ["the case has had its time", "the case ends", "the run is interrupted"])
def test_no_loop_of_requests_outlives_its_case(halt: Halt, end: str) -> None:
    """A client that asks until it gets another answer sends nothing more."""
    collection, limit = Agreeing(), Limit(0.3 if end == "the case has had its time" else 1e9, "the case has taken 5 min")
    with halt.case(limit):
        asking = ClientThread(lambda: ask_for_ever(collection, VALUE))
        asking.start()
        collection.asked.wait()
        if end == "the run is interrupted":
            halt.interrupt()
        elif end == "the case has had its time":
            asking.join()
    asking.join()
    with (
        halt.case(Limit()),
        pytest.raises(Halted, match="interrupted" if "interrupted" in end else "^the case has taken 5 min; next would"),
    ):
        asking.result()


def test_a_signal_that_also_ends_the_case_is_the_reason(halt: Halt) -> None:
    """Though both come while a client is about to send."""

    class EndsMeanwhile(Limit):
        @property
        def over(self) -> bool:
            halt.interrupt()
            return True

    with halt.case(EndsMeanwhile()), pytest.raises(Halted, match="interrupted before get"):
        halt.check("get")


def test_a_client_that_hangs_is_named_and_left(halt: Halt) -> None:
    """The case ends, though one of its threads never does."""
    never = threading.Event()
    works: list[Any] = [lambda: 1, never.wait]
    with (
        halt.case(Limit(0.3, "the case has taken 5 min")),
        pytest.raises(Halted, match=r"^the case has taken 5 min; next .* storeproof-client"),
    ):
        together(works)
    never.set()


def test_a_second_signal_ends_waiting_at_once(halt: Halt, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first, threads have a moment to end."""
    monkeypatch.setattr(halting, "_INTERRUPTED_SECONDS", 1e9)
    never = threading.Event()
    hanging = ClientThread(never.wait)
    hanging.start()
    halt.interrupt()
    assert not wait_for([hanging], 0.1), "there is time left"
    halt.interrupt()
    assert not wait_for([hanging])
    never.set()


def test_what_threads_return_and_raise_comes_to_who_waits() -> None:
    """In the order of the works; of several failures the first."""

    def fail(word: str) -> int:
        raise ValueError(word)

    assert together([lambda: 1, lambda: 2]) == [1, 2]
    with pytest.raises(ValueError, match="one"):
        together([lambda: 1, lambda: fail("one"), lambda: fail("two")])
