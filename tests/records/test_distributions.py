"""Keys are drawn as often as YCSB and Zipf say. Every test of draws runs over both implementations, Python's and the compiled one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storeproof import native_support
from storeproof.records import distributions
from storeproof.records.distributions import ITEMS, ZETA, Gray, fnv, zeta
from storeproof.records.keys import NewKeys, draw_existing

Draws = Callable[[str, int, int, int, float], list[int]]
"""(keys, known, count, seed, theta) -> numbers of keys."""
IMPLEMENTATIONS: dict[str, Draws] = {"python": distributions.draw}  # type: ignore[dict-item]  # it takes fewer words than any
if native_support.present():
    from storeproof import native

    IMPLEMENTATIONS["native"] = native.draw
COUNT = 100_000
SIGMAS = 5


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def draws(request: pytest.FixtureRequest) -> Draws:
    return IMPLEMENTATIONS[request.param]


def _is_share(observed: int, share: float, count: int = COUNT) -> None:
    """Within five standard deviations of a binomial distribution."""
    deviation = (observed - share * count) / sqrt(count * share * (1 - share))
    assert abs(deviation) < SIGMAS, f"{observed} of {count} where {share:.4%} were expected: {deviation:.1f} standard deviations off"


def _agree(observed: Sequence[int], shares: Sequence[float]) -> None:
    """Pearson's chi-square, within five standard deviations of its mean."""
    count, freedom = sum(observed), len(shares) - 1
    assert abs(sum(shares) - 1) < 1e-6
    square = sum((seen - count * share) ** 2 / (count * share) for seen, share in zip(observed, shares, strict=True))
    assert square < freedom + SIGMAS * sqrt(2 * freedom), f"chi-square {square:.0f} of {freedom} degrees of freedom"


def _zipf(items: int, theta: float = 0.99) -> list[float]:
    total = zeta(items, theta)
    return [rank**-theta / total for rank in range(1, items + 1)]


def _gray(items: int, total: float, upto: int, theta: float = 0.99) -> list[float]:
    """The shares of the first ranks as `Gray` draws them: from where its formula goes over from rank to rank."""
    second = 1 + 0.5**theta
    eta = (1 - (2 / items) ** (1 - theta)) / (1 - second / total)
    below = [0.0, 1 / total] + [1 + ((rank / items) ** (1 - theta) - 1) / eta for rank in range(2, upto + 1)]
    below[2] = second / total  # rank 2 begins where rank 1 ends
    return [after - before for before, after in pairwise(below)]


def test_the_hash_is_that_of_ycsb() -> None:
    """The first keys of every YCSB load are known to all who ever looked at one."""
    assert [f"user{fnv(number)}" for number in range(3)] == [
        "user6284781860667377211",
        "user8517097267634966620",
        "user1820151046732198393",
    ]


def _fnv1a(data: bytes) -> int:
    hashed = 0xCBF29CE484222325
    for byte in data:
        hashed = (hashed ^ byte) * 0x100000001B3 % (1 << 64)
    return hashed


@given(st.integers(0, (1 << 64) - 1))
def test_the_hash_is_fnv_1a(number: int) -> None:
    """Of eight bytes, the lowest first, without the sign; the vectors are Landon Curt Noll's."""
    assert (_fnv1a(b""), _fnv1a(b"a"), _fnv1a(b"foobar")) == (0xCBF29CE484222325, 0xAF63DC4C8601EC8C, 0x85944171F73967E8)
    hashed = _fnv1a(number.to_bytes(8, "little"))
    assert fnv(number) == min(hashed, (1 << 64) - hashed)


def test_zeta_is_the_published_sum() -> None:
    """YCSB's constant is off in the ninth digit: it was added up term by term."""
    assert abs(zeta(ITEMS, 0.99) - ZETA) < 1e-6
    assert abs(zeta(50_000, 0.99) - sum(rank**-0.99 for rank in range(1, 50_001))) < 1e-9
    assert abs(zeta(50_000, 1) - sum(1 / rank for rank in range(1, 50_001))) < 1e-9
    assert zeta(3, 0.5) == 1 + 2**-0.5 + 3**-0.5


@pytest.mark.parametrize(("known", "hottest"), [(1_000, 0.129), (100_000, 0.078), (2_000_000, 0.062)])
def test_a_true_zipf_is_hotter_the_fewer_keys_there_are(draws: Draws, known: int, hottest: float) -> None:
    """The published shares, and the exact ones of the first three keys."""
    drawn = Counter(draws("zipf", known, COUNT, 11, 0.99))
    assert abs(1 / zeta(known, 0.99) - hottest) < 0.0005
    for rank in range(3):
        _is_share(drawn[rank], (rank + 1) ** -0.99 / zeta(known, 0.99))
    assert min(drawn) == 0
    assert max(drawn) < known


@pytest.mark.parametrize("theta", [0.5, 0.99, 1.5])
def test_all_of_a_zipf_is_as_it_should_be(draws: Draws, theta: float) -> None:
    """Every rank has its exact share, not only the first."""
    drawn, shares = Counter(draws("zipf", 200, 4 * COUNT, 3, theta)), _zipf(200, theta)
    _agree([drawn[key] for key in range(200)], shares)
    for rank in range(5):
        _is_share(drawn[rank], shares[rank], 4 * COUNT)


@pytest.mark.parametrize("known", [1_000, 100_000, 2_000_000])
def test_the_hottest_key_of_zipfian_gets_378_at_any_size(draws: Draws, known: int) -> None:
    """It is where the hash puts rank 0; the second one is where it puts rank 1. What all others add to them is even."""
    drawn = Counter(draws("zipfian", known, COUNT, 5, 0.99))
    assert abs(1 / ZETA - 0.0378) < 0.00005
    first, second = 1 / ZETA, 0.5**0.99 / ZETA
    _is_share(drawn[fnv(0) % known], first + (1 - first) / known)
    _is_share(drawn[fnv(1) % known], second + (1 - second) / known)
    assert drawn.most_common(1)[0][0] == fnv(0) % known


def test_another_constant_of_zipfian(draws: Draws) -> None:
    """The sum of its weights was not published, and is found."""
    share = 1 / zeta(ITEMS, 0.9)
    _is_share(Counter(draws("zipfian", 1_000, COUNT, 5, 0.9))[fnv(0) % 1_000], share + (1 - share) / 1_000)


def test_zipfian_is_scattered_by_the_hash(draws: Draws) -> None:
    """In 64 parts of the key space: what the hottest ranks bring is known, and all else is even."""
    known, parts, hot = 6_400, 64, 2_000
    shares = [0.0] * parts
    heads = _gray(ITEMS + 1, ZETA, hot)
    for rank, share in enumerate(heads):
        shares[fnv(rank) % known * parts // known] += share
    shares = [share + (1 - sum(heads)) / parts for share in shares]
    drawn = Counter(key * parts // known for key in draws("zipfian", known, COUNT, 8, 0.99))
    _agree([drawn[part] for part in range(parts)], shares)


def test_latest_leans_to_the_newest_key(draws: Draws) -> None:
    """As far back as an unscrambled Zipfian draw goes."""
    drawn = Counter(199 - key for key in draws("latest", 200, COUNT, 9, 0.99))
    _agree([drawn[back] for back in range(200)], _gray(200, zeta(200, 0.99), 200))


def test_a_zipfian_that_grew_is_one_that_was_made_so() -> None:
    """Both draw the same from the same seed."""
    grown, made = Gray(1_000, Random(1)), Gray(5_000, Random(1))
    grown.grow(5_000)
    assert [grown.draw() for _ in range(1000)] == [made.draw() for _ in range(1000)]


@pytest.mark.parametrize("known", [1, 2, 3])
@pytest.mark.parametrize("keys", ["uniform", "zipf", "zipfian", "latest", "sequential", "hotspot", "exponential"])
def test_few_keys_are_all_drawn(draws: Draws, keys: str, known: int) -> None:
    """Also where there is one key, by each of the distributions."""
    assert set(draws(keys, known, 1000, 1, 0.99)) == set(range(known))


def test_uniform_keys_are_all_as_likely(draws: Draws) -> None:
    """Each of 100 keys has its hundredth."""
    drawn = Counter(draws("uniform", 100, COUNT, 4, 0.99))
    _agree([drawn[key] for key in range(100)], [0.01] * 100)


def test_hotspot(draws: Draws) -> None:
    """80 % of the draws take the first 20 % of the keys; both parts are even."""
    drawn = Counter(draws("hotspot", 100, COUNT, 4, 0.99))
    _agree([drawn[key] for key in range(100)], [0.8 / 20] * 20 + [0.2 / 80] * 80)
    _is_share(sum(drawn[key] for key in range(20)), 0.8)


def test_sequential_keys_begin_again_after_the_last(draws: Draws) -> None:
    """In order, and round."""
    assert draws("sequential", 4, 10, 1, 0.99) == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]


def test_exponential(draws: Draws) -> None:
    """95 % of the draws reach back over less than 6/7 of the keys; those beyond the oldest key are drawn again."""
    known, parts = 7_000, 14
    rate = -log(0.05) / (known * 0.8571428571)
    below = [1 - 2.718281828459045 ** (-rate * known * part / parts) for part in range(parts + 1)]
    assert abs(below[12] - 0.95) < 1e-6
    drawn = Counter((known - 1 - key) * parts // known for key in draws("exponential", known, COUNT, 6, 0.99))
    _agree([drawn[part] for part in range(parts)], [(after - before) / below[-1] for before, after in pairwise(below)])


def test_a_seed_draws_the_same_again(draws: Draws) -> None:
    """And another seed draws others."""
    assert draws("zipfian", 1000, 100, 7, 0.99) == draws("zipfian", 1000, 100, 7, 0.99)
    assert draws("zipfian", 1000, 100, 7, 0.99) != draws("zipfian", 1000, 100, 8, 0.99)


@pytest.mark.parametrize("keys", ["uniform", "zipf", "latest"])
def test_nothing_is_drawn_of_nothing(draws: Draws, keys: str) -> None:
    """Without loaded records there is an error and no endless loop."""
    with pytest.raises(ValueError, match=r"none were loaded|one record or more"):
        draws(keys, 0, 1, 1, 0.99)


@pytest.mark.parametrize(("make", "theta"), [(Gray, 0), (Gray, 1), (distributions.Zipf, 0), (distributions.Zipf, 1)])
def test_constants_that_cannot_be(make: type[Gray | distributions.Zipf], theta: float) -> None:
    """0 and 1 are outside of what the generators can do."""
    with pytest.raises(ValueError, match="Zipf's constant"):
        make(10, Random(1), theta)


def test_the_clients_of_the_driver_engine_count_through_the_keys_together() -> None:
    """None of them draws what another one does, until all were drawn."""
    clients = [draw_existing("sequential", 9, NewKeys(9, client, 3, 0, Random(1)), Random(1)) for client in range(3)]
    assert sorted(draw() for draw in clients for _ in range(3)) == list(range(9))


@pytest.mark.parametrize("keys", ["sequential", "uniform", "latest"])
def test_a_client_draws_no_key_where_none_was_loaded(keys: str) -> None:
    """Whatever the distribution, the error says that no records were loaded."""
    with pytest.raises(ValueError, match="none were loaded"):
        draw_existing(keys, 0, NewKeys(0, 0, 1, 0, Random(1)), Random(1))  # type: ignore[arg-type]  # one of a parameter's


@pytest.mark.parametrize("keys", ["latest", "exponential"])
def test_the_newest_key_of_a_client_is_its_own(keys: str) -> None:
    """Its new ones count as newer than all loaded ones; those that were removed or are in doubt are never drawn, nor those of others."""
    fresh = NewKeys(100, 1, 3, 20, Random(2), removed=5, indeterminate=[100 + 3 * 19 + 1])
    draw = draw_existing(keys, 100, fresh, Random(3))  # type: ignore[arg-type]  # one of a parameter's
    drawn = Counter(draw() for _ in range(20_000))
    there = [100 + 3 * position + 1 for position in range(5, 19)]
    assert set(drawn) == {*range(100), *there}
    assert drawn[there[-1]] > drawn[there[0]] > drawn[0]
    fresh.position += 1
    assert any(draw() == 100 + 3 * 20 + 1 for _ in range(1000))
