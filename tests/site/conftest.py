"""What the tests of the site share."""

from __future__ import annotations

import pytest

from storeproof.site.content import Content, gather
from storeproof.site.sources import read_sources
from tests.architecture.installed import CHECKOUT
from tests.shipped import SHIPPED


@pytest.fixture(scope="session")
def published() -> Content:
    """The published results, joined; reading them takes some seconds."""
    return gather(read_sources([CHECKOUT / "reports"]), SHIPPED)
