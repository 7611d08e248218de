"""Stores that take an error of their disk for something else are caught by the case of that error, and their honest twin passes all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from storeproof.spec.cases import io_errors_case
from storeproof.spec.guarantee import IO_ERRORS
from tests.disk.conftest import memory_disks  # noqa: F401 - a fixture
from tests.mutants.log_stores.inner_run import outcomes

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("memory_disks")]

_HONEST: Final = "log"
_TOO: Final = "written-twice"
_MEANT: Final = {
    "ignored-sync": "eio_sync",
    "repeated-sync": "eio_sync",
    "repeated-write": "eio_sync",
    "not-found": "eio_read",
    "end-of-log": "eio_read",
    "half-an-entry": "enospc",
    "ignored-length": "short_write",
}
"""By lie: the error that must show it."""

_SECONDS: Final = 60.0
"""More than all calls of the load take, on a busy machine too: not each of them shows each lie."""

Outcomes = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcomes]:
    """By store, what became of its cases. One run of all."""
    folder = tmp_path_factory.mktemp("io-errors")
    scale = {"io_errors": {"requests": 6, "seconds": _SECONDS}}
    meant = {_HONEST: IO_ERRORS, _TOO: ("eio_sync",), **{lie: (error,) for lie, error in _MEANT.items()}}
    cases = {lie: list(map(io_errors_case, errors)) for lie, errors in meant.items()}
    store = Path(__file__).parent / "log_store.py"
    found = outcomes(folder, store, "test_io_errors.py", cases, {"scales/smoke.yaml": {"durability": scale}})
    return {lie: {case.partition("/")[2]: each for case, each in of.items()} for lie, of in found.items()}


@pytest.mark.parametrize("lie", _MEANT)
def test_the_lie_is_caught_by_the_error_that_is_meant_for_it(lie: str, found: Mapping[str, Outcomes]) -> None:
    """Something that it acknowledged is missing, and it starts and works all the same."""
    outcome = found[lie][_MEANT[lie]]
    assert outcome["outcome"] == "fail", outcome["detail"]
    assert outcome["io_errors"]["losing"], outcome["detail"]
    assert not outcome["io_errors"]["unusable"]
    assert all(each["call"] for each in outcome["io_errors"]["failed"]), "without an error it keeps everything"


@pytest.mark.parametrize("error", IO_ERRORS)
def test_the_honest_store_passes(error: str, found: Mapping[str, Outcomes]) -> None:
    """It refuses, or ends; and it was tried."""
    outcome = found[_HONEST][error]
    assert outcome["outcome"] == "pass", outcome["detail"]
    assert outcome["io_errors"]["once"]["tried"], outcome["detail"]
    assert outcome["io_errors"]["lasting"]["tried"], outcome["detail"]


def test_what_was_refused_may_be_there(found: Mapping[str, Outcomes]) -> None:
    """On a disk that fails a refusal says that the store does not know."""
    outcome = found[_TOO]["eio_sync"]
    assert outcome["outcome"] == "pass", outcome["detail"]
    assert outcome["io_errors"]["once"]["refused"], outcome["detail"]


def test_what_the_honest_store_does(found: Mapping[str, Outcomes]) -> None:
    """A failed sync ends it, a failed write is refused, and half of one is nothing that a client is told of."""

    def reactions(error: str) -> set[str]:
        counts = found[_HONEST][error]["io_errors"]["once"]
        return {name for name, number in counts.items() if number and name != "tried"}

    assert {"ended"} <= reactions("eio_sync") <= {"ended", "refused"}  # the client may be told just before the end
    assert reactions("eio_write") == {"refused"}
    assert reactions("short_write") == {"went_on"}
