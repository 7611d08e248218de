"""Stores that a crash can find out are caught under the models named, pass under the others, and their honest twins under all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.disk.conftest import memory_disks  # noqa: F401 - a fixture
from tests.mutants.crash_states.tried_states import MODELS, Outcomes, all_tried, under_each_model

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("memory_disks")]

_HONEST: Final = ("appended", "allocated")
_CAUGHT: Final = {
    "acknowledged-first": MODELS,
    "every-other-sync": MODELS,
    "in-parts": MODELS,
    "renamed-first": MODELS,
    "unsynced-rename": MODELS,
    "unsynced-directory": ("posix",),
    "uncut-tail": MODELS,
    "no-checksum": MODELS,
    "no-checksum-at-the-end": ("torn", "writeback", "posix"),
    "length-left-out": MODELS,
}
"""By lie: the models that must show it. The others cannot: there a sync of a file that grew makes its name durable, and no page that is new
is there without those before it."""
_FOUND: Final = {
    **dict.fromkeys(("acknowledged-first", "every-other-sync", "renamed-first", "unsynced-rename", "unsynced-directory"), " lost"),
    "in-parts": " split ",
    "uncut-tail": "after another crash",
    **dict.fromkeys(("no-checksum", "no-checksum-at-the-end", "length-left-out"), "ended with exit status"),
}
"""What it must be caught by."""

_REQUESTS: Final = 4


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcomes]:
    """By model and lie, what became of the case."""
    store = Path(__file__).parent / "log_store.py"
    return under_each_model(tmp_path_factory.mktemp("logs"), store, (*_HONEST, *_CAUGHT), _REQUESTS, atomic_batches=True)


@pytest.mark.parametrize(("lie", "model"), [(lie, model) for lie, models in _CAUGHT.items() for model in models])
def test_the_lie_is_caught(lie: str, model: str, found: Mapping[str, Outcomes]) -> None:
    """For what it does."""
    outcome = found[model][lie]
    assert outcome["outcome"] == "fail", outcome["detail"]
    assert any(_FOUND[lie] in each["finding"] for each in outcome["crash_states"]["failed"]), outcome["detail"]


@pytest.mark.parametrize(("lie", "model"), [(lie, model) for lie, models in _CAUGHT.items() for model in MODELS if model not in models])
def test_no_state_shows_what_cannot_happen_there(lie: str, model: str, found: Mapping[str, Outcomes]) -> None:
    """It is right where nothing is left of its disk that would show it."""
    outcome = found[model][lie]
    assert outcome["outcome"] == "pass", outcome["detail"]
    assert all_tried(outcome)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("store", _HONEST)
def test_the_honest_ones_pass(store: str, model: str, found: Mapping[str, Outcomes]) -> None:
    """In all states, whatever the model."""
    outcome = found[model][store]
    assert outcome["outcome"] == "pass", outcome["detail"]
    assert all_tried(outcome)
