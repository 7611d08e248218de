"""A number's gates in words: what fails, what was not measured, and how noisy the machine is."""

from __future__ import annotations

from storeproof.load.quality.gates import judge
from storeproof.report import gates, tables
from storeproof.report.html import render_html
from storeproof.report.markdown import render_markdown
from storeproof.result.measurement import Measurement
from storeproof.result.model import NoiseFloor
from storeproof.result.part import Gate
from tests.load.test_gates import CLOSE, STEADY, _open_round, _round
from tests.report.sample import TARGETS, sample_environment, sample_result
from tests.result.records import measured


def _validity(measurement: Measurement) -> tables.Cell:
    """The last cell of its line."""
    store = sample_result(TARGETS[:1]).stores[0]
    return tables.speed([(store, measurement)]).rows[0][-1]


def test_every_gate_has_its_words() -> None:
    """What a report shows, it explains."""
    for rounds in ([_round()], [_open_round()]):
        assert judge(rounds, STEADY, CLOSE, ceiling=1e6).keys() <= gates.MEANINGS.keys()
    result = sample_result(TARGETS[:1])
    assert "share of the rate that the load generator itself reaches" in render_html(result)
    assert "share of the rate that the load generator itself reaches" in render_markdown(result)


def test_a_failing_ceiling_is_shown_with_its_value() -> None:
    """And the limit."""
    failing = measured().model_copy(update={"gates": {"client_ceiling": Gate(ok=False, value=0.91, limit=0.8)}})
    assert _validity(failing).text == "✘ client_ceiling 0.91 (limit 0.8)"


def test_a_ceiling_that_was_not_measured_is_no_pass() -> None:
    """It is named beside the ✔, and the hint says why."""
    cell = _validity(measured().model_copy(update={"ceiling_reason": "the store's client makes the requests"}))
    assert cell.text == "✔; client_ceiling not measured"
    assert "client_ceiling: not measured: the store's client makes the requests" in cell.hint
    assert _validity(measured()).text == "✔"


def test_the_noise_of_the_machine_stands_with_its_limits() -> None:
    """Or that it was not measured."""
    result = sample_result(TARGETS[:1])
    noise = sample_environment(noise=NoiseFloor(ratio=0.9951, low=0.971, high=1.02))
    for environment, shown in ((noise, "0.995× [0.971, 1.020]"), (sample_environment(), "not measured")):
        table = tables.machine(result.model_copy(update={"environment": environment}))
        assert shown in [row[1].text for row in table.rows if row[0].text.startswith("noise floor")]
