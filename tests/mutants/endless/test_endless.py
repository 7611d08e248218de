"""Stores that would hold a run for ever, under cases whose end depended on it: the run ends, and what is wrong is the store's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from tests.end_to_end.running import leaves_nothing, start
from tests.mini_edition.edition import fitting, write_edition
from tests.mutants.endless.mutant_file import mutant_file
from tests.mutants.endless.wholesale import LIES
from tests.shipped import SHIPPED

pytestmark = pytest.mark.slow

CASES: Mapping[str, Sequence[str]] = {
    "no": ["concurrency.compare-and-set", "concurrency.put-if-absent", "linearizable.compare-and-set"],
    "yes": ["concurrency.compare-and-set", "concurrency.put-if-absent", "linearizable.compare-and-set"],
    "ok": ["capabilities.updates.increment-field/006"],
    "full": ["concurrency.queue"],
    "deaf": ["capabilities.indexes.dropped-while-reading/concurrent"],
}
"""By lie."""


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suites' own cases, and the capabilities of two more."""
    return write_edition(tmp_path_factory.mktemp("edition"), ["indexes.dropped-while-reading", "updates.increment-field/006"])


def lying(folder: Path, lies: Sequence[str]) -> str:
    """The option that tries them, by what the edition has."""
    file = mutant_file(folder / "mutant.yaml", lies)
    written = yaml.safe_load(fitting(file.read_text()))
    written["claims"]["capabilities"] = {"indexes": True, "updates": True}
    file.write_text(yaml.safe_dump(written))
    return f"--store={file}:all"


def test_all_suites_can_be_run_on_them(tmp_path: Path) -> None:
    """Their file fits the edition as shipped, with what the embedded store is known to fail there."""
    targets = SHIPPED.targets([f"{mutant_file(tmp_path / 'mutant.yaml', list(LIES))}:all"])
    assert {target.variant for target in targets} == set(LIES)
    assert {variant for known in targets[0].store.known_failures.values() for variant in known.variants} == set(LIES)


def test_every_loop_has_an_end(tmp_path: Path, edition: Path) -> None:
    """Each fails where its lie is told, and nothing is an error of ours."""
    cases = {f"mutant:{lie}": chosen for lie, chosen in CASES.items()}
    done = start(tmp_path, lying(tmp_path, list(CASES)), "--no-verify-settings", "-q", cases=cases, edition=edition)
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    leaves_nothing(tmp_path)
    for store in done.result["stores"]:
        lie = store["variant"]
        found = {each["id"]: each["outcome"] for each in store["outcomes"] if each["outcome"] != "excluded"}
        assert found == dict.fromkeys(CASES[lie], "fail"), f"{lie}: {done.said}"


def test_a_case_and_a_stage_have_their_time(tmp_path: Path, edition: Path) -> None:
    """A store that answers each request a second late: the case ends, and is not repeated; then the stage, whose cases send nothing."""
    chosen = ["stateful.single_key", "stateful.counter", "stateful.row"]
    plugins = ("-p", "tests.mutants.endless.short_limits")
    running = start(
        tmp_path, lying(tmp_path, ["late"]), "--no-verify-settings", "-q", *plugins, cases={"mutant:late": chosen}, edition=edition
    )
    assert running.code == pytest.ExitCode.OK, running.said
    leaves_nothing(tmp_path)
    first, second, third = (each for each in running.outcomes.values() if each["outcome"] != "excluded")
    assert [each["outcome"] for each in (first, second, third)] == ["inconclusive"] * 3
    assert first["detail"].startswith("the case has taken 2 s, the most of one of correctness at this scale; next would have been ")
    assert first["spoiled"] == 0
    assert third["detail"] == "the correctness stage of this store has taken 3 s, the most at this scale; next would have been this case"
