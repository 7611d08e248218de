"""What the tests of one stub share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stubs.marklogic.server import Server, serving


@pytest.fixture
def server() -> Iterator[Server]:
    """The stub of MarkLogic, in threads of this process."""
    from tests.stubs.marklogic_asked import PASSWORD  # with it comes the client, which is not there for all

    with serving("anna", PASSWORD) as running:
        yield running
