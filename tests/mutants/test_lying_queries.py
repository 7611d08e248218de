"""Stores that answer requests wrongly: each must be caught by the case that is meant for it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from storeproof.spec import SPEC_ROOT
from tests.house.installed import lay_out, run_pytest
from tests.mutants.lying_queries import LIES

pytestmark = pytest.mark.slow

Outcomes = Mapping[str, str]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcomes]:
    """By lie: what became of each check. One run for all: a lie is a variant of the lying store.

    The specification is cut down to the capabilities that are meant to catch them: every variant is asked for all of it.
    """
    folder = tmp_path_factory.mktemp("lies")
    package = lay_out(folder / "package")
    spec = package / "storeproof" / "spec"
    for name in ("profiles", "growth"):
        shutil.rmtree(spec / name)
    wanted = {lie.check.partition("/")[0] for lie in LIES.values()}
    for path in (spec / "capabilities").glob("*.yaml"):
        group = yaml.safe_load(path.read_text())
        group["capabilities"] = [each for each in group["capabilities"] if f"{group['group']}.{each['capability']}" in wanted]
        path.write_text(yaml.safe_dump(group)) if group["capabilities"] else path.unlink()
    (folder / "lies.yaml").write_text(_store(sorted({name.partition(".")[0] for name in wanted})))
    checks = " or ".join(sorted({lie.check for lie in LIES.values()}))
    done = run_pytest(
        *("--pyargs", "storeproof.suites.correctness", "--store=./lies.yaml:all", "--no-verify-settings", "-q", "-k", checks),
        *("--seed=1", "--report-dir=report"),
        cwd=folder,
        package=package,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    stores = json.loads((folder / "report" / "result.json").read_text())["stores"]
    return {store["variant"]: {each["id"].removeprefix("capabilities."): each["outcome"] for each in store["outcomes"]} for store in stores}


def _store(groups: Sequence[str]) -> str:
    """The embedded store's file, with a variant for each lie and one for the truth."""
    written = yaml.safe_load((SPEC_ROOT / "stores" / "sqlite.yaml").read_text())
    written |= {"store": "lies", "adapter": str(Path(__file__).with_name("lying_queries.py"))}
    told = {"settings": {"journal_mode": "wal"}, "guarantee": "volatile"}
    written["variants"] = {lie: {**told, "options": {"lie": lie}} for lie in LIES} | {"truth": {**told, "default": True}}
    written["claims"] = {"models": ["product", "corpus", "single_key"], "capabilities": dict.fromkeys(groups, True)}
    return yaml.safe_dump(written)


@pytest.mark.parametrize("lie", LIES)
def test_the_lie_is_caught_by_the_case_that_is_meant_for_it(lie: str, outcomes: Mapping[str, Outcomes]) -> None:
    found = outcomes[lie]
    assert found[LIES[lie].check] == "fail", f"{lie}: {found}"
    assert "error" not in found.values(), "what a store does wrong is no error of ours"


def test_the_honest_store_raises_no_alarm(outcomes: Mapping[str, Outcomes]) -> None:
    assert set(outcomes["truth"].values()) == {"pass", "excluded"}


def test_the_score(outcomes: Mapping[str, Outcomes], capsys: pytest.CaptureFixture[str]) -> None:
    score = sum(outcomes[lie][described.check] == "fail" for lie, described in LIES.items())
    with capsys.disabled():
        print(f"\nmutants: {score} of {len(LIES)} wrong answers to requests were caught by the case that is meant for them")
    assert score == len(LIES)
