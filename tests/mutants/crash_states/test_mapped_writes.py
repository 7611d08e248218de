"""Of a store that writes through a memory mapping what it promises nothing is concluded, and of one that only shares locks so, all is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from storeproof.spec.cases import crash_states_case, io_errors_case
from tests.disk.conftest import memory_disks  # noqa: F401 - a fixture
from tests.mutants.log_stores.inner_run import outcomes

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("memory_disks")]

_KILL, _CUT, _SYNC = crash_states_case("process_crash"), crash_states_case("power_loss"), io_errors_case("eio_sync")
_CASES: Final = {"mapped": (_KILL, _CUT, _SYNC), "unsynced": (_KILL,), "shared-locks": (_KILL, _CUT, _SYNC)}
_SAID: Final = "pages through memory mappings, and the disk does not see in what order"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """By store and case, what became of it."""
    scale = {"crash_states": {"recordings": 1, "requests": 4, "seconds": 2.0}, "io_errors": {"requests": 4, "seconds": 1.0}}
    changes = {"scales/smoke.yaml": {"durability": scale}}
    return outcomes(tmp_path_factory.mktemp("mapped"), Path(__file__).with_name("mapped_log.py"), ".", _CASES, changes)


@pytest.mark.parametrize(("store", "case"), [("mapped", _KILL), ("mapped", _CUT), ("mapped", _SYNC), ("unsynced", _KILL)])
def test_what_the_disk_does_not_see_decides_nothing(store: str, case: str, found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Neither for the store nor against it, and it is said why."""
    outcome = found[store][case]
    assert outcome["outcome"] == "not_run", outcome["detail"]
    assert _SAID in outcome["detail"]
    assert outcome["lacked"]["what"] == "disk"


@pytest.mark.parametrize("case", [_KILL, _CUT, _SYNC])
def test_locks_that_are_shared_so_hide_nothing(case: str, found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Where states lack some of them, that is said."""
    outcome = found["shared-locks"][case]
    assert outcome["outcome"] == "pass", outcome["detail"]
    assert ("through memory mappings in files that it did not sync" in outcome["detail"]) is (case != _SYNC)
