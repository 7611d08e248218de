"""What the tests of the site share."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.site.site_content import SiteContent, gather
from storeproof.site.sources import read_sources
from storeproof.spec.questions.read_needs import read_needs
from tests.shipped import SHIPPED
from tests.site.made import decided

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def published() -> SiteContent:
    """The published results, joined, and the example of a needs file; reading them takes some seconds."""
    sources = read_sources([CHECKOUT / "reports"])
    example = read_needs(CHECKOUT / "examples" / "one-store-or-two.yaml", SHIPPED)
    return gather(sources, SHIPPED, decided(sources, example))
