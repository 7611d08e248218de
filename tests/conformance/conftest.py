"""The true bundle, made once."""

from __future__ import annotations

import pytest

from tests.conformance.true_bundle import TrueBundle, make


@pytest.fixture(scope="session")
def true_bundle(tmp_path_factory: pytest.TempPathFactory) -> TrueBundle:
    """A real run of SQLite, as a bundle."""
    return make(tmp_path_factory.mktemp("true"))
