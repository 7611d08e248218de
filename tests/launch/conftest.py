"""A quiet machine, whatever else runs on it; and the engine for tests of containers."""

from __future__ import annotations

import pytest

from storeproof.machine import container_engine


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long is waited must not depend on what else runs here; a test that is about that says otherwise."""
    monkeypatch.setattr("storeproof.machine.deadline.machine_is_busy", lambda: "")


def skip_without(image: str) -> None:
    """Skip where no container engine answers, or where this image, one of the project's own, is not here."""
    reason = container_engine.unavailable()
    if reason is not None:
        pytest.skip(reason)
    if not container_engine.has_image(image):
        pytest.skip(f"the image {image} is not here; .ci/setup images")
