"""New keys belong to one client; known keys are equally likely."""

from __future__ import annotations

from random import Random

from storeproof.records.distributions import fnv
from storeproof.records.keys import HASHED, ORDERED, NewKeys, greatest, key_of
from tests.shipped import SHIPPED


def test_new_keys_of_all_clients_are_disjoint_and_without_gaps() -> None:
    """Three clients that took ten keys each took thirty keys in a row, after the loaded ones."""
    taken = []
    for client in range(3):
        draw = NewKeys(100, client, 3, 0, Random(client)).draw()
        taken += [draw() for _ in range(10)]
    assert sorted(taken) == list(range(100, 130))


def test_new_keys_go_on_where_the_round_before_ended() -> None:
    """No key is new twice."""
    first = NewKeys(0, 1, 4, 0, Random(1))
    draw = first.draw()
    before = {draw() for _ in range(20)}
    draw = NewKeys(0, 1, 4, first.position, Random(2)).draw()
    assert before.isdisjoint({draw() for _ in range(20)})


def test_a_share_of_the_draws_repeats_earlier_keys() -> None:
    """With 90 % distinct keys about a tenth of the draws takes a key that the same client took before."""
    keys = NewKeys(0, 2, 5, 0, Random(3))
    draw = keys.draw(distinct=0.9)
    drawn = [draw() for _ in range(10_000)]
    assert 0.89 < len(set(drawn)) / len(drawn) < 0.91
    assert keys.position == len(set(drawn))
    assert all(number % 5 == 2 for number in drawn)


def test_keys_are_written_as_the_model_has_them() -> None:
    """Text of fixed width, or the number."""
    models = SHIPPED.models
    assert key_of(models["single_key"], 42) == "key:000000000042"
    assert key_of(models["row"], 42) == 42


def test_the_oldest_new_keys_are_removed_first_and_doubtful_ones_never() -> None:
    """What was not acknowledged may be there or not: its removal would say nothing."""
    keys = NewKeys(100, 1, 3, 0, Random(6), indeterminate=[104])
    draw = keys.draw()
    assert not keys.any_left
    drawn = [draw() for _ in range(4)]
    removed = []
    while keys.any_left:
        removed.append(keys.oldest())
    assert (drawn, removed) == ([101, 104, 107, 110], [101, 107, 110])
    assert (keys.position, keys.removed) == (4, 4)


def test_removing_goes_on_where_the_round_before_ended() -> None:
    """No key is removed twice."""
    keys = NewKeys(0, 0, 2, 5, Random(7), removed=3)
    assert keys.any_left
    assert [keys.oldest(), keys.oldest()] == [6, 8]
    assert not keys.any_left


def test_hashed_keys_are_those_of_ycsb() -> None:
    """The first two are known of YCSB's own runs; one with a shorter hash is as wide as they are."""
    model = SHIPPED.models["usertable"]
    assert [key_of(model, number) for number in (0, 1)] == ["user6284781860667377211", "user8517097267634966620"]
    short = next(number for number in range(1000) if fnv(number) < 10**18)
    assert key_of(model, short) == f"user0{fnv(short)}"


def test_the_greatest_of_the_loaded_keys() -> None:
    """Of hashed ones it may be any."""
    assert greatest(ORDERED, 100) == "key:000000000099"
    assert greatest(HASHED, 100) == max(HASHED.key(number) for number in range(100)) != HASHED.key(99)
