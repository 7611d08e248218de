"""The index of the published results says of them what they say themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storeproof.outcome import Outcome
from storeproof.report.decision.record import decision_data, render_record
from storeproof.result.json_file import COMPRESSED, compressed, content_of, write_result
from storeproof.result.model import Result, RunInfo
from storeproof.result.needs import published
from storeproof.result.needs.decision import Decision, decide
from storeproof.result.needs.published import INDEX, REPORTS, index_of, published_evidence, published_results, read_agreeing, write_index
from storeproof.spec.questions.read_needs import read_needs
from tests.architecture.installed import CHECKOUT
from tests.cli.test_decide import whole
from tests.result.claimed import result
from tests.result.needs.levels import MIXES, level_case, seen
from tests.result.needs.needed import SHAPE, known
from tests.shipped import SHIPPED


@pytest.mark.slow
def test_the_index_is_that_of_the_published_results() -> None:
    """It is made again from all of them."""
    assert content_of(REPORTS / INDEX).decode() == index_of(REPORTS), "write it again: storeproof publish reports/"


@pytest.mark.slow
def test_what_is_decided_by_the_index_is_decided_by_the_results() -> None:
    """For each example, to the last word of the evidence."""
    whole, indexed = [read_agreeing(file) for file in published_results()], published_evidence()
    for file in sorted((CHECKOUT / "examples").glob("*.yaml")):
        needs = read_needs(file, SHIPPED)
        one, other = decide(needs, whole, SHIPPED), decide(needs, indexed, SHIPPED)
        pairs = zip(*(_lines(each) for each in (one, other)), strict=True)
        assert next(((said, says) for said, says in pairs if said != says), None) is None, (
            file.name
        )  # pytest's own comparison of all takes 20 GB


def test_of_an_anomaly_only_what_it_is_decides(tmp_path: Path) -> None:
    """And how soon it was seen; not who read what."""
    anomaly = seen("lost-update")
    case = level_case("serializable", MIXES[0], Outcome.FAIL, anomaly)
    write_result(result(whole(known("redis:aof-always", cases=[SHAPE, case]))), tmp_path / "one" / "result.json")
    _, _, indexed = index_of(tmp_path).split(" ", 2)
    (kept,) = Result.model_validate_json(indexed).stores[0].outcomes[1:]
    assert kept.isolation is not None
    assert kept.isolation.anomalies == [anomaly.model_copy(update={"transactions": [], "steps": [], "story": []})]


def test_a_result_that_changed_since_is_read_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so are all where the index is damaged or not there."""
    monkeypatch.setattr(published, "REPORTS", tmp_path)
    made = [result(whole(known("redis:aof-always", cases=[SHAPE]))).model_copy(update={"run": run}) for run in _runs("r1", "r2")]
    file = tmp_path / "one" / COMPRESSED
    file.parent.mkdir()
    file.write_bytes(compressed(made[0].model_dump_json().encode()))
    assert published_evidence()[0].result == made[0]
    write_index(tmp_path)
    monkeypatch.setattr(published, "read_agreeing", lambda file: pytest.fail(f"{file} was read"))
    assert published_evidence()[0].result.run.id == "r1"
    monkeypatch.undo()
    monkeypatch.setattr(published, "REPORTS", tmp_path)
    file.write_bytes(compressed(made[1].model_dump_json().encode()))
    assert published_evidence()[0].result == made[1]
    (tmp_path / INDEX).write_bytes(b"damaged")
    assert published_evidence()[0].result == made[1]


def _lines(decision: Decision) -> list[str]:
    return [*json.dumps(decision_data(decision), indent=1, default=str).splitlines(), *render_record(decision).splitlines()]


def _runs(*names: str) -> list[RunInfo]:
    run = result(known("redis:aof-always")).run
    return [run.model_copy(update={"id": name}) for name in names]
