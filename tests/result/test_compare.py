"""Ratios where the two are alike; a refusal with its reason where they are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from storeproof.outcome import Outcome, Stage
from storeproof.result.compare import Pair, Side, compare
from storeproof.result.measurement import Measurement
from storeproof.result.model import Citation, OutcomeRecord, Result
from tests.report.sample import DRIFTING, TARGETS, sample_environment, sample_result
from tests.report.test_anatomy import FOUND
from tests.result.records import measured


def side(seed: int = 1, **changed: Any) -> Side:
    """A store that was measured once; `changed` replaces fields of the measurement, the store or the run, by name."""
    result = sample_result(TARGETS[:1], seed=seed)
    store = result.stores[0]
    measurement = measured().model_dump() | {key: value for key, value in changed.items() if key in Measurement.model_fields}
    durability = store.durability.model_copy(update={"proven": changed.get("proven", "process_crash")})
    store = store.model_copy(
        update={
            "measurements": [Measurement.model_validate(measurement)],
            "durability": durability,
            "topology": changed.get("topology", "single"),
        }
    )
    edition = result.edition.model_copy(update={"hash": changed.get("hash", "0123456789abcdef")})
    run = result.run.model_copy(update={"scale": changed.get("scale", "standard")})
    environment = sample_environment(**changed.get("environment", {}))
    return Side(Result(edition=edition, run=run, environment=environment, stores=[store]), store)


def only_pair(a: Side, b: Side) -> Pair:
    comparison = compare(a, b)
    assert (comparison.only_a, comparison.only_b) == ((), ())
    (pair,) = comparison.pairs
    return pair


def rounds(*throughputs: float) -> list[dict[str, Any]]:
    return [{"seconds": 1.0, "operations": 1, "throughput": each, "errors": 0, "misses": 0} for each in throughputs]


def test_a_difference_is_shown_with_its_interval() -> None:
    """Twice as fast, with a spread of one per cent."""
    pair = only_pair(side(rounds=rounds(2000, 2020, 1980)), side(rounds=rounds(1000, 1010, 990)))
    assert pair.refused == ()
    assert pair.ratio is not None
    assert pair.ratio.middle == pytest.approx(2.0)
    assert 1.9 < pair.ratio.low < 2 < pair.ratio.high < 2.1
    assert pair.ratio.shows_difference
    assert (pair.faster, pair.verdict, pair.bound) == ("A", "", "")


def test_a_store_that_was_watched_is_compared_with_none_that_was_not() -> None:
    """To watch its I/O takes time."""
    watched = side(anatomy=FOUND.model_dump())
    assert only_pair(watched, side()).refused[0].startswith("the I/O of one store was watched (--anatomy)")
    assert only_pair(watched, watched).refused == ()


def test_no_difference_is_shown_where_the_interval_contains_one() -> None:
    """A store against itself, and two stores within their noise."""
    same = side()
    assert not only_pair(same, same).ratio.shows_difference  # type: ignore[union-attr]
    pair = only_pair(side(rounds=rounds(1000, 1100, 900)), side(rounds=rounds(1050, 950, 1120)))
    assert pair.ratio is not None
    assert not pair.ratio.shows_difference
    assert (pair.faster, pair.verdict) == ("", "no difference shown")


def test_rounds_that_took_turns_are_compared_block_by_block() -> None:
    """In one run, a machine that halved its speed in a block did it to both; in two runs nothing is known of that."""
    fast, slow = rounds(2000, 1010, 1980), rounds(1000, 500, 990)
    apart = only_pair(side(rounds=fast), side(rounds=slow))
    assert (apart.paired, apart.verdict) == (False, "no difference shown")
    b = side(rounds=slow)
    pair = only_pair(side(rounds=fast, interleaved_with=[b.name]), b)
    assert pair.paired
    assert pair.ratio is not None
    assert pair.ratio.middle == pytest.approx(2, rel=0.01)
    assert pair.ratio.low > 1.9
    elsewhere = replace(b, result=b.result.model_copy(update={"run": b.result.run.model_copy(update={"id": "another"})}))
    assert not only_pair(side(rounds=fast, interleaved_with=[b.name]), elsewhere).paired
    longer = side(rounds=rounds(1000, 500, 990, 1000))
    assert not only_pair(side(rounds=fast, interleaved_with=[b.name]), longer).paired, "its rounds have no partner each"


def test_what_is_within_the_noise_of_its_kind_is_no_difference() -> None:
    """Other numbers of the kind scatter so much, in either result, that these two may be of the same thing; farther ones are told apart."""
    fast, slow = rounds(1080, 1081, 1079), rounds(1000, 1001, 999)
    pair = only_pair(side(rounds=fast), side(rounds=slow))
    assert (pair.faster, pair.verdict) == ("A", "")
    assert pair.noise < 1.01
    for one, other in (({}, {"beside": (1000, 1200, 900)}), ({"beside": (1000, 1200, 900)}, {})):
        pair = only_pair(_beside(side(rounds=fast), **one), _beside(side(rounds=slow), **other))
        assert pair.noise == pytest.approx(1.23, abs=0.01)
        assert pair.ratio is not None
        assert pair.ratio.shows_difference
        assert (pair.faster, pair.verdict) == ("", "no difference shown: within the noise of its kind")
        far = only_pair(_beside(side(rounds=rounds(1300, 1301, 1299)), **one), _beside(side(rounds=slow), **other))
        assert (far.faster, far.verdict) == ("A", "")


def _beside(one: Side, beside: tuple[float, ...] = ()) -> Side:
    """The side in a result with another store, whose number of the same kind has these rounds."""
    if not beside:
        return one
    (other,) = side(rounds=rounds(*beside)).result.stores
    return replace(one, result=one.result.model_copy(update={"stores": [*one.result.stores, other]}))


@pytest.mark.parametrize(
    ("a", "b", "bound", "faster", "verdict"),
    [
        ("fast", "", "≥", "A", ""),
        ("", "slow", "≤", "", "no difference shown: B may be faster than its number"),
        ("", "fast", "≤", "B", ""),
        ("slow", "", "≥", "", "no difference shown: A may be faster than its number"),
    ],
)
def test_a_lower_bound_makes_the_ratio_an_inequality(a: str, b: str, bound: str, faster: str, verdict: str) -> None:
    """Where the load generator was the limit of one side, that side may be faster still: a lead is shown, a deficit is not."""
    speeds = {"fast": rounds(2000, 2020, 1980), "slow": rounds(1000, 1010, 990)}
    one = side(rounds=speeds[a or ("fast" if b == "slow" else "slow")], at_least=bool(a))
    other = side(rounds=speeds[b or ("fast" if a == "slow" else "slow")], at_least=bool(b))
    pair = only_pair(one, other)
    assert pair.ratio is not None
    assert (pair.bound, pair.faster, pair.verdict) == (bound, faster, verdict)


def test_two_lower_bounds_have_no_ratio() -> None:
    """Both were measured as fast as the load generator is."""
    pair = only_pair(side(at_least=True), side(at_least=True))
    assert pair.ratio is None
    assert pair.refused == ("the load generator was the limit on both sides, so either may be faster",)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"proven": "clean_restart"}, "proven durability differs: process_crash against clean_restart"),
        ({"proven": None}, "durability was not proven in B"),
        ({"topology": "replica_set"}, "topology differs: single against replica_set"),
        ({"model": "hash10"}, "model differs: single_key against hash10"),
        ({"operation": "put"}, "operation differs: get against put"),
        ({"loaded": 1000}, "records loaded differs: none against 1000"),
        ({"payload_bytes": 1000}, "payload in bytes differs: 100 against 1000"),
        ({"clients": 64}, "number of clients differs: 50 against 64"),
        ({"batch": 10}, "batch differs: 1 against 10"),
        ({"record": "size-1000"}, "variation of the record differs: none against size-1000"),
        ({"pipeline": 4}, "number of requests in flight differs: 1 against 4"),
        ({"indexes": 2}, "number of indexes differs: 0 against 2"),
        ({"engine": "wire"}, "load engine differs: driver against wire"),
        ({"load_model": "open", "rate": 500.0}, "load model differs: closed against open"),
        ({"hash": "fedcba9876543210"}, "edition differs: 2026.11 (0123456789abcdef) against 2026.11 (fedcba9876543210)"),
        ({"scale": "smoke"}, "scale differs: standard against smoke"),
        ({"environment": {"cpu": "Other CPU"}}, "machine: cpu differs: Sample CPU 3000 against Other CPU"),
        ({"environment": {"cores": 4}}, "machine: cores differs: 2 against 4"),
        ({"environment": {"kernel": "Linux 7"}}, "machine: kernel differs"),
        ({"environment": {"disk": "/dev/other"}}, "machine: disk differs"),
        ({"environment": {"filesystem": "xfs (rw)"}}, "machine: filesystem differs"),
        ({"environment": {"memory_bytes": 2**30}}, "machine: memory differs: 8.0 GiB against 1.0 GiB"),
        (
            {"environment": {"placement": {"server": [0], "generator": [1], "shared": ""}}},
            "what each store was given differs: 2 cores (shared) against 1 cores (1 for the load generator)",
        ),
        (
            {"environment": {"placement": {"server": [0, 1], "generator": [0, 1], "shared": "so", "memory_bytes": 2**29}}},
            "what each store was given differs: 2 cores (shared) against 2 cores (shared), 512 MiB",
        ),
        ({"invalid": ["errors", "audit"]}, "B: not valid: errors, audit"),
        ({"trend": DRIFTING.model_dump()}, "B: drifting by -3.1 % a round, there is no one rate"),
        ({"rounds": rounds(1000)}, "a single round has no spread"),
        ({"rounds": rounds(1000, 0)}, "a round without a single successful operation has no ratio"),
    ],
)
def test_the_unlike_is_refused_with_the_reason(changed: dict[str, Any], reason: str) -> None:
    """Principle 2: such a ratio would mislead, so there is none."""
    pair = only_pair(side(), side(**changed))
    assert pair.ratio is None
    assert any(reason in each for each in pair.refused), pair.refused


def test_nothing_proven_on_both_sides_is_not_alike() -> None:
    """Two unknown durabilities are not equal."""
    assert only_pair(side(proven=None), side(proven=None)).refused == ("durability was not proven in A and B",)


def test_a_cited_proof_is_as_good_as_one_of_the_run() -> None:
    """It was checked when it was cited; what is unlike is refused as ever."""
    b = side()
    cited = Citation(run="r1", started="", scale="full", seed=1, sha256="")
    durability = b.store.durability.model_copy(update={"cited": cited})
    b = replace(b, store=b.store.model_copy(update={"durability": durability}))
    assert only_pair(side(), b).refused == ()
    assert any("proven durability differs" in each for each in only_pair(side(proven="power_loss"), b).refused)


def test_unlike_durability_is_refused_with_the_stores_own_defect() -> None:
    """Who claims the same and does not keep it is why there is no ratio."""
    b = side()
    durability = b.store.durability.model_copy(update={"claimed": "power_loss", "proven": "process_crash"})
    issue = "known until 2027-05-31: the old log is not synced"
    case = OutcomeRecord(
        id="durability.power_loss", revision=1, stage=Stage.DURABILITY, outcome=Outcome.KNOWN_FAIL, detail=issue, seconds=1
    )
    b = replace(b, store=b.store.model_copy(update={"durability": durability, "outcomes": [case]}))
    reason = "proven durability differs: power_loss against process_crash; B: power_loss is claimed and not kept: " + issue
    assert only_pair(side(proven="power_loss"), b).refused == (reason,)
    reason = "proven durability differs: process_crash against power_loss; A: power_loss is claimed and not kept: " + issue
    assert only_pair(b, side(proven="power_loss")).refused == (reason,)


def test_a_little_less_memory_is_the_same_machine() -> None:
    """The kernel keeps a little for itself, and not the same at every boot."""
    assert only_pair(side(), side(environment={"memory_bytes": 8 * 2**30 - 2**20})).refused == ()


def test_a_gate_that_fails_refuses_nothing_by_itself() -> None:
    """Only what makes a number invalid does; a result of an older format has other gates."""
    pair = only_pair(side(), side(gates={"spread": {"ok": False, "value": 0.2, "limit": 0.1}}))
    assert pair.ratio is not None
    assert pair.refused == ()


def test_the_most_similar_are_paired_and_the_rest_is_named() -> None:
    """Equal numbers of clients find each other; what has no partner is not dropped."""
    one, other = sample_result(TARGETS[:1]), sample_result(TARGETS[:1], seed=9)
    right = other.stores[0].model_copy(update={"measurements": list(reversed(other.stores[0].measurements))[1:]})
    comparison = compare(Side(one, one.stores[0]), Side(other, right))
    assert all(pair.a.clients == pair.b.clients and pair.a.indexes == pair.b.indexes for pair in comparison.pairs)
    assert all(pair.refused == () or "not valid" in pair.refused[0] or "load generator" in pair.refused[0] for pair in comparison.pairs)
    assert [each.workload for each in comparison.only_a] == ["row-load"]
    assert comparison.only_b == ()


def test_a_result_that_does_not_say_shared_all_cores() -> None:
    """As all did before format 2.1: such a one is like one that says so."""
    shared = {"placement": {"server": [0, 1], "generator": [0, 1], "shared": "2 cores: client and server share them"}}
    assert only_pair(side(), side(environment=shared)).refused == ()
