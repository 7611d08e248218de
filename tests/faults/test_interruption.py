"""The interruptions of one server: each is a call of what it strikes, and its opposite."""

from __future__ import annotations

from typing import Any
from unittest.mock import call, create_autospec

import pytest

from storeproof.faults.interruption import PartCutOff, PartPause
from storeproof.launch.handle import Handle
from storeproof.launch.link import CutKind, Link


def test_a_pause_halts_the_server_and_lets_it_go_on() -> None:
    """Nothing is left to deliver: what waited in its sockets comes before later requests."""
    part: Any = create_autospec(Handle, instance=True)
    pause = PartPause(part)
    pause.strike()
    pause.end()
    pause.deliver()
    assert part.mock_calls == [call.pause(), call.resume()]


@pytest.mark.parametrize("kind", ["reset", "hang"])
def test_a_cut_is_one_of_the_link_alone(kind: CutKind) -> None:
    """What hangs is delivered after the end."""
    link: Any = create_autospec(Link, instance=True)
    cut = PartCutOff(link, kind)
    cut.strike()
    cut.end()
    cut.deliver()
    assert link.mock_calls == [call.cut(kind), call.restore(), call.deliver()]
