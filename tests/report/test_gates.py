"""A number's gates in words: what fails, what was not measured, and how noisy the machine is."""

from __future__ import annotations

import pytest

from storeproof.load.quality.gates import BOTTLENECK, VALIDITY, judge_rounds
from storeproof.report import gates, tables
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.report.speed.table import mark, speed
from storeproof.result.machine import NoiseFloor
from storeproof.result.part import Gate
from tests.load.test_gates import _open_round, _round
from tests.report.sample import TARGETS, sample_environment, sample_result
from tests.result.records import measured

LATE = Gate(ok=False, value=0.31, limit=0.1)


@pytest.mark.usefixtures("undrawn")
def test_every_gate_has_its_words() -> None:
    """What a report shows, it explains."""
    for rounds in ([_round()], [_open_round()]):
        assert judge_rounds(rounds, ceiling=1e6).keys() <= gates.MEANINGS.keys()
    assert gates.MEANINGS.keys() == VALIDITY | BOTTLENECK
    result = sample_result(TARGETS[:1])
    assert "share of the rate that the load generator itself reaches" in render_html(result)
    assert "share of the rate that the load generator itself reaches" in render_markdown(result)


def test_what_broke_is_in_the_table_with_its_value() -> None:
    """And the limit: ✘ beside the number, the reason in the last column."""
    broken = measured().model_copy(update={"gates": {"schedule_lag": LATE}, "invalid": ["schedule_lag"]})
    (row,) = speed([(sample_result(TARGETS[:1]).stores[0], broken)]).rows
    assert (row[6].text, row[6].tone) == ("✘ schedule_lag", "bad")
    assert row[-1].text == "✘ schedule_lag 0.31 (limit 0.1)"


def test_a_gate_of_an_older_result_that_counts_no_longer_is_not_shown() -> None:
    """Formats before 2.1 had `spread` and `steady_state`; their numbers have grades now."""
    old = measured().model_copy(update={"gates": {"spread": LATE, "client_cpu": Gate(ok=True, value=0.5, limit=0.9)}})
    assert mark(old).text == old.grade
    assert mark(old).hint == "data verified after the rounds; client_cpu: 0.5 (limit 0.9, ok)"


def test_a_ceiling_that_was_not_measured_is_no_pass() -> None:
    """It is named in the last column, and the hint says why."""
    unknown = measured().model_copy(update={"ceiling_reason": "the store's client makes the requests"})
    (row,) = speed([(sample_result(TARGETS[:1]).stores[0], unknown)]).rows
    assert row[-1].text == "client_ceiling not measured"
    assert "client_ceiling: not measured: the store's client makes the requests" in row[6].hint


def test_the_noise_of_the_machine_stands_with_its_limits() -> None:
    """Or that it was not measured."""
    result = sample_result(TARGETS[:1])
    noise = sample_environment(noise=NoiseFloor(ratio=0.9951, low=0.971, high=1.02))
    for environment, shown in ((noise, "0.995× [0.971, 1.020]"), (sample_environment(), "not measured")):
        table = tables.machine(result.model_copy(update={"environment": environment}))
        assert shown in [row[1].text for row in table.rows if row[0].text.startswith("noise of the machine")]
