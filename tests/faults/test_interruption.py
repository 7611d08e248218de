"""The interruptions of a server: each is a call of what it strikes, and its opposite."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock, call, create_autospec

import pytest

from storeproof.faults.interruption import AtOnce, PartCutOff, PartPause
from storeproof.launch.handle import Handle
from storeproof.launch.link import CutKind, NetworkLink


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
    link: Any = create_autospec(NetworkLink, instance=True)
    cut = PartCutOff(link, kind)
    cut.strike()
    cut.end()
    cut.deliver()
    assert link.mock_calls == [call.cut(kind), call.restore(), call.deliver()]


def test_both_are_struck_before_either_answers_again() -> None:
    """What is late is delivered to each, after both have ended."""
    links: Any = Mock()
    both = AtOnce([PartCutOff(links.front, "hang"), PartCutOff(links.home, "hang")])
    both.strike()
    both.end()
    both.deliver()
    of = call.front, call.home
    assert links.mock_calls == [*(each.cut("hang") for each in of), *(each.restore() for each in of), *(each.deliver() for each in of)]
