"""The engine with the image of Redis, and containers that are removed after each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from storeproof.contract import Address
from storeproof.launch.container import ContainerHandle
from storeproof.spec import ContainerLaunch
from tests.launch.conftest import skip_without
from tests.launch.container.redis import IMAGE, REDIS, SETTINGS, names, pinged
from tests.launch.small import request


@pytest.fixture(scope="module", autouse=True)
def _engine() -> None:
    skip_without(IMAGE)


Make = Callable[..., ContainerHandle]


@pytest.fixture
def make() -> Iterator[Make]:
    """Makes containers, and removes them; nothing of them is left."""
    made: list[ContainerHandle] = []

    def handle(launch: ContainerLaunch = REDIS, probe: Callable[[Address], None] = pinged, **options: object) -> ContainerHandle:
        base = options.pop("base", None)
        made.append(ContainerHandle(request(launch, base, store="redis", probe=probe, settings=SETTINGS, **options)))  # type: ignore[arg-type]
        return made[-1]

    yield handle
    for each in made:
        each.close()
    assert names() == names("volume") == set()
