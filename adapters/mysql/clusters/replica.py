"""One server of a primary with replicas: what it says of itself, and from where it copies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from storeproof.adapters.mysql.asking import OWN_NUMBER, ask, literal
from storeproof.contract import Address

STEP_SECONDS: Final = 5.0
"""For the threads of a replica to begin or to end, and for it to apply what it has received."""
KNOWN: Final = """
    GTID_SUBTRACT(CONCAT_WS(',', @@gtid_executed, (SELECT received_transaction_set
        FROM performance_schema.replication_connection_status WHERE channel_name = '{channel}')), '')
"""
"""The writes that are in its tables, and those that it has received on a channel and not applied yet."""
_STATE: Final = f"""
    SELECT NOT @@super_read_only,
           IFNULL((SELECT host FROM performance_schema.replication_connection_configuration WHERE channel_name = ''), ''),
           IFNULL((SELECT service_state FROM performance_schema.replication_connection_status WHERE channel_name = ''), ''),
           IFNULL((SELECT service_state FROM performance_schema.replication_applier_status WHERE channel_name = ''), ''),
           @@gtid_executed, {KNOWN.format(channel="")}
"""


@dataclass(frozen=True)
class Replica:
    """What one server says of itself."""

    writable: bool
    source: str
    """The host that it copies from; empty: none."""
    receiver: str
    """`ON` while it is connected to that host, else `OFF` or `CONNECTING`."""
    applier: str
    """`ON` while it applies what it has received."""
    executed: str
    """The writes that are in its tables, as sets of numbers."""
    known: str
    """Those, and what it has received."""

    @classmethod
    def of(cls, address: Address) -> Self:
        """Ask it. Raises `Unknown` if it does not answer."""
        ((writable, source, receiver, applier, executed, known),) = ask(address, _STATE)
        return cls(bool(writable), source, receiver, applier, executed, known)


def has_all(address: Address, writes: str) -> bool:
    """Whether these writes are in its tables."""
    ((subset,),) = ask(address, f"SELECT GTID_SUBSET({literal(writes)}, @@gtid_executed)")
    return bool(subset)


def copy_from(address: Address, primary: Address) -> None:
    """Tell it to copy from this primary, and from no other."""
    user, password = literal(primary.user or ""), literal(primary.password or "")
    source = (
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = {literal(primary.host)}, SOURCE_PORT = {primary.port}, SOURCE_USER = {user},"
        f" SOURCE_PASSWORD = {password}, SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1,"
        " SOURCE_RETRY_COUNT = 1000"
    )
    ask(address, "STOP REPLICA", OWN_NUMBER, source, "START REPLICA", seconds=STEP_SECONDS)


def count(writes: str) -> int:
    """How many writes are in a set of GTIDs such as `UUID:1-5:7, UUID:1-3`, of numbers and ranges by the name of a sequence."""
    return sum(int(last or first) - int(first) + 1 for first, last in re.findall(r":(\d+)(?:-(\d+))?", writes))
