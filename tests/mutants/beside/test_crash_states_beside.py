"""Stores that a crash leaves with a record and what belongs to another one, or to none, and their honest twins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from tests.disk.conftest import memory_disks  # noqa: F401 - a fixture
from tests.mutants.beside.claims import EXPIRING, INDEXED, BesideStore
from tests.mutants.crash_states.tried_states import Outcomes, all_tried, under_each_model

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("memory_disks")]

_HONEST: Final = "together"
_REQUESTS: Final = 8
_STORES: Final = {"expiring": EXPIRING, "indexed": INDEXED}
_UNDER: Final = [(name, model) for name, each in _STORES.items() for model in each.models]
_LIES: Final = [(name, model, lie) for name, model in _UNDER for lie in _STORES[name].lies]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Outcomes]]:
    """By store, model and lie, what became of the case."""

    def tried(store: BesideStore) -> Mapping[str, Outcomes]:
        folder = tmp_path_factory.mktemp("logs")
        return under_each_model(folder, store.program, (_HONEST, *store.lies), _REQUESTS, store.models, **store.claims)

    return {name: tried(each) for name, each in _STORES.items()}


@pytest.mark.parametrize(("store", "model", "lie"), _LIES)
def test_the_lie_is_caught(store: str, model: str, lie: str, found: Mapping[str, Mapping[str, Outcomes]]) -> None:
    """By what is beside a record, which is not that of its write."""
    outcome = found[store][model][lie]
    assert outcome["outcome"] == "fail", outcome["detail"]
    assert any(_STORES[store].found in each["finding"] for each in outcome["crash_states"]["failed"]), outcome["detail"]


@pytest.mark.parametrize(("store", "model"), _UNDER)
def test_the_honest_one_passes(store: str, model: str, found: Mapping[str, Mapping[str, Outcomes]]) -> None:
    """In all states, whatever the model."""
    outcome = found[store][model][_HONEST]
    assert outcome["outcome"] == "pass", outcome["detail"]
    assert all_tried(outcome)
