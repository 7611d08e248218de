"""Hostile replies: the wire engine and the oracle see the same in them, whatever is changed in what real servers sent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storeproof import native_support
from storeproof.load.wire.request import WireProtocol
from tests.load.wire import framing
from tests.load.wire.test_framing import ALL, GARBAGE, IMPLEMENTATIONS

PROTOCOLS = sorted(ALL)
TELLING = b"\0\xff\xfe\xfb\r\n 019-$*:+"
"""Bytes that mean something in one protocol or another."""


@st.composite
def hostile(draw: st.DrawFn, protocol: WireProtocol) -> bytes:
    """Some replies, in which bytes were changed, lost or added, or that end too early."""
    parts = [each.data for each in ALL[protocol]] + [data for other, data in GARBAGE if other == protocol]
    data = bytearray(b"".join(draw(st.lists(st.sampled_from(parts), min_size=1, max_size=3))))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        how = draw(st.sampled_from(["change", "change", "lose", "add", "end"]))
        if how == "change":
            data[at : at + 1] = bytes([draw(st.sampled_from(TELLING) | st.integers(0, 255))])
        elif how == "lose":
            del data[at : at + draw(st.integers(1, 6))]
        elif how == "add":
            data[at:at] = draw(st.binary(min_size=1, max_size=6))
        else:
            del data[at:]
    return bytes(data)


def _plain(found: list[tuple[int, str | None, int]]) -> list[tuple[int, bool, int]]:
    """Without the words of errors, which each has its own of."""
    return [(0 if error else count, error is not None, length) for count, error, length in found]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_pieces_make_no_difference(protocol: WireProtocol, data: st.DataObject) -> None:
    """Replies are the same in whatever pieces they come, and no reply is made of bytes that did not come."""
    came = data.draw(hostile(protocol) | st.binary(max_size=200))
    chunk = data.draw(st.integers(1, 9))
    for replies in IMPLEMENTATIONS.values():
        whole, problem = replies(protocol, came, len(came) + 1)
        found, other = replies(protocol, came, chunk)
        assert _plain(found) == _plain(whole)
        assert bool(problem) == bool(other)
        assert sum(length for _count, _error, length in found) <= len(came)


@pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")
@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=300, deadline=None)
@given(st.data())
@pytest.mark.slow
def test_the_oracle_sees_the_same(protocol: WireProtocol, data: st.DataObject) -> None:
    """The same counts, errors and lengths. One may tell sooner than the other that a reply which is not whole is none."""
    from storeproof import native

    came = data.draw(hostile(protocol) | st.binary(max_size=200))
    chunk = data.draw(st.integers(1, 9) | st.just(len(came) + 1))
    ours, our_problem = framing.replies(protocol, came, chunk)
    theirs, their_problem = native.replies(protocol, came, chunk)
    assert _plain(ours) == _plain(theirs)
    if bool(our_problem) != bool(their_problem):
        assert sum(length for _count, _error, length in ours) < len(came), "one of them calls malformed what ends where a reply ends"
