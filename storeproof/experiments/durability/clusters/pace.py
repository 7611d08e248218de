"""How fast the clients of a cluster's rounds write: so that their histories can be kept, and judged again within seconds.

Whether a round shows a loss does not depend on the rate, as long as writes are under way at each moment: a primary that goes on alone
acknowledges for seconds, and one that lags has a link which even one client fills. How many are lost does. Without pauses a guarantee's
rounds had up to 3.3 million operations.
"""

from __future__ import annotations

from typing import Final

LEAST: Final = 0.01
"""Seconds between two requests of a client."""
MOST_WRITES: Final = 100_000
"""Requests of all clients that write, in all rounds of a guarantee; some write two records."""
MOST_READS: Final = 50_000
"""Requests of those that read and write the one key that is watched."""
MOST_TRANSFERS: Final = 40_000
"""Transfers and snapshots of all clients."""
MOST_REQUESTS: Final = 60_000
"""Requests of clients whose sessions are watched."""
_ROUND_SECONDS: Final = 12.0
"""How long clients send requests in a round: some clusters wait 5 s for their failover, and clients go on for 4 s after it."""


def pause_of(clients: int, rounds: int, most: int) -> float:
    """Seconds between two requests of a client, with which those of all rounds together are about `most` at most."""
    return max(LEAST, clients * rounds * _ROUND_SECONDS / most)
