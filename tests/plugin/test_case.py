"""What the plugin reads of a test: its marker, and nothing else."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.outcome import Stage
from storeproof.plugin.case import SuiteCase, case_of, is_case


def item(folder: str, **arguments: Any) -> Any:
    """A test in a folder of the suites, with these arguments of its marker; without any it has none."""
    marker = pytest.mark.case(**arguments).mark if arguments else None
    return SimpleNamespace(path=Path("suites", folder, "test_x.py"), nodeid="test_x", get_closest_marker={"case": marker}.get)


def test_a_case_is_its_marker_and_its_folder() -> None:
    """What is not said has a default; the folder is the stage."""
    one = item("durability", id="durability.process_crash", guarantee="process_crash")
    assert is_case(one)
    assert case_of(one) == SuiteCase(id="durability.process_crash", stage=Stage.DURABILITY, guarantee="process_crash")


def test_only_loads_are_interleaved() -> None:
    """All stores under test have their rounds of a workload together, and those of a candidate; every other case belongs to one store."""
    assert case_of(item("performance", id="performance.x/0i/1c", workload="x", clients=1)).interleaved
    assert case_of(item("performance", id="performance.roles/x", candidate="x")).interleaved
    assert not case_of(item("performance", id="performance.outage/crash", fault="crash")).interleaved


def test_a_marker_with_an_unknown_argument_is_an_error() -> None:
    """A misspelt one would else be ignored, and the case be judged as unclaimed."""
    with pytest.raises(TypeError, match="guarante"):
        case_of(item("durability", id="durability.process_crash", guarante="process_crash"))


def test_another_projects_test_is_no_case() -> None:
    """It has no such marker, and the plugin leaves it alone."""
    assert not is_case(item("durability"))
