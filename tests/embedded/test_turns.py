"""Who waits the longest is the next one."""

from __future__ import annotations

import threading
import time

from storeproof.embedded.turns import Turns


def test_turns_are_given_in_the_order_they_were_asked_for() -> None:
    """The lock is granted in the order of the requests."""
    turns = Turns()
    assert turns.acquire(0)
    given: list[int] = []

    def take(number: int) -> None:
        with turns:
            given.append(number)

    waiting = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for number, thread in enumerate(waiting):
        thread.start()
        while len(turns._waiting) <= number:
            time.sleep(0.001)
    turns.release()
    for thread in waiting:
        thread.join(5)
    assert given == list(range(8))
    assert turns.acquire(0)


def test_who_is_given_none_in_time_is_passed_over() -> None:
    """A waiter whose time-out has passed does not block the lock."""
    turns = Turns()
    assert turns.acquire(0)
    assert not turns.acquire(0.01)
    turns.release()
    assert turns.acquire(0)


def test_nobody_is_left_out_while_others_come_again_and_again() -> None:
    """Of many that take it as often as they can, none takes it much more often than another."""
    turns, taken, begun, end = Turns(), [0] * 10, set[int](), time.monotonic() + 0.5

    def take(number: int) -> None:
        while time.monotonic() < end:
            with turns:
                begun.add(number)
                taken[number] += len(begun) == 10  # who starts early takes some before
                time.sleep(0.0005)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert max(taken) - min(taken) <= 5, "each takes its turn, but for one that the machine halted for a moment"
