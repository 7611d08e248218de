"""Forgeries of the numbers."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode

from storeproof.conformance.reasons import Reason
from storeproof.stats.intervals import estimate, percentile
from storeproof.stats.latency import decode, encode, mean, new_histogram
from tests.conformance.forging import Forgery, Json, with_store


def number_of(store: Json, workload: str = "single-get") -> Json:
    """The number of a workload."""
    return next(each for each in store["measurements"] if each["workload"] == workload)


def _faster(store: Json) -> None:
    number_of(store)["throughput"]["median"] *= 1.02
    number_of(store)["throughput"]["high"] *= 1.02


def _faster_rounds(store: Json) -> None:
    """With the median and the interval of these rounds."""
    found = number_of(store)
    for each in found["rounds"]:
        each["throughput"] *= 1.5
    _estimated(found)


def _estimated(found: Json) -> None:
    made = estimate([each["throughput"] for each in found["rounds"]])
    found["throughput"] |= {"median": made.median, "low": made.low, "high": made.high}


def _drop_slowest(store: Json) -> None:
    found = number_of(store)
    found["rounds"].remove(min(found["rounds"], key=lambda each: each["throughput"]))
    found["laps"] = [len(found["rounds"])]
    _estimated(found)


def _many_rounds(store: Json) -> None:
    """The trend of many rounds takes long."""
    found = number_of(store)
    found["rounds"] = [each | {"seconds": each["seconds"] / 1_000} for each in found["rounds"]] * 1_000
    found["laps"] = [len(found["rounds"])]


def _laps_of_one_round(store: Json) -> None:
    """The trend, and how alike rounds are, are those within a lap: of laps of one round there is none."""
    found = number_of(store)
    found["laps"] = [1] * len(found["rounds"])


def _histogram_bomb(store: Json) -> None:
    """Sixty megabytes in as many kilobytes; the header is a true one."""
    true = b64decode(number_of(store)["histogram"])
    begin = zlib.decompress(true[8:])
    content = zlib.compress(begin[:4] + (60 << 20).to_bytes(4, "big") + begin[8:40] + b"\0" * (60 << 20))
    number_of(store)["histogram"] = b64encode(true[:4] + len(content).to_bytes(4, "big") + content).decode()


def _narrow(store: Json) -> None:
    rate = number_of(store)["throughput"]
    rate["low"] = rate["high"] = rate["median"]


def _swap(store: Json) -> None:
    one, other = number_of(store), number_of(store, "single-put-distinct-100")
    one["histogram"], other["histogram"] = other["histogram"], one["histogram"]


def _quicker(store: Json) -> None:
    number_of(store)["latency_us"]["p50"] /= 2


def _other_grade(store: Json) -> None:
    found = number_of(store)
    found["grade"] = "B" if found["grade"] != "B" else "A"


def _pass_gate(store: Json) -> None:
    """A failed gate is called passed."""
    gate = number_of(store)["gates"]["littles_law"]
    gate |= {"value": 0.5, "ok": True}


def _wider_gate(store: Json) -> None:
    gate = number_of(store)["gates"]["littles_law"]
    gate |= {"value": 0.5, "ok": True, "limit": 1.0}


def _of_no_case(store: Json) -> None:
    number_of(store)["clients"] = 999


def _twice(store: Json) -> None:
    store["measurements"].append(number_of(store))


def _leave_out(store: Json) -> None:
    store["measurements"].remove(number_of(store))


def _ten_times_as_fast(number: Json) -> None:
    """Of rounds a tenth as long, with all that follows from them; the generator could do ten times as much."""
    for each in number["rounds"]:
        each["seconds"] /= 10
        each["throughput"] *= 10
    _estimated(number)
    if number["ceiling"] is not None:
        number["ceiling"] *= 10


def _with_latencies(number: Json, by: float, times: int = 1) -> None:
    """Another histogram, with all that follows from it: latencies times `by`, requests times `times`."""
    found, made = decode(number["histogram"]), new_histogram()
    for each in found.get_recorded_iterator():
        made.record_value(max(int(each.value_iterated_to * by), 1), each.count_at_value_iterated_to * times)
    number["histogram"] = encode(made)
    read = decode(number["histogram"])
    quantiles = {"p50": 50, "p95": 95, "p99": 99, "p999": 99.9}
    number["latency_us"] |= {name: percentile(read, at) for name, at in quantiles.items()}
    number["latency_us"] |= {
        "max": read.get_max_value() / 1000,
        "mean": mean(read) / 1000,
        "samples": read.get_total_count(),
    }


def _more_requests(number: Json) -> None:
    """Ten times as many in the same time, each as long as before."""
    for each in number["rounds"]:
        each["operations"] *= 10
        each["throughput"] *= 10
    _estimated(number)
    _with_latencies(number, 1, times=10)
    if number["ceiling"] is not None:
        number["ceiling"] *= 10


def _higher_ceiling(number: Json) -> None:
    """The generator could have done a hundred times as much."""
    assert number["ceiling"] is not None
    number["ceiling"] *= 100


def _other_model(number: Json) -> None:
    """The speed of single values is called that of documents."""
    number["model"] = "document10"


NUMBERS = (
    Forgery("faster", "the median is raised by 2 %", with_store(_faster), Reason.NUMBER, "the median is"),
    Forgery("faster rounds", "with a median that fits", with_store(_faster_rounds), Reason.NUMBER, "round 1 has"),
    Forgery("slow round dropped", "with a median that fits", with_store(_drop_slowest), Reason.NUMBER, "it has 2 rounds"),
    Forgery("interval narrowed", "to nothing", with_store(_narrow), Reason.NUMBER, "the low is"),
    Forgery("better grade", "another letter", with_store(_other_grade), Reason.NUMBER, "its grade is"),
    Forgery("gate passed", "beyond its limit", with_store(_pass_gate), Reason.NUMBER, "the gate littles_law is passed with 0.5"),
    Forgery("limit raised", "so that the gate passes", with_store(_wider_gate), Reason.NUMBER, "at a limit of 1"),
    Forgery("of no case", "with more clients than are tried", with_store(_of_no_case), Reason.NUMBER, "is of no case"),
    Forgery("number twice", "one of them better", with_store(_twice), Reason.NUMBER, "has two numbers"),
    Forgery("number left out", "of a case that passed", with_store(_leave_out), Reason.NUMBER, "is pass, and has no number"),
    Forgery("many rounds", "to exhaust the reader", with_store(_many_rounds), Reason.NUMBER, "it has 3000 rounds"),
    Forgery("a lap for each round", "so that nothing drifts", with_store(_laps_of_one_round), Reason.NUMBER, "it has a lap of 1"),
    Forgery("bomb of a histogram", "zeros in a number", with_store(_histogram_bomb), Reason.RESULT, "is not an HdrHistogram"),
    Forgery("histogram swapped", "with that of another workload", with_store(_swap), Reason.HISTOGRAM, "by its histogram"),
    Forgery("quicker", "the median latency is halved", with_store(_quicker), Reason.HISTOGRAM, "its p50 is"),
    Forgery(
        "ten times as fast",
        "in a tenth of the time",
        with_store(lambda store: _ten_times_as_fast(number_of(store))),
        Reason.NUMBER,
        "and it had room for 4 (Little's law)",
    ),
    Forgery(
        "ten times as many",
        "with the latencies of the true ones",
        with_store(lambda store: _more_requests(number_of(store))),
        Reason.NUMBER,
        "had room for 4 (Little's law)",
    ),
    Forgery(
        "higher ceiling",
        "so that the generator was not the limit",
        with_store(lambda store: _higher_ceiling(number_of(store))),
        Reason.NUMBER,
        "the gate client_ceiling has",
    ),
    Forgery(
        "another model's number",
        "of smaller records",
        with_store(lambda store: _other_model(number_of(store))),
        Reason.NUMBER,
        "its model is document10",
    ),
)
