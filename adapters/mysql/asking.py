"""Questions to one node of a cluster, which may be gone: each over a connection of its own, with a short timeout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pymysql

from storeproof.contract import Address, Unknown

_ANSWER_SECONDS: Final = 0.5
"""For a node that may be gone; the others answer within some milliseconds."""
OWN_NUMBER: Final = "SET GLOBAL server_id = CRC32(@@server_uuid)"
"""A server does not take writes from another that have its own number: one with an empty disk needs another number than before, or it
would get nothing back of what it wrote itself."""


def ask(address: Address, *statements: str, seconds: float = _ANSWER_SECONDS) -> Sequence[tuple[Any, ...]]:
    """Send statements, one after another; the rows that the last one answered. Raises `Unknown` for an error, or without an answer."""
    try:
        connection = pymysql.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password or "",
            connect_timeout=_ANSWER_SECONDS,
            read_timeout=seconds,
            write_timeout=seconds,
            autocommit=True,
            ssl_disabled=True,
        )
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
                return rows
        finally:
            connection.close()
    except pymysql.MySQLError as reason:
        raise Unknown(f"{address}: {reason}") from reason


def literal(text: str) -> str:
    return pymysql.converters.escape_string(text).join("''")
