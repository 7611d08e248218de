"""Stores that a crash leaves with the record of one write and the expiry of another, and their honest twin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from tests.disk.conftest import memory_disks  # noqa: F401 - a fixture
from tests.mutants.crash_states.tried_states import MODELS, Outcomes, all_tried, under_each_model

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("memory_disks")]

_HONEST: Final = "expiring"
_LIES: Final = ("end-later", "end-first")
_FOUND: Final = "#expiry'] lost: found absent"
"""What each must be caught by."""
_REQUESTS: Final = 8
_CLAIMED: Final = ("key_access.put-get", "key_access.delete", "expiry.put-expiring", "expiry.read")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcomes]:
    """By model and lie, what became of the case."""
    folder, claimed = tmp_path_factory.mktemp("logs"), dict.fromkeys(_CLAIMED, True)
    return under_each_model(folder, "expiring_log.py", (_HONEST, *_LIES), _REQUESTS, capabilities=claimed)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("lie", _LIES)
def test_the_lie_is_caught(lie: str, model: str, found: Mapping[str, Outcomes]) -> None:
    """By the expiry of a record, which is not that of its write."""
    outcome = found[model][lie]
    assert outcome["outcome"] == "fail", outcome["detail"]
    assert any(_FOUND in each["finding"] for each in outcome["crash_states"]["failed"]), outcome["detail"]


@pytest.mark.parametrize("model", MODELS)
def test_the_honest_one_passes(model: str, found: Mapping[str, Outcomes]) -> None:
    """In all states, whatever the model."""
    outcome = found[model][_HONEST]
    assert outcome["outcome"] == "pass", outcome["detail"]
    assert all_tried(outcome)
