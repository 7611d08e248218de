"""Runs the suites on stores that lie, each of which is a variant of one lying store, and tells what became of each check."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from tests.mini_edition.edition import embedded_store, write_edition
from tests.mini_edition.inner_run import CHECKOUT, run_to_the_end, told

Outcomes = Mapping[str, str]


def outcomes_of(checks: Mapping[str, str], adapter: Path, folder: Path) -> Mapping[str, Outcomes]:
    """By lie: what became of the check that is meant for it, and for the truth of all checks. One run for all.

    Args:
        checks: by lie, the case that must see through it.
        adapter: a module whose option `lie` says which lie it tells; none is the truth.
        folder: where the run keeps its files.
    """
    # What is measured over a capability needs all its cases; another check is one case of it.
    wanted = {check if check.partition("/")[2].isdigit() else check.partition("/")[0] for check in checks.values()}
    edition = write_edition(folder / "edition", wanted)
    (folder / "lies.yaml").write_text(_store(list(checks), adapter, sorted({name.partition(".")[0] for name in wanted})))
    cases = {f"lies:{lie}": [f"capabilities.{check}"] for lie, check in checks.items()}
    cases["lies:truth"] = sorted({f"capabilities.{check}" for check in checks.values()})
    plugins, environment = told(edition, pages=False, cases=cases)
    chosen = [str(CHECKOUT / "suites" / "correctness"), "--store=./lies.yaml:all", "--no-verify-settings", "-q"]
    code, said = run_to_the_end([*chosen, "--seed=1", "--report-dir=report", *plugins], folder, environment)
    assert code == pytest.ExitCode.TESTS_FAILED, said
    stores = json.loads((folder / "report" / "result.json").read_text())["stores"]
    return {store["variant"]: {each["id"].removeprefix("capabilities."): each["outcome"] for each in store["outcomes"]} for store in stores}


def _store(lies: Sequence[str], adapter: Path, groups: Sequence[str]) -> str:
    """The embedded store's file, with a variant for each lie and one for the truth."""
    written = yaml.safe_load(embedded_store())
    written |= {"store": "lies", "adapter": str(adapter)}
    told = {"settings": {"journal_mode": "wal"}, "guarantee": "volatile"}
    written["variants"] = {lie: {**told, "options": {"lie": lie}} for lie in lies} | {"truth": {**told, "default": True}}
    written["claims"] = {
        "models": ["product", "corpus", "place", "ledger", "single_key", "hash10", "document10", "nested", "row"],
        "capabilities": dict.fromkeys(groups, True),
    }
    return yaml.safe_dump(written)
