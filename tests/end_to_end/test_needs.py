"""A run for a needs file has the roles of each candidate under load at the same time, and ends with the answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from storeproof.cli.decide import decide_by
from tests.end_to_end.running import Run, leaves_nothing, run

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
    must: [key_access.put-get]
    load: {{workload: single-get, rate: 100, clients: 2}}
  orders:
    model: single_key
    load: {{mix: [{{operation: put}}], rate: 50, clients: 2}}
candidates:
  two: {{sessions: {CACHE}, orders: {HOME}}}
  one: {{sessions: {HOME}, orders: {HOME}}}
"""
PROOF = ["stateful.single_key", "capabilities.key_access.put-get/001"]
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
    assert done.code == pytest.ExitCode.OK, done.said
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
    assert "2 candidates, 5 needs, 1 run" in done.said
    output = done.folder / "decision.json"
    decide_by(done.folder / "needs.yaml", [done.folder / "report"], output)
    by_name = {each["name"]: each for each in json.loads(output.read_text())["candidates"]}
    output.unlink()
    assert by_name.keys() == {"one", "two"}
    for candidate in by_name.values():
        rates = [each for each in candidate["needs"] if "/rate/" in each["need"]]
        assert [each["evidence"][0]["what"] for each in rates] == ["performance.roles/sessions", "performance.roles/orders"]


def test_a_missing_file_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    """With one message."""
    missing = run(tmp_path, "--needs=none.yaml")
    assert missing.code == pytest.ExitCode.USAGE_ERROR, missing.said
    assert "none.yaml" in missing.said
    assert "Traceback" not in missing.said
    leaves_nothing(tmp_path)
