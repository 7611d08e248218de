"""What a MySQL server has written, as GTIDs: sets such as `UUID:1-5:7, UUID:1-3`, of numbers and ranges by the name of a sequence."""

from __future__ import annotations

import re
from typing import Final

KNOWN: Final = """
    GTID_SUBTRACT(CONCAT_WS(',', @@gtid_executed, (SELECT received_transaction_set
        FROM performance_schema.replication_connection_status WHERE channel_name = '{channel}')), '')
"""
"""The writes that are in its tables, and those that it has received on a channel and not applied yet."""


def count(writes: str) -> int:
    return sum(int(last or first) - int(first) + 1 for first, last in re.findall(r":(\d+)(?:-(\d+))?", writes))
