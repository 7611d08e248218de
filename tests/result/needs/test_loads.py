"""A rate is met by the low end of its interval, a response time by an open loop alone."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.result.measurement import Measurement
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict
from storeproof.result.needs.loads import same_load
from storeproof.spec.questions.needs import Load, Machine, requests_case
from tests.result.claimed import around, given, number, result
from tests.result.needs.needed import case, decided, judgement, known, needs
from tests.shipped import SHIPPED

GET: dict[str, Any] = {"mix": [{"operation": "get"}]}


def rate(need: int, *numbers: Measurement, **load: Any) -> JudgedNeed:
    return judgement(decided(needs(load={**GET, "rate": need, **load}), known("redis:volatile", *numbers)), "rate")


def opened(offered: float, p99_us: float | None, **changed: Any) -> Measurement:
    """An open loop of gets and puts."""
    found = number("single-mixed-rates", *around(offered), load_model="open", rate=offered, **changed)
    return found.model_copy(update={"latency_us": found.latency_us.model_copy(update={"p99": p99_us})})


def p99(limit: float, need: int, *numbers: Measurement) -> JudgedNeed:
    mix = [{"operation": "get"}, {"operation": "put"}]
    role = needs(load={"mix": mix, "rate": need, "p99_ms": limit})
    return judgement(decided(role, known("redis:volatile", *numbers)), "p99")


def test_the_low_end_must_reach_the_rate() -> None:
    """A whole interval below it refutes it, and one across it decides nothing."""
    assert rate(990, number("single-get", *around(1000))).verdict is NeedVerdict.MET
    assert rate(1011, number("single-get", *around(1000))).verdict is NeedVerdict.NOT_MET
    assert rate(1000, number("single-get", *around(1000))).verdict is NeedVerdict.NOT_SHOWN
    assert rate(500, number("single-get", *around(1000))).headroom == pytest.approx(1.98)


def test_a_lower_bound_meets_and_never_refutes() -> None:
    """The store may be faster than its number."""
    limited = number("single-get", *around(1000), at_least=True)
    assert rate(1000, limited).verdict is NeedVerdict.MET
    assert rate(1001, limited).verdict is NeedVerdict.NOT_SHOWN


@pytest.mark.parametrize(
    "changed",
    [
        {"invalid": ["littles_law"]},
        {"indexes": 1},
        {"pipeline": 4},
        {"load_model": "open", "rate": 1000.0},
    ],
)
def test_a_number_of_another_thing_does_not_count(changed: dict[str, Any]) -> None:
    """Nor one that is not valid."""
    assert rate(10, number("single-get", *around(1000), **changed)).verdict is NeedVerdict.NOT_SHOWN


def test_a_rate_that_drifts_is_judged_by_all_its_rounds() -> None:
    """The slowest of them shows that it is met, and the fastest that it is not; in an open loop nothing follows."""
    drifting = {"trend": {"change": 0.02, "probability": 0.001, "drifting": True}}
    found = number("single-get", 900, 1000, 1100, **drifting)
    assert [rate(each, found).verdict for each in (900, 901, 1101)] == [NeedVerdict.MET, NeedVerdict.NOT_SHOWN, NeedVerdict.NOT_MET]
    assert "drifting, its slowest round 900" in rate(900, found).reason
    assert p99(5, 1000, opened(1000, 4000, **drifting)).verdict is NeedVerdict.NOT_SHOWN


@pytest.mark.parametrize(
    ("cores", "memory", "need", "verdict"),
    [
        (2, "4GiB", 990, NeedVerdict.MET),
        (4, "8GiB", 990, NeedVerdict.MET),
        (1, "4GiB", 990, NeedVerdict.NOT_SHOWN),
        (2, "256MiB", 990, NeedVerdict.NOT_SHOWN),
        (1, "256MiB", 1011, NeedVerdict.NOT_MET),
        (4, "4GiB", 1011, NeedVerdict.NOT_SHOWN),
    ],
)
def test_what_is_measured_counts_for_machines_like_it(cores: int, memory: str, need: int, verdict: NeedVerdict) -> None:
    """A larger machine does as well, and a smaller one no better; whatever else would be a guess."""
    file = needs(load={**GET, "rate": need}).model_copy(update={"machine": Machine.model_validate({"cores": cores, "memory": memory})})
    run = given(result(known("redis:volatile", number("single-get", *around(1000)))), [0, 1], [2], cores=4, memory=4 << 30)
    judged = judgement(decided(file, run), "rate")
    assert judged.verdict is verdict
    if verdict is NeedVerdict.NOT_SHOWN:
        assert "with 2 cores and 4 GiB; the machine has" in judged.reason
        assert judged.command


def test_more_clients_than_there_are_do_not_count() -> None:
    """Without a number of clients, any counts, and the fastest decides."""
    few, many = number("single-get", *around(1000), clients=50), number("single-get", *around(9000), clients=500)
    assert rate(2000, few, many, clients=100).verdict is NeedVerdict.NOT_MET
    assert rate(2000, few, many).verdict is NeedVerdict.MET


def test_the_slowest_records_decide_unless_some_are_named() -> None:
    """Values of 100 kB are slower than those of 32 bytes."""
    small = number("single-get-sizes", *around(9000), record="size-32")
    large = number("single-get-sizes", *around(1000), record="size-100000")
    assert rate(2000, small, large).verdict is NeedVerdict.NOT_MET
    assert rate(2000, small, large, record="size-32").verdict is NeedVerdict.MET


def test_a_mix_is_its_operations_and_their_shares() -> None:
    """To within five per cent; the order does not matter."""
    a = SHIPPED.workloads["ycsb-b"]

    def like(**weights: int) -> bool:
        load = Load.model_validate({"mix": [{"operation": name, "weight": weight} for name, weight in weights.items()], "rate": 1})
        return same_load(load, "usertable", a)

    assert like(get=95, set_field=5)
    assert like(set_field=1, get=10)
    assert not like(get=1, set_field=1)
    assert not like(get=1)
    assert not like(get=95, put=5)


SEARCH: dict[str, Any] = {"filter": [[], "any_word", "$word $word"], "fields": ["title"], "ranked": True, "limit": 10}
PAGE: dict[str, Any] = {
    "filter": ["language", "eq", "$language"],
    "sort": [["published", "desc"]],
    "fields": ["title"],
    "limit": 10,
}
BROWSE: list[dict[str, Any]] = [
    {"name": "search", "operation": "find", "weight": 34, "request": SEARCH},
    {
        "name": "facets",
        "operation": "browse",
        "weight": 10,
        "request": {
            "filter": [[], "words", "$word"],
            "facets": {"categories": {"path": "categories", "each": True, "limit": 10}, "languages": {"path": "language"}},
            "sort": [["published", "desc"]],
            "limit": 10,
        },
    },
    {"operation": "find", "weight": 8, "request": PAGE},
    {"name": "later-page", "operation": "find", "weight": 3, "request": {**PAGE, "skip": 10}},
    {
        "name": "resume",
        "operation": "find",
        "weight": 4,
        "request": {
            **PAGE,
            "filter": {"and": [["language", "eq", "$language"], ["published", "gte", "$published"]]},
            "sort": [["published", "asc"]],
        },
    },
    {"operation": "get", "weight": 30},
    {"operation": "set_path", "weight": 4},
    {"operation": "put", "weight": 4},
    {"operation": "delete", "weight": 3},
]


def _browses(place: int | None = None, **changed: Any) -> bool:
    """Whether the mix of the corpus' workload, with one of its requests or shares changed, is that workload."""
    mix = [{**each, **(changed if place == number else {})} for number, each in enumerate(BROWSE)]
    return same_load(Load.model_validate({"mix": mix, "rate": 1}), "corpus", SHIPPED.workloads["corpus-browse"])


def test_the_same_requests_in_the_same_shares_are_the_same_load() -> None:
    """However they are written, and whatever they are called."""
    assert _browses()
    assert _browses(0, name="other")
    assert _browses(0, request={"limit": 10, **SEARCH, "skip": 0, "fields": [["title"]]})
    assert _browses(5, weight=33)


@pytest.mark.parametrize(
    ("place", "changed"),
    [
        (0, {"request": SEARCH | {"limit": 20}}),
        (0, {"request": SEARCH | {"ranked": False}}),
        (0, {"request": SEARCH | {"filter": [[], "words", "$word $word"]}}),
        (0, {"request": SEARCH | {"filter": [["body"], "any_word", "$word $word"]}}),
        (0, {"request": SEARCH | {"filter": [[], "any_word", "$word"]}}),
        (0, {"request": BROWSE[2]["request"]}),
        (1, {"operation": "find", "request": SEARCH}),
        (1, {"request": {"filter": [[], "words", "$word"], "facets": {"languages": {"path": "language"}}, "limit": 10}}),
        (3, {"request": PAGE | {"skip": 20}}),
        (0, {"weight": 60}),
    ],
)
def test_another_request_is_another_load(place: int, changed: dict[str, Any]) -> None:
    """What another search, page or facet costs says nothing."""
    assert not _browses(place, **changed)


def test_what_was_measured_with_the_requests_meets_the_rate_and_with_others_does_not() -> None:
    """The number of a workload is evidence for its own requests alone."""
    measured = number("corpus-browse", *around(1000))
    for limit, verdict in ((10, NeedVerdict.MET), (11, NeedVerdict.NOT_SHOWN)):
        mix = [{**BROWSE[0], "request": SEARCH | {"limit": limit}}, *BROWSE[1:]]
        file = needs(model="corpus", load={"mix": mix, "rate": 500})
        assert judgement(decided(file, known("mongodb:journaled", measured)), "rate").verdict is verdict


COUNT: dict[str, Any] = {"mix": [{"operation": "count_where", "request": {"filter": ["price", "gt", 10]}}], "rate": 10}


def test_a_request_that_a_store_cannot_answer_refutes_the_rate() -> None:
    """Whether it refused it or answered it wrong; the same case of other needs says nothing."""
    file = needs(model="product", load=COUNT)
    name = requests_case("data", file.roles["data"])
    assert name is not None
    for outcome, verdict in (
        (Outcome.UNSUPPORTED, NeedVerdict.NOT_MET),
        (Outcome.FAIL, NeedVerdict.NOT_MET),
        (Outcome.NOT_RUN, NeedVerdict.NOT_SHOWN),
        (Outcome.PASS, NeedVerdict.NOT_SHOWN),
    ):
        tried = known("redis:volatile", cases=[case(name, outcome, detail="count_where: no")])
        assert judgement(decided(file, tried), "rate").verdict is verdict, outcome
        other = needs(model="product", load={**COUNT, "mix": [{"operation": "count_where", "request": {}}]})
        assert judgement(decided(other, tried), "rate").verdict is NeedVerdict.NOT_SHOWN


def test_only_an_open_loop_shows_a_response_time() -> None:
    """A closed loop slows down with the store."""
    assert p99(5, 1000, opened(1000, 4000)).verdict is NeedVerdict.MET
    assert p99(5, 1000, opened(1000, 6000)).verdict is NeedVerdict.NOT_MET
    assert p99(5, 1000, number("single-mixed-sizes", *around(9000))).verdict is NeedVerdict.NOT_SHOWN


def test_a_response_time_at_another_rate_counts_where_it_decides() -> None:
    """Met at a higher rate is met, missed at a lower one is missed; the others say nothing."""
    assert p99(5, 1000, opened(2000, 4000)).verdict is NeedVerdict.MET
    assert p99(5, 1000, opened(500, 6000)).verdict is NeedVerdict.NOT_MET
    assert p99(5, 1000, opened(500, 4000)).verdict is NeedVerdict.NOT_SHOWN
    assert p99(5, 1000, opened(2000, 6000)).verdict is NeedVerdict.NOT_SHOWN
    assert p99(5, 1000, opened(2000, None)).verdict is NeedVerdict.NOT_SHOWN
    assert p99(5, 1000, opened(1000, 4000), opened(4000, 4500)).headroom == pytest.approx(4)


def test_what_is_not_measured_has_a_command_or_the_reason_why_there_is_none() -> None:
    """A mix of no workload cannot be measured yet."""
    assert "test_workload and" in rate(1).command
    unknown = judgement(decided(needs(load={"mix": [{"operation": "persist"}], "rate": 1}), known("redis:volatile")), "rate")
    assert unknown.command == ""
    assert unknown.reason.startswith("no workload of this mix is specified for single_key")
