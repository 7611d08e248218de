"""SQLite, through the process that hosts it (`host`).

The host is in this package too and starts for every fault, so nothing is imported here that only a client needs: with the specification
and its models a start takes 0.4 s, without them 0.1 s, and the difference would count as the recovery time of SQLite.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from storeproof.adapters.sqlite.session import SQLite
    from storeproof.contract import Address


def connect(address: Address, options: Mapping[str, str]) -> SQLite:
    """Open a session with the hosting process. Raises `Refused`: there are options, and it has none."""
    from storeproof.adapters.sqlite.link import Link
    from storeproof.adapters.sqlite.session import SQLite
    from storeproof.contract import Refused

    if options:
        raise Refused(f"the SQLite adapter has no options; found {', '.join(options)}")
    return SQLite(Link(address))
