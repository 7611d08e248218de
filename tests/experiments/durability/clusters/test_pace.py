"""How fast clients write: all rounds of a guarantee together have as many requests as can be judged again."""

from __future__ import annotations

import pytest

from storeproof.experiments.durability.clusters.pace import LEAST, MOST_WRITES, pause_of
from storeproof.spec import Scale
from tests.shipped import SHIPPED


@pytest.mark.parametrize("scale", SHIPPED.scales.values(), ids=lambda scale: scale.scale)
@pytest.mark.parametrize("guarantee", ["node_loss", "partition"])
def test_all_rounds_fit_at_any_scale(scale: Scale, guarantee: str) -> None:
    """Also with more rounds and more clients; and with few of them no client asks more often than a hundred times a second."""
    turns = scale.durability.turns(SHIPPED.guarantees[guarantee].faults)
    pause = pause_of(scale.durability.clients, len(turns), MOST_WRITES)
    assert pause >= LEAST
    assert scale.durability.clients * len(turns) * 12 / pause <= MOST_WRITES * 1.001
