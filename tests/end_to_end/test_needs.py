"""A run for a needs file has the roles of each candidate under load at the same time, and ends with the answer."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from storeproof.cli.decide import decide_by
from storeproof.spec.edition import VERSION
from storeproof.spec.questions.needs import requests_case
from storeproof.spec.questions.read_needs import read_needs
from tests.end_to_end.running import Run, leaves_nothing, run
from tests.shipped import SHIPPED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.servers,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]

CACHE, HOME = "redis:volatile", "sqlite:off"
NEEDS = f"""\
format: "1.0"
decision: one-or-two
question: One store or two?
roles:
  sessions:
    model: single_key
    records: 50
    load: {{workload: single-get, rate: 100, clients: 2}}
  orders:
    model: single_key
    load: {{mix: [{{operation: put}}], rate: 50, clients: 2}}
candidates:
  two: {{sessions: {CACHE}, orders: {HOME}}}
  one: {{sessions: {HOME}, orders: {HOME}}}
"""
PROOF = ["stateful.single_key"]
CASES = {
    CACHE: [*PROOF, "performance.roles/two"],
    HOME: [*PROOF, "performance.roles/two", "performance.roles/one"],
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Both candidates."""
    folder = tmp_path_factory.mktemp("needs") / "run"
    folder.mkdir()
    (folder / "needs.yaml").write_text(NEEDS)
    return run(folder, "--needs=needs.yaml", "--launch=process", cases=CASES)


def _joint(done: Run) -> dict[str, dict[str, dict[str, Any]]]:
    """By store and candidate, the numbers of its roles."""
    stores = {f"{each['store']}:{each['variant']}": each for each in done.result["stores"]}
    return {name: {each["candidate"]: each["numbers"] for each in store["joint"]} for name, store in stores.items()}


def test_each_store_has_the_numbers_of_its_roles(done: Run) -> None:
    """Of every candidate that it is part of, and no others."""
    failed = [each for store in done.result["stores"] for each in store["outcomes"] if each["outcome"] not in ("pass", "excluded")]
    assert failed == [], done.said
    found = _joint(done)
    assert {store: {name: set(numbers) for name, numbers in its.items()} for store, its in found.items()} == {
        CACHE: {"two": {"sessions"}},
        HOME: {"two": {"orders"}, "one": {"sessions", "orders"}},
    }
    numbers = [number for its in found.values() for roles in its.values() for number in roles.values()]
    assert all(number["verified"] and number["load_model"] == "open" for number in numbers)
    assert [store["measurements"] for store in done.result["stores"]] == [[], []]
    leaves_nothing(done.folder)


def test_it_ends_with_the_answer(done: Run) -> None:
    """And the same result answers the same needs later."""
    assert "One store or two?" in done.said
    assert "2 candidates, 4 needs, 1 run" in done.said
    assert "--needs=needs.yaml --scale=standard --launch=process" in done.said
    met = re.search("^.* meets? every need[.]$", done.said, flags=re.MULTILINE)  # on a busy machine neither may be
    assert done.code == (pytest.ExitCode.OK if met else pytest.ExitCode.TESTS_FAILED)
    output = done.folder / "decision.json"
    decide_by(done.folder / "needs.yaml", [done.folder / "report"], output, VERSION)
    by_name = {each["name"]: each for each in json.loads(output.read_text())["candidates"]}
    output.unlink()
    assert by_name.keys() == {"one", "two"}
    for name, candidate in by_name.items():
        rates = [each for each in candidate["needs"] if "/rate/" in each["need"]]
        assert [each["evidence"][0]["what"] for each in rates] == [
            f"performance.roles/{name}/sessions",
            f"performance.roles/{name}/orders",
        ]


OWN = f"""\
format: "1.1"
decision: d
question: Which?
models:
  order: {{record: {{kind: document, shape: {{object: {{customer: {{text: 24}}, total: {{real: 64}}}}}}}}, indexes: [[customer]]}}
roles:
  orders:
    model: order
    records: 60
    load:
      mix:
        - {{operation: get}}
        - {{operation: find, request: {{filter: [total, gt, 1], sort: [[customer, asc]], skip: 5, limit: 10}}}}
        - {{operation: aggregate, request: {{compute: {{n: [count], sum: [sum, total]}}}}}}
      indexes: 1
      rate: 50
      clients: 2
  none:
    model: order
    load: {{mix: [{{operation: find, request: {{filter: [customer, eq, absent]}}}}], rate: 50, clients: 2}}
candidates:
  one: {{orders: {HOME}, none: {HOME}}}
"""


def test_a_model_of_ones_own_is_filled_asked_and_measured(tmp_path: Path) -> None:
    """With its requests, which were answered right before; one that finds nothing is not measured, and the case says why."""
    (tmp_path / "needs.yaml").write_text(OWN)
    asked = read_needs(tmp_path / "needs.yaml", SHIPPED)
    orders, none = (requests_case(name, asked.roles[name]) for name in ("orders", "none"))
    assert orders is not None
    assert none is not None
    cases = [f"stateful.{asked.roles['orders'].model}", orders, none, "performance.roles/one"]
    tried = run(tmp_path, "--needs=needs.yaml", cases={HOME: cases})
    found = {name: each["outcome"] for name, each in tried.outcomes.items() if name in cases}
    assert found == dict(zip(cases, ("pass", "pass", "not_run", "not_run"), strict=True)), tried.said
    assert "0 of 84 records match find: what is measured must find something" in tried.outcomes[none]["detail"]
    kept = OWN[: OWN.index("  none:\n")] + f"candidates:\n  one: {{orders: {HOME}}}\n"
    (tmp_path / "needs.yaml").write_text(kept)
    measured = run(tmp_path, "--needs=needs.yaml", cases={HOME: [*cases[:2], cases[3]]})
    (store,) = measured.result["stores"]
    assert [(each["model"], sorted(each["mix"].values())) for each in store["joint"][0]["roles"]] == [
        (asked.roles["orders"].model, [1, 1, 1])
    ]
    number = store["joint"][0]["numbers"]["orders"]
    assert (number["engine"], number["loaded"], number["misses"], number["errors"], number["verified"]) == ("driver", 60, 0, 0, True)


def test_needs_that_no_candidate_meets_fail_the_run(tmp_path: Path) -> None:
    """Though every case passed."""
    role, candidate = "  orders: {model: single_key, guarantee: process_crash}", f"  a: {{orders: {CACHE}}}"
    lines = ('format: "1.0"', "decision: d", "question: Which?", "roles:", role, "candidates:", candidate)
    (tmp_path / "needs.yaml").write_text("\n".join(lines))
    failed = run(tmp_path, "--needs=needs.yaml", "--launch=process", cases={CACHE: ["stateful.single_key"]})
    assert failed.counted.keys() == {"pass", "excluded"}
    assert failed.code == pytest.ExitCode.TESTS_FAILED, failed.said
    assert "No candidate meets every need. Nearest: a, without durability through kill -9 (orders)." in failed.said


def test_a_missing_file_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    """With one message."""
    missing = run(tmp_path, "--needs=none.yaml")
    assert missing.code == pytest.ExitCode.USAGE_ERROR, missing.said
    assert "none.yaml" in missing.said
    assert "Traceback" not in missing.said
    leaves_nothing(tmp_path)
