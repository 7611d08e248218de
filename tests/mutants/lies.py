"""Runs the suites on stores that lie, each of which is a variant of one lying store, and tells what became of each check."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from storeproof.spec import SPEC_ROOT
from tests.architecture.installed import lay_out, run_pytest

Outcomes = Mapping[str, str]


def outcomes_of(checks: Mapping[str, str], adapter: Path, folder: Path) -> Mapping[str, Outcomes]:
    """By lie: what became of each check. One run for all.

    The specification is cut down to the capabilities that are meant to catch them: every variant is asked for all of it.

    Args:
        checks: by lie, the case that must see through it.
        adapter: a module whose option `lie` says which lie it tells; none is the truth.
    """
    package = lay_out(folder / "package")
    spec = package / "storeproof" / "spec" / "data"
    for name in ("profiles", "scaling"):
        shutil.rmtree(spec / name)
    wanted = {check.partition("/")[0] for check in checks.values()}
    for path in (spec / "capabilities").glob("*.yaml"):
        group = yaml.safe_load(path.read_text())
        group["capabilities"] = [each for each in group["capabilities"] if f"{group['group']}.{each['capability']}" in wanted]
        path.write_text(yaml.safe_dump(group)) if group["capabilities"] else path.unlink()
    (folder / "lies.yaml").write_text(_store(list(checks), adapter, sorted({name.partition(".")[0] for name in wanted})))
    done = run_pytest(
        *("--pyargs", "storeproof.suites.correctness", "--store=./lies.yaml:all", "--no-verify-settings", "-q"),
        *("-k", " or ".join(sorted(set(checks.values()))), "--seed=1", "--report-dir=report"),
        cwd=folder,
        package=package,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    stores = json.loads((folder / "report" / "result.json").read_text())["stores"]
    return {store["variant"]: {each["id"].removeprefix("capabilities."): each["outcome"] for each in store["outcomes"]} for store in stores}


def _store(lies: Sequence[str], adapter: Path, groups: Sequence[str]) -> str:
    """The embedded store's file, with a variant for each lie and one for the truth."""
    written = yaml.safe_load((SPEC_ROOT / "stores" / "sqlite.yaml").read_text())
    written |= {"store": "lies", "adapter": str(adapter)}
    told = {"settings": {"journal_mode": "wal"}, "guarantee": "volatile"}
    written["variants"] = {lie: {**told, "options": {"lie": lie}} for lie in lies} | {"truth": {**told, "default": True}}
    written["claims"] = {"models": ["product", "corpus", "place", "ledger", "single_key"], "capabilities": dict.fromkeys(groups, True)}
    return yaml.safe_dump(written)
