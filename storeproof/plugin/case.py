"""What the plugin reads from a test of the suites: its case, and the store under test.

The marker `case` of a test says which part of the specification it tests. The plugin runs the test once per store under test, as the
fixture `sut`. It uses nothing else of the test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from storeproof.outcome import Stage

if TYPE_CHECKING:
    from storeproof.store_under_test import StoreUnderTest

PACKAGE: Final = "storeproof.suites"
"""The package of the suites, for pytest's `--pyargs`."""
SUITES: Final = (Path(__file__).parents[1] / "suites").resolve()

MARKER: Final = (
    "case(id, revision=1, model='', operations=(), capability=None, guarantee=None, workload=None, clients=None, fault=None, "
    "candidate=None, beyond_scale=False): the part of the spec that a test covers; beyond_scale: runs only if -k or its node id names it"
)


@dataclass(frozen=True, kw_only=True)
class SuiteCase:
    """The arguments of the marker, and the stage."""

    id: str
    stage: Stage
    """From the folder that the test is in."""
    revision: int = 1
    model: str = ""
    operations: Sequence[str] = ()
    capability: str | None = None
    guarantee: str | None = None
    workload: str | None = None
    clients: int | None = None
    fault: str | None = None
    candidate: str | None = None
    """Whose roles are under load at the same time."""
    beyond_scale: bool = False
    """Whether the case is left out at this scale unless the command line names it."""

    @property
    def interleaved(self) -> bool:
        """Whether the case is measured on several stores under test before the next one, as workloads and the roles of a candidate are."""
        return self.workload is not None or self.candidate is not None


def is_case(item: pytest.Item) -> bool:
    """Whether a test belongs to the suites."""
    return item.get_closest_marker("case") is not None


def case_of(item: pytest.Item) -> SuiteCase:
    """The case of a test. Raises `TypeError` if its marker has an unknown argument."""
    marker = item.get_closest_marker("case")
    assert marker is not None, f"{item.nodeid} is not a case"
    return SuiteCase(stage=Stage(item.path.parent.name), **marker.kwargs)


def sut_of(item: pytest.Item) -> StoreUnderTest:
    """The store under test of a case, from `SuiteFixtures`."""
    found: StoreUnderTest = item.callspec.params["sut"]  # type: ignore[attr-defined]
    return found
