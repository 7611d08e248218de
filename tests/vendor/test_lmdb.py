"""A store over LMDB, written as CONTRIBUTING says: two short files, and all that a server has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.architecture.installed import CHECKOUT, outcomes_of, run_pytest
from tests.mini_edition.edition import all_cases
from tests.mini_edition.inner_run import told

FILES = Path(__file__).with_name("lmdb")
MOST_LINES = 120


def test_a_store_over_an_embedded_library_is_two_short_files() -> None:
    """A vendor's store is two files of at most `MOST_LINES` lines together."""
    assert {path.name for path in FILES.iterdir() if path.is_file()} == {"lmdb.yaml", "lmdb_store.py"}
    assert sum(len(path.read_text().splitlines()) for path in FILES.iterdir() if path.is_file()) <= MOST_LINES


def run(tmp_path: Path, wanted: str) -> dict[str, str]:
    """What becomes of these cases."""
    pytest.importorskip("lmdb", reason="pip install lmdb")
    options = (f"--store={FILES / 'lmdb.yaml'}", "--scale=smoke", "--report-dir=report", "--seed=1")
    plugins, environment = told(all_cases(), pages=False)
    done = run_pytest(str(CHECKOUT / "suites"), *plugins, *options, "-k", wanted, cwd=tmp_path, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: each["outcome"] for name, each in outcomes_of(tmp_path / "report").items()}


def test_it_is_right_and_has_the_wire_engine(tmp_path: Path) -> None:
    """The vendor's store passes, is unsupported where it should be, and is measured by the wire engine."""
    outcomes = run(tmp_path, "settings or ordered-scan or multi-get or put-get or single-get-0i")
    passed = {name for name, outcome in outcomes.items() if outcome == "pass"}
    assert {"settings.readback", "capabilities.key_access.ordered-scan-backwards/001"} <= passed
    assert outcomes["capabilities.key_access.multi-get/001"] == "unsupported"
    (store,) = json.loads((tmp_path / "report" / "result.json").read_text())["stores"]
    assert store["settings"] == {"sync": "yes"}
    (measured,) = store["measurements"]
    assert (measured["workload"], measured["errors"], measured["misses"]) == ("single-get", 0, 0)
    assert measured["engine"] == "wire"  # not by its client, which would need no framing


@pytest.mark.slow
def test_it_survives_what_it_promises(tmp_path: Path) -> None:
    """The vendor's store passes the faults that it promises to survive."""
    outcomes = run(tmp_path, "guarantee and (process_crash or power_loss)")
    assert outcomes["durability.process_crash"] == "pass"
    assert outcomes["durability.power_loss"] in ("pass", "not_run")  # not everybody may cut the power of a disk
