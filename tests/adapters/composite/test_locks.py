"""The locks of the layer exclude clients of one process and of several, and end with their holder."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from storeproof.adapters.composite.locks import Locks

HOLDER = """
import sys
from storeproof.adapters.composite.locks import Locks
with Locks(sys.argv[1]).of_keys("c", ["k"]):
    print("held", flush=True)
    sys.stdin.read()
"""
"""Holds a lock until its input ends, or it is killed."""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "locks").touch()
    return str(tmp_path / "locks")


def waits(own: Callable[[], AbstractContextManager[None]], other: Callable[[], AbstractContextManager[None]]) -> bool:
    """Whether another client gets its lock only after this one has freed its own."""
    order: list[str] = []
    begun = threading.Event()

    def take() -> None:
        begun.set()
        with other():
            order.append("other")

    thread = threading.Thread(target=take)
    with own():
        thread.start()
        begun.wait()
        thread.join(0.05)
        order.append("own")
    thread.join()
    return order == ["own", "other"]


def test_a_key_is_held_by_one_client(path: str) -> None:
    """Also in one process; another key is free, and so is the same key of another collection."""
    one, two = Locks(path), Locks(path)
    assert waits(lambda: one.of_keys("c", ["k"]), lambda: two.of_keys("c", ["k"]))
    assert waits(lambda: one.of_keys("c", ["a", "k"]), lambda: two.of_keys("c", ["k", "b"]))
    for collection, key in (("c", "other"), ("d", "k"), ("c", 1)):
        with one.of_keys("c", ["k"]), two.of_keys(collection, [key]):
            pass


def test_a_collection_is_held_against_all_its_keys(path: str) -> None:
    """In both directions; the keys of another collection are free."""
    one, two = Locks(path), Locks(path)
    assert waits(lambda: one.of_collection("c"), lambda: two.of_keys("c", ["k"]))
    assert waits(lambda: one.of_keys("c", ["k"]), lambda: two.of_collection("c"))
    with one.of_collection("c"), two.of_keys("d", ["k"]):
        pass


def test_many_clients_that_lock_several_keys_never_wait_for_each_other_in_a_circle(path: str) -> None:
    """Each takes them in the same order, whatever order it names them in; and no increment under the locks is lost."""
    count = 0

    def add(keys: list[str]) -> None:
        nonlocal count
        locks = Locks(path)
        for _ in range(100):
            with locks.of_keys("c", keys):
                before = count
                count = before + 1
        locks.close()

    threads = [threading.Thread(target=add, args=(keys,), daemon=True) for keys in (["a", "b"], ["b", "a"], ["a", "c", "b"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert count == 300


def test_the_lock_of_a_client_that_was_killed_is_free(path: str) -> None:
    """Processes exclude each other, and the kernel frees what a dead one held."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        taken = threading.Event()

        def take() -> None:
            with Locks(path).of_keys("c", ["k"]):
                taken.set()

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        assert not taken.wait(0.05)
        holder.kill()
        assert taken.wait(60)
