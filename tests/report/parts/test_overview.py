"""The first table of a report: roles, losses and speeds of each store, and where each cell leads."""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.outcome import Outcome
from storeproof.report.parts.overview import overview
from storeproof.report.tables import Cell
from storeproof.result.model import Result
from tests.site.made import fault, judged, rate, result, store, struck, tried


def cells(made: Result, row: int = 0) -> Mapping[str, Cell]:
    """Of one store, by heading."""
    table = overview(made)
    return dict(zip(table.header, table.rows[row], strict=True))


def test_a_row_has_roles_losses_and_speeds() -> None:
    """In words that need no legend, with the tone of each, and a link to what says more."""
    made = result(
        struck(
            "redis:volatile",
            fault("process_crash", Outcome.UNSUPPORTED, lost=460),
            claimed="volatile",
            profiles=[
                judged("cache", "conforms"),
                judged("search_store", "does_not_conform", ["capability text.word/001: fail: x", "model corpus: not claimed"]),
            ],
            measurements=[rate("single-get", 12_345)],
        )
    )
    found = cells(made)
    assert (found["cache"].text, found["cache"].tone, found["cache"].link) == ("✔ meets", "good", "")
    assert (found["search"].text, found["search"].tone, found["search"].link) == ("fails 1, lacks 1", "bad", "#role-search_store")
    assert found["search"].hint == "text.word, model corpus"
    assert (found["lost by kill -9"].text, found["lost by kill -9"].tone) == ("46 % lost, not promised", "near")
    speed = found["read a value, per second, 50 clients"]
    assert speed.text.startswith("12.3k ±1 % ")
    assert speed.link == "#workload-single-get"


def test_what_was_not_tried_has_no_column_and_no_verdict() -> None:
    """A fault that struck no store, a profile that one was not judged by, a workload that one was not measured with."""
    made = result(
        struck("redis:x", fault("process_crash"), profiles=[judged("cache", "conforms")], measurements=[rate("single-get", 100)]),
        store("mysql:y", profiles=[], outcomes=[], capabilities=[], counts={}),
    )
    found = cells(made, 1)
    assert "lost by power cut" not in found
    assert [cell.text for cell in found.values()][1:] == ["0", "–", "not asked", "not tried", "–"]


def test_a_cluster_has_its_failover_beside_what_it_lost() -> None:
    """The median and the longest; a single server has neither, and without a cluster there are no such columns."""
    made = result(struck("etcd:three", fault("partition", recovery_seconds=[2.0, 6.0, 3.0])), struck("redis:x", fault("process_crash")))
    assert cells(made)["lost by partition"].text == "0 of 1k"
    assert cells(made)["failover: partition"].text == "3 s, at most 6 s"
    assert (cells(made, 1)["lost by partition"].text, cells(made, 1)["failover: partition"].text) == ("not tried", "–")
    assert "failover: partition" not in cells(result(struck("redis:x", fault("process_crash"))))


def test_capabilities_that_were_not_tried_are_not_counted() -> None:
    """`0 of 2` would say that they are lacking."""
    key, text = "key_access.put-get", "text.word"
    made = result(
        tried("redis:x", (key, Outcome.NOT_RUN), (text, Outcome.EXCLUDED)),
        tried("redis:y", (key, Outcome.PASS), (text, Outcome.NOT_RUN)),
    )
    assert [cells(made, row)["capabilities"].text for row in (0, 1)] == ["not tried", "1 of 2"]


def test_a_run_without_the_usual_workloads_shows_those_that_it_has() -> None:
    """YCSB has none of the four; at most four have a column."""
    numbers = [rate(f"ycsb-{letter}", 100, title=f"Workload {letter}") for letter in "abcdef"]
    headings = list(cells(result(store("redis:x", *numbers))))
    assert headings[-4:] == [f"Workload {letter}, per second, 50 clients" for letter in "abcd"]
