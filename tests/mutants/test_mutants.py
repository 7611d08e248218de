"""Stores that lie: every one must be caught, by the check that is meant for it.

Each module beside this file is an adapter over the embedded store that breaks one promise. The trial runs on it as
on any vendor's store, from a store file of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from storeproof.spec import SPEC_ROOT

_HERE = Path(__file__).parent
_SUITES = Path(__file__).parents[2] / "suites"


@dataclass(frozen=True)
class Mutant:
    """A lie, the stage that it is told in, and the check that must see through it."""

    name: str
    check: str
    stage: str = "correctness"
    claims: tuple[str, ...] = ()
    finding: str = ""
    """A counter of the durability record that must not be zero."""


MUTANTS = (
    Mutant("lost_put", "stateful.single_key"),
    Mutant("stale_get", "capabilities.key_access.put-get/002"),
    Mutant("torn_hash", "concurrency.whole/hash10"),
    Mutant("racing_increment", "concurrency.increment"),
    Mutant("resurrected_delete", "durability.process_crash", stage="durability", finding="resurrected"),
    Mutant("unordered_multi_get", "capabilities.key_access.multi-get/001"),
    Mutant("ignored_expiry", "capabilities.expiry.put-expiring/001", claims=("expiry.put-expiring",)),
    Mutant("truncation_at_nul", "capabilities.key_access.put-get/004"),
    Mutant("normalised_keys", "capabilities.key_access.put-get/008"),
    Mutant("exists_always", "capabilities.key_access.exists/001"),
)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_lie_is_caught_by_the_check_that_is_meant_for_it(mutant: Mutant, tmp_path: Path) -> None:
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(_SUITES / mutant.stage), f"--store={_store_file(mutant, tmp_path)}"),
            *(f"--report-dir={tmp_path / 'report'}", "--seed=1", "--no-verify-settings", "-q", "-p", "no:cacheprovider"),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tmp_path,
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    result = json.loads((tmp_path / "report" / "result.json").read_text())["stores"][0]
    failed = [outcome["id"] for outcome in result["outcomes"] if outcome["outcome"] == "fail"]
    errors = [outcome for outcome in result["outcomes"] if outcome["outcome"] == "error"]
    assert mutant.check in failed, f"{mutant.name} was not caught by {mutant.check}; failed: {failed}"
    assert not errors
    if mutant.finding:
        record = next(each for each in result["durability"]["guarantees"] if each["guarantee"] == mutant.check.split(".")[1])
        assert record[mutant.finding] > 0


def _store_file(mutant: Mutant, folder: Path) -> Path:
    """The embedded store's own file, with the liar as its adapter."""
    text = (SPEC_ROOT / "stores" / "sqlite.yaml").read_text()
    text = text.replace("store: sqlite\n", f"store: {mutant.name.replace('_', '-')}\n").replace(
        "adapter: sqlite\n", f"adapter: {_HERE / (mutant.name + '.py')}\n"
    )
    for capability in mutant.claims:
        text = text.replace(f"{capability}: false", f"{capability}: true")
    path = folder / f"{mutant.name}.yaml"
    path.write_text(text)
    return path
