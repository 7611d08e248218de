"""Whether the nodes of a cluster that is whole again show the same records.

Keys that all clients share were written on both sides of a partition. A cluster may undo the writes of one side, which is a loss. Nodes
that go on keeping different records have diverged: what a client reads then depends on the node that it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import Final

from storeproof.contract import Layout, Refused, Session, Unknown
from storeproof.experiments.durability.readback import read
from storeproof.history import Place, Seen

_SECONDS: Final = 5.0
"""For a replica to show all that it has: some learn a little later what a majority has."""
_LOOK_SECONDS: Final = 0.1


def unlike(connect: Callable[[], Session], layouts: Mapping[str, Layout], expected: Mapping[Place, Seen]) -> dict[Place, Seen] | None:
    """What a node shows that is not what the primary did, and goes on showing; None if it does not let itself be read.

    Args:
        connect: opens a session with the node.
        expected: what the primary shows. Nothing writes meanwhile.
    """
    left, end = dict(expected), monotonic() + _SECONDS
    try:
        session = connect()
        try:
            while True:
                seen, _ = read(session, layouts, left.keys())
                left = {place: each for place, each in left.items() if seen[place] != each}
                if not left or monotonic() > end:
                    return {place: seen[place] for place in left}
                sleep(_LOOK_SECONDS)
        finally:
            session.close()
    except (Refused, Unknown):
        return None
