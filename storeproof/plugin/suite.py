"""The part of the run that the suites use, and the fixtures of their tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from storeproof.plugin.case import SUITES, case_of, is_case
from storeproof.plugin.stash import CASE_RESULT, RUN
from storeproof.run_command import in_package

if TYPE_CHECKING:
    from storeproof.experiments.roles.joint_loads import CandidateUnderTest
    from storeproof.result.running_case import CaseResult
    from storeproof.spec import Spec
    from storeproof.stats.ratio import Ratio
    from storeproof.store_under_test import Options, StoreUnderTest


class Shown(Protocol):
    """What is shown of a run while it goes on."""

    def __call__(self, text: str) -> None:
        """Show what is being done."""

    def measured(self, cases: float) -> None:
        """In the case that runs, the work of a number of cases of its kind was done, of its own too; in one of two laps half of it."""


class SuiteRun(Protocol):
    """The run, as the suites see it."""

    spec: Spec
    options: Options
    noise: Ratio | None
    """The machine's noise floor; set by the suite that measures it."""

    @property
    def candidates(self) -> Sequence[CandidateUnderTest]:
        """Candidates of a needs file whose roles have a load."""

    @property
    def progress(self) -> Shown:
        """Shows the current step."""

    def waiting(self, case: str) -> list[StoreUnderTest]:
        """The stores under test on which the case with that id has yet to run."""


def suite_run(config: pytest.Config) -> SuiteRun:
    """The run; it exists before the suites are collected."""
    return config.stash[RUN]


class SuiteFixtures:
    """Registered when the suites run: each of their tests runs once per store under test."""

    def __init__(self, suts: Sequence[StoreUnderTest]) -> None:
        self._suts = suts

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """`sut`, but where a suite gives it those that the candidates of a needs file consist of."""
        if SUITES in metafunc.definition.path.resolve().parents and "candidate" not in metafunc.fixturenames:
            metafunc.parametrize("sut", self._suts, ids=[sut.target.id for sut in self._suts], scope="session")

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Installed suites are in no folder below the one where pytest is run, and pytest shortens the ids of their tests to paths that
        name no file: they begin with the name of the module, as `--pyargs` takes it."""
        path, root = module_path.resolve(), parent.config.rootpath
        if SUITES not in path.parents or module_path.is_relative_to(root):
            return None
        return pytest.Module.from_parent(parent, path=module_path, nodeid=in_package(str(path.relative_to(SUITES))))

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Let `-k` take what is printed of a case: its id, with a `/` at its end to leave out longer ones, and the id of its test."""
        if is_case(item):
            item.extra_keyword_matches |= {f"{case_of(item).id}/", item.nodeid}

    @pytest.fixture
    def case_result(self, request: pytest.FixtureRequest) -> CaseResult:
        """The outcome of the running case, recorded however the case ends."""
        running: CaseResult = request.node.stash[CASE_RESULT]
        return running
