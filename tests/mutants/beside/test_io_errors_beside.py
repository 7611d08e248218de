"""Stores that lose what is beside a record to an error of their disk, and their honest twins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from storeproof.spec.cases import io_errors_case
from tests.disk.conftest import memory_disks  # noqa: F401 - a fixture
from tests.mutants.beside.claims import EXPIRING, INDEXED, BesideStore
from tests.mutants.log_stores.inner_run import outcomes

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("memory_disks")]

_HONEST: Final = "together"
_LIE: Final = "ignored-beside"
_CASE: Final = io_errors_case("eio_sync")
_SCALE: Final = {"io_errors": {"requests": 6, "seconds": 60.0}}
"""More time than all calls of the load take."""
_STORES: Final = {"expiring": EXPIRING, "indexed": INDEXED}

Outcomes = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcomes]:
    """By store and log, what became of the case."""
    changes = {"scales/smoke.yaml": {"durability": _SCALE}}

    def tried(store: BesideStore) -> Outcomes:
        folder, cases = tmp_path_factory.mktemp("logs"), {log: [_CASE] for log in (_HONEST, _LIE)}
        plugin = "tests.mutants.crash_states.small_load"
        ended = outcomes(folder, store.program, "test_io_errors.py", cases, changes, plugin, **store.claims)
        return {log: each[_CASE] for log, each in ended.items()}

    return {name: tried(each) for name, each in _STORES.items()}


@pytest.mark.parametrize("store", _STORES)
def test_the_lie_is_caught(store: str, found: Mapping[str, Outcomes]) -> None:
    """What was acknowledged with a record is missing, and the store works all the same."""
    outcome = found[store][_LIE]
    assert outcome["outcome"] == "fail", outcome["detail"]
    assert any(_STORES[store].found in each["finding"] for each in outcome["io_errors"]["failed"]), outcome["detail"]
    assert not outcome["io_errors"]["unusable"], outcome["detail"]
    assert all(each["call"] for each in outcome["io_errors"]["failed"]), "without an error it keeps everything"


@pytest.mark.parametrize("store", _STORES)
def test_the_honest_one_passes(store: str, found: Mapping[str, Outcomes]) -> None:
    """It ends where a sync fails; and it was tried."""
    outcome = found[store][_HONEST]
    assert outcome["outcome"] == "pass", outcome["detail"]
    assert outcome["io_errors"]["once"]["tried"], outcome["detail"]
    assert outcome["io_errors"]["lasting"]["tried"], outcome["detail"]
