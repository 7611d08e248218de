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
    assert pause.hangs


@pytest.mark.parametrize(("kind", "hangs"), [("reset", False), ("hang", True)])
def test_a_cut_is_one_of_the_link_alone(kind: CutKind, hangs: bool) -> None:
    """Clients notice a reset at once; what hangs is delivered after the end."""
    link: Any = create_autospec(Link, instance=True)
    cut = PartCutOff(link, kind)
    cut.strike()
    cut.end()
    cut.deliver()
    assert link.mock_calls == [call.cut(kind), call.restore(), call.deliver()]
    assert cut.hangs is hangs
