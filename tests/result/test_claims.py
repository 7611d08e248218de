"""Results held against published claims: reproduced, refuted, or the reason why neither can be said."""

from __future__ import annotations

import re
from typing import Any

import pytest

from storeproof.experiments.performance.benchmark_config import configs
from storeproof.result.claims import ClaimVerdict, judge_claims
from storeproof.result.claims.judge import SCALE, command_for
from storeproof.result.model import Result
from storeproof.spec.questions.read_claims import read_claims
from tests.result.claimed import SIDES, TWICE, around, file_of, given, judged, number, result, store, two
from tests.result.records import measured
from tests.shipped import SHIPPED

ORDER = {**SIDES, "reproduced": {"above": 1}}
PARITY = {**SIDES, "reproduced": {"above": 0.8, "below": 1.25}}


@pytest.mark.parametrize(
    ("claim", "a", "b", "verdict"),
    [
        (TWICE, 2000, 1000, ClaimVerdict.REPRODUCED),
        (TWICE, 1000, 1000, ClaimVerdict.REFUTED),
        (TWICE, 4000, 1000, ClaimVerdict.REFUTED),
        (ORDER, 1100, 1000, ClaimVerdict.REPRODUCED),
        (ORDER, 1000, 1100, ClaimVerdict.REFUTED),
        (PARITY, 1000, 1000, ClaimVerdict.REPRODUCED),
        (PARITY, 1000, 2000, ClaimVerdict.REFUTED),
    ],
)
def test_the_interval_decides(claim: dict[str, Any], a: float, b: float, verdict: ClaimVerdict) -> None:
    """Between the bounds or outside them, on either side."""
    found = judged(claim, two(around(a), around(b)))
    assert (found.verdict, found.reason, found.command) == (verdict, "", "")
    assert found.ratios[0].ratio == pytest.approx(a / b, rel=0.01)


def test_an_interval_over_a_bound_decides_nothing() -> None:
    """And the command that would measure it again is there."""
    found = judged(TWICE, two((1500, 2500, 2000), around(1000)))
    assert (found.verdict, found.reason) == (ClaimVerdict.CANNOT_SAY, "the interval reaches over a bound")
    assert found.command.startswith("pytest suites/")


def test_a_difference_within_the_noise_of_its_kind_is_none() -> None:
    """Two equal rates may be as far apart there; a claim that no such ratio reproduces is refuted all the same."""
    near = two(around(1100), around(1000), noise=1.2)
    found = judged(ORDER, near)
    assert (found.verdict, found.reason) == (ClaimVerdict.CANNOT_SAY, "the difference is within the noise of its kind, a factor of 1.20")
    assert judged(TWICE, near).verdict is ClaimVerdict.REFUTED
    assert judged(ORDER, two(around(1300), around(1000), noise=1.2)).verdict is ClaimVerdict.REPRODUCED
    assert judged({**SIDES, "figure": {"ratio": 1.2}}, near).verdict is ClaimVerdict.CANNOT_SAY


def limited(rate: float) -> Any:
    return number("single-get", *around(rate), at_least=True)


@pytest.mark.parametrize(
    ("claim", "a", "b", "verdict"),
    [
        (ORDER, limited(2000), around(1000), ClaimVerdict.REPRODUCED),  # at least twice as fast
        (ORDER, around(1000), limited(2000), ClaimVerdict.REFUTED),  # at most half as fast
        ({**SIDES, "reproduced": {"below": 1}}, around(1000), limited(2000), ClaimVerdict.REPRODUCED),
        (TWICE, limited(4000), around(1000), ClaimVerdict.REFUTED),  # at least four times
        (TWICE, around(1000), limited(1000), ClaimVerdict.REFUTED),  # at most as fast
        (TWICE, limited(2000), around(1000), ClaimVerdict.CANNOT_SAY),
        (ORDER, limited(900), around(1000), ClaimVerdict.CANNOT_SAY),
        (ORDER, limited(2000), limited(1000), ClaimVerdict.CANNOT_SAY),
    ],
)
def test_a_lower_bound_of_a_rate_decides_one_way(claim: dict[str, Any], a: Any, b: Any, verdict: ClaimVerdict) -> None:
    """A side that is at least this fast gives an inequality, which may be enough."""
    found = judged(claim, two(a, b))
    assert found.verdict is verdict
    if verdict is ClaimVerdict.CANNOT_SAY:
        assert "the load generator was the limit" in found.reason


def test_no_bound_is_shown_where_there_is_none() -> None:
    """The upper bound goes where A was limited, the lower where B was."""
    (found,) = judged(ORDER, two(limited(2000), around(1000))).ratios
    assert found.high is None
    assert found.low == pytest.approx(2, rel=0.05)
    (found,) = judged(ORDER, two(around(2000), limited(1000))).ratios
    assert found.low is None
    assert found.high == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize(
    ("stores", "reason"),
    [
        ([], "not measured: single-get on redis:aof-always and mongodb:journaled"),
        ([store("redis:aof-always", number("single-get", *around(1)))], "not measured: single-get on mongodb:journaled"),
        ([store("redis:volatile", number("single-get", *around(1)))], "not measured: single-get on redis:aof-always and mongodb:journaled"),
    ],
)
def test_what_was_not_measured_is_named_with_the_command(stores: list[Any], reason: str) -> None:
    """By its store and variant."""
    found = judged(TWICE, result(*stores))
    assert (found.verdict, found.reason, found.ratios) == (ClaimVerdict.CANNOT_SAY, reason, [])
    assert "--store=redis:aof-always --store=mongodb:journaled" in found.command


def test_each_workload_that_was_not_measured_is_named() -> None:
    """With the stores that it was not measured on, each once."""
    side = {"store": "redis", "variant": "aof-always"}
    claim = {
        "about": ["workload"],
        "figure": {"ratio": 2},
        "a": {**side, "workload": "hash10-put"},
        "b": {**side, "workload": "hash10-get"},
    }
    assert judged(claim).reason == "not measured: hash10-put on redis:aof-always, hash10-get on redis:aof-always"


@pytest.mark.parametrize("claim", [{"no_workload": "no workload has it"}, {**TWICE, "withdrawn": "no workload has it"}])
def test_what_no_workload_measures_has_a_reason_and_no_command(claim: dict[str, Any]) -> None:
    """It is listed all the same; of a claim that is withdrawn no ratio is shown, although both sides were measured and would refute it."""
    assert judged(TWICE, two(around(1), around(1))).verdict is ClaimVerdict.REFUTED
    found = judged(claim, two(around(1), around(1)))
    assert (found.verdict, found.reason, found.command, found.ratios) == (ClaimVerdict.CANNOT_SAY, "no workload has it", "", [])


UNPROVEN = result(
    store("redis:aof-always", number("single-get", *around(2)), proven=None), store("mongodb:journaled", number("single-get", *around(1)))
)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (UNPROVEN, "durability was not proven in A"),
        (two(number("single-get", *around(2), clients=8), around(1)), "number of clients differs: 8 against 50"),
        (two(number("single-get", *around(2), engine="wire"), around(1)), "load engine differs: wire against driver"),
        (two(number("single-get", 2.0), around(1)), "a single round has no spread: at least two rounds on each side are needed"),
        (two(number("single-get", *around(2), invalid=["errors", "littles_law"]), around(1)), "A: not valid: errors, littles_law"),
    ],
    ids=["durability", "clients", "engine", "one-round", "invalid"],
)
def test_what_compare_refuses_is_refused_with_its_reason(run: Result, reason: str) -> None:
    """No claim is decided by a ratio that would mislead; the numbers are shown."""
    found = judged(TWICE, run)
    assert (found.verdict, found.reason) == (ClaimVerdict.CANNOT_SAY, reason)
    assert (found.ratios[0].ratio, found.ratios[0].a.name) == (None, "redis:aof-always")


def test_only_a_claim_about_durability_compares_unlike_durability() -> None:
    """Neither the same proof nor any is needed there, since that is what the sides differ in."""
    side = {"store": "redis", "workload": "single-get"}
    sides = {"a": {**side, "variant": "aof-always"}, "b": {**side, "variant": "volatile"}, "reproduced": {"below": 1}}
    for proven in ("volatile", None):
        run = result(
            store("redis:aof-always", number("single-get", *around(1000))),
            store("redis:volatile", number("single-get", *around(2000)), proven=proven),
        )
        assert judged({**sides, "about": ["durability"]}, run).verdict is ClaimVerdict.REPRODUCED
        assert "durability" in judged(sides, run).reason


def test_only_a_claim_about_topology_compares_a_cluster_with_a_server() -> None:
    """And the page says which of them was one. Unlike durability is refused there too."""
    run = result(
        store("redis:aof-always", number("single-get", *around(2000))),
        store("mongodb:journaled", number("single-get", *around(1000)), topology="cluster"),
    )
    assert judged(TWICE, run).reason == "topology differs: single against cluster"
    found = judged({**TWICE, "about": ["topology"]}, run)
    assert found.verdict is ClaimVerdict.REPRODUCED
    assert "redis:aof-always: topology single, all on one machine; mongodb:journaled: topology cluster, all on one machine" in found.differs
    stores = [run.stores[0], run.stores[1].model_copy(update={"durability": store("x:y", proven="clean_restart").durability})]
    refused = judged({**TWICE, "about": ["topology"]}, result(*stores)).reason
    assert refused == "proven durability differs: power_loss against clean_restart"


def test_a_store_compared_with_itself_in_one_run_has_one_durability() -> None:
    """Proven or not; in two runs that is unknown."""
    side = {"store": "mongodb", "variant": "journaled"}
    claim = {
        "about": ["indexes"],
        "reproduced": {"below": 1},
        "a": {**side, "workload": "document10-insert-1", "indexes": 1},
        "b": {**side, "workload": "document10-insert-1"},
    }
    numbers = [number("document10-insert-1", *around(rate), indexes=count) for rate, count in ((800, 1), (1000, 0))]
    assert judged(claim, result(store("mongodb:journaled", *numbers, proven=None))).verdict is ClaimVerdict.REPRODUCED
    apart = [result(store("mongodb:journaled", each, proven=None), run=str(each.indexes)) for each in numbers]
    assert judged(claim, *apart).reason == "durability was not proven in A and B"


def test_sides_may_differ_in_what_the_claim_is_about_and_in_nothing_else() -> None:
    """Two workloads differ in model, payload and records; their numbers of clients still must be equal."""
    a = number("hash10-put", *around(500), model="hash10", operation="put", payload_bytes=1000)
    claim = {
        "about": ["workload"],
        "figure": {"ratio": 0.5},
        "a": {"store": "redis", "variant": "aof-always", "workload": "hash10-put"},
        "b": {"store": "redis", "variant": "aof-always", "workload": "single-get"},
    }
    assert judged(claim, result(store("redis:aof-always", a, number("single-get", *around(1000))))).verdict is ClaimVerdict.REPRODUCED
    other = number("single-get", *around(1000), clients=8)
    assert judged(claim, result(store("redis:aof-always", a, other))).reason == "number of clients differs: 50 against 8"


def test_a_claim_for_each_workload_is_refuted_by_one_and_reproduced_by_all() -> None:
    """Neither half of them is enough to reproduce it, nor is one unmeasured one nothing."""
    side = {"a": {"store": "redis", "variant": "aof-always"}, "b": {"store": "mongodb", "variant": "journaled"}}
    claim = {**side, "for_each": ["ycsb-a", "ycsb-b"], "reproduced": {"above": 1}}

    def run(**rates: float) -> Any:
        names = {name.replace("_", "-"): rate for name, rate in rates.items()}
        return result(
            store("redis:aof-always", *(number(name, *around(rate)) for name, rate in names.items())),
            store("mongodb:journaled", *(number(name, *around(1000)) for name in names)),
        )

    assert judged(claim, run(ycsb_a=2000, ycsb_b=2000)).verdict is ClaimVerdict.REPRODUCED
    assert judged(claim, run(ycsb_a=2000, ycsb_b=500)).verdict is ClaimVerdict.REFUTED
    assert judged(claim, run(ycsb_b=500)).verdict is ClaimVerdict.REFUTED
    found = judged(claim, run(ycsb_a=2000))
    assert (found.verdict, len(found.ratios)) == (ClaimVerdict.CANNOT_SAY, 1)
    assert found.reason == "ycsb-a: reproduced; ycsb-b: not measured: redis:aof-always and mongodb:journaled"


def test_rounds_count_as_interleaved_only_within_one_workload() -> None:
    """The n-th rounds of two workloads were not measured in one block."""
    at_once = {"interleaved_with": ["mongodb:journaled"]}
    assert judged(TWICE, two(number("single-get", *around(2000), **at_once), around(1000))).ratios[0].interleaved
    claim = {**TWICE, "about": ["workload"], "a": {**SIDES["a"], "workload": "single-put-distinct-100"}}
    other = number("single-put-distinct-100", *around(2000), **at_once)
    found = judged(claim, two(other, around(1000)))
    assert found.verdict is ClaimVerdict.REPRODUCED
    assert not found.ratios[0].interleaved


def test_index_counts_share_the_blocks_since_there_is_a_mean_latency() -> None:
    """Of one store, and of several; in older results they were measured one after the other."""
    claim = {**TWICE, "about": ["indexes"], "b": {**SIDES["b"], "workload": "hash10-put"}}
    claim["a"] = {**SIDES["a"], "workload": "hash10-put", "indexes": 1}
    same = {**claim, "a": {**claim["b"], "indexes": 1}}
    for mean, interleaved in ((None, False), (10.0, True)):
        latency = {"latency_us": {**measured().latency_us.model_dump(), "mean": mean}}
        numbers = [
            number("hash10-put", *around(rate), indexes=count, interleaved_with=["mongodb:journaled"], **latency)
            for rate, count in ((2000, 1), (1000, 0))
        ]
        (found,) = judged(claim, two(*numbers)).ratios
        assert found.interleaved is interleaved
        (found,) = judged(same, result(store("mongodb:journaled", *numbers))).ratios
        assert found.interleaved is interleaved
        (found,) = judged(claim, two(numbers[0].model_copy(update={"interleaved_with": []}), numbers[1])).ratios
        assert not found.interleaved


def chosen(claim: dict[str, Any], *results: Any, **more: Any) -> tuple[str, str, int, str]:
    (found,) = judged(claim, *results, **more).ratios
    return found.a.name, found.b.name, found.a.clients, found.a.run


def test_the_texts_own_store_is_preferred_to_those_instead_of_it() -> None:
    """Another one is taken where the own one was not measured, or may not be compared."""
    claim = {**TWICE, "b": {**SIDES["b"], "store": "marklogic", "variant": "fast", "instead": ["mongodb:journaled", "couchbase:none"]}}
    a = store("redis:aof-always", number("single-get", *around(2)))
    own, first, second = (store(name, number("single-get", *around(1))) for name in ("marklogic:fast", *claim["b"]["instead"]))
    assert chosen(claim, result(a, second, first, own))[1] == "marklogic:fast"
    assert chosen(claim, result(a, second, first))[1] == "mongodb:journaled"
    unproven = store("marklogic:fast", number("single-get", *around(1)), proven=None)
    found = judged(claim, result(a, first, unproven))
    assert found.ratios[0].b.name == "mongodb:journaled"
    assert "mongodb:journaled, Product 1.2 (text: marklogic:fast)" in found.differs


def test_a_store_that_is_on_both_sides_is_replaced_on_both() -> None:
    """What an index costs one store is not told by two."""
    side = {"store": "marklogic", "variant": "fast", "instead": ["mongodb:journaled", "tarantool:vinyl-fsync"], "workload": "hash10-put"}
    claim = {"about": ["indexes"], "reproduced": {"below": 1}, "a": {**side, "indexes": 1}, "b": side}
    with_index = number("hash10-put", *around(1), indexes=1)
    without = number("hash10-put", *around(2))
    mixed = result(store("mongodb:journaled", with_index), store("tarantool:vinyl-fsync", without))
    found = judged(claim, mixed)
    assert (found.ratios, found.reason) == ([], "not measured: both on the same store")
    assert chosen(claim, mixed, result(store("tarantool:vinyl-fsync", with_index, without), run="r2"))[:2] == ("tarantool:vinyl-fsync",) * 2


def test_the_best_match_is_chosen_and_not_the_best_ratio() -> None:
    """The same pairs are chosen, whichever of them would reproduce the claim."""
    for fast, slow in ((2000, 1000), (1000, 2000)):
        one = two(around(fast), around(1000), run="older")
        later = two(around(slow), around(1000), run="later", started="2026-02-01T00:00:00Z")
        assert chosen(TWICE, one, later)[3] == chosen(TWICE, later, one)[3] == "later"
        larger = two(around(fast), around(1000), run="larger", scale="full")
        assert chosen(TWICE, later, larger)[3] == "larger"
        assert chosen(TWICE, one, given(later, [0], [1], 2))[3] == "older"
        limited = two(number("single-get", *around(fast), at_least=True), around(1000), run="limited", scale="full")
        assert chosen(TWICE, limited, later)[3] == "later"
        assert chosen(TWICE, limited)[3] == "limited"


def test_that_a_store_was_given_a_part_of_the_machine_is_said() -> None:
    """By what it was given."""
    run = two(around(2000), around(1000))
    assert "each store was given 1 core" in judged(TWICE, given(run, [0], [1], 2)).differs
    assert "each store was given 2 cores and 1 GiB" in judged(TWICE, given(run, [0, 1], [2, 3], 4, memory=2**30)).differs
    assert not any("was given" in each for each in judged(TWICE, given(run, [0, 1], [2, 3], 4)).differs)


def test_the_nearest_number_of_clients_is_chosen_that_both_sides_have() -> None:
    """A claim without one takes the most."""
    numbers = [number("single-get", *around(1000), clients=count) for count in (1, 32, 128)]
    run = result(store("redis:aof-always", *numbers), store("mongodb:journaled", *numbers[:2]))
    both = result(store("redis:aof-always", *numbers), store("mongodb:journaled", *numbers))
    assert chosen(TWICE, run, conditions={"clients": 100})[2] == 32
    assert chosen(TWICE, both, conditions={"clients": 100})[2] == 128
    assert chosen(TWICE, both, conditions={"clients": 2})[2] == 1
    assert chosen(TWICE, both)[2] == 128


def test_one_run_is_preferred_to_two() -> None:
    """What the machine did then, it did to both."""
    whole = two(around(1), around(1), run="whole")
    part = result(store("mongodb:journaled", number("single-get", *around(1))), run="part", started="2026-02-01T00:00:00Z")
    (found,) = judged(TWICE, part, whole).ratios
    assert (found.a.run, found.b.run) == ("whole", "whole")


@pytest.mark.parametrize(
    ("conditions", "phrase"),
    [
        ({"clients": 100}, "50 clients (text: 100)"),
        ({"records": 105_000_000}, "0 records in the store (text: 105,000,000)"),
        ({"payload_bytes": 3}, "100 bytes of a record (text: 3)"),
        ({"batch": 10}, "1 records per request (text: 10)"),
        ({"written": 100}, "3,000 records written (text: 100)"),
        ({"network": "remote"}, "client and server on one machine (text: on two)"),
        ({"machine": "a laptop", "cores": 4}, "Sample CPU 3000, 2 cores, 8 GiB (text: a laptop, 4 cores)"),
    ],
)
def test_what_differs_from_the_texts_conditions_is_said(conditions: dict[str, Any], phrase: str) -> None:
    """And what the text does not say, or what is alike, is not."""
    run = two(around(2000), around(1000))
    assert phrase in judged(TWICE, run, conditions=conditions).differs
    alike = {"clients": 50, "payload_bytes": 100, "batch": 1, "written": 3000, "network": "loopback"}
    said = judged(TWICE, run, conditions=alike, year=2026).differs
    assert said == [
        "Product 1.2 (text: no version)",
        "redis:aof-always: power_loss proven (text: says nothing of durability)",
        "mongodb:journaled: power_loss proven (text: says nothing of durability)",
    ]


def test_the_year_the_scale_the_version_and_the_drift_are_said() -> None:
    """With what the text repeats of no workload at the end."""
    drift = {"trend": {"change": 0.02, "probability": 0.001, "drifting": True}}
    run = two(number("single-get", *around(2000), **drift), around(1000), scale="smoke")
    claim = {**TWICE, "a": {**SIDES["a"], "version": "1.2"}, "b": {**SIDES["b"], "version": "0.9", "settings": "synced"}}
    assert judged({**claim, "not_repeated": ["its loader"]}, run, year=2015).differs == [
        "Product 1.2 (text: 0.9)",
        "2026 (text: 2015)",
        "smoke scale, which is too small for decisions",
        "redis:aof-always: power_loss proven (text: says nothing of durability)",
        "mongodb:journaled: power_loss proven (text: synced)",
        "the rate of redis:aof-always changed by +2.0% from round to round",
        "its loader",
    ]


def test_the_command_names_cases_that_the_scale_has() -> None:
    """Of every shipped claim that workloads measure; the number of clients is the nearest that there is."""
    performance = SHIPPED.scales[SCALE].performance
    ids = {config.name for workload in SHIPPED.workloads.values() for config in configs(workload, performance)}
    commands = 0
    for file in read_claims(SHIPPED):
        for claim in (each for each in file.claims if each.a is not None):
            cases = re.findall(r"performance\.(\S+)/", command_for(claim, file.conditions_of(claim), SHIPPED))
            assert set(cases) <= ids, claim.title
            commands += bool(cases)
    assert commands > 15


def test_the_answer_counts_all_claims() -> None:
    """Each has exactly one verdict."""
    found = judge_claims([file_of(TWICE), file_of({"no_workload": "none"})], [two(around(2000), around(1000))], SHIPPED)
    assert found.answer == "Of 2 claims: 1 reproduced, 0 refuted, 1 cannot say."


@pytest.mark.parametrize(
    ("about", "stores"),
    [((), "--store=mongodb:default --store=mysql-ndb:gcp-2000"), (("durability",), "--store=mongodb:journaled --store=mysql-ndb:gcp-2000")],
)
def test_the_command_measures_stores_that_promise_alike(about: tuple[str, ...], stores: str) -> None:
    """Others could not be compared, unless the claim is about durability; where no two do, those of the text are named."""
    a = {"store": "mongodb", "variant": "journaled", "instead": ["mongodb:default"], "workload": "row-get"}
    b = {"store": "mysql-ndb", "variant": "gcp-2000", "workload": "row-get"}
    assert stores in judged({"a": a, "b": b, "about": about, "reproduced": {"above": 1}}).command
    unlike = judged({"a": a | {"instead": []}, "b": b, "reproduced": {"above": 1}})
    assert "--store=mongodb:journaled --store=mysql-ndb:gcp-2000" in unlike.command
