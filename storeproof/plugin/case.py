"""What the plugin reads of a test of the suites: the case that it is, and the store under test that it is tried on.

A test names with the marker `case` what of the specification it tries. The plugin runs it once per store under test, which it asks for as
`sut`. Nothing else of a test is looked at.
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

SUITES: Final = (Path(__file__).parents[1] / "suites").resolve()

MARKER: Final = (
    "case(id, revision=1, model='', operations=(), capability=None, guarantee=None, workload=None, clients=None, fault=None, "
    "beyond_scale=False): what of the spec a test tries; beyond_scale: only if -k or its node id names it"
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """The arguments of the marker, and the stage."""

    id: str
    stage: Stage
    """The folder that the test is in."""
    revision: int = 1
    model: str = ""
    operations: Sequence[str] = ()
    capability: str | None = None
    guarantee: str | None = None
    workload: str | None = None
    clients: int | None = None
    fault: str | None = None
    beyond_scale: bool = False
    """Whether the scale leaves it out, unless it is named."""

    @property
    def interleaved(self) -> bool:
        """Whether it is measured on all stores under test in interleaved rounds: workloads are."""
        return self.workload is not None


def is_case(item: pytest.Item) -> bool:
    """Whether a test is of the suites."""
    return item.get_closest_marker("case") is not None


def case_of(item: pytest.Item) -> Case:
    """The case that a test of the suites is. Raises `TypeError` where its marker has an argument that no case has."""
    marker = item.get_closest_marker("case")
    assert marker is not None, f"{item.nodeid} is no case"
    return Case(stage=Stage(item.path.parent.name), **marker.kwargs)


def sut_of(item: pytest.Item) -> StoreUnderTest:
    """The store under test that a case is tried on; `SuiteFixtures` gives it."""
    found: StoreUnderTest = item.callspec.params["sut"]  # type: ignore[attr-defined]
    return found
