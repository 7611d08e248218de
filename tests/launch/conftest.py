"""A quiet machine, whatever else runs on it."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long is waited must not depend on what else runs here; a test that is about that says otherwise."""
    monkeypatch.setattr("storeproof.machine.deadline.machine_is_busy", lambda: "")
