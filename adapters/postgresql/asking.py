"""Asks one PostgreSQL server one thing within a short time, as an operator does who does not know whether it is gone."""

from __future__ import annotations

import select
from time import monotonic

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus, PGconn, PollingStatus, abc

from storeproof.contract import Address, Refused, Unknown

Row = tuple[str | None, ...]


def ask(address: Address, statement: str, seconds: float) -> list[Row]:
    """Send one statement over a connection of its own; the rows as texts.

    psycopg's own connect has a time limit of at least two seconds, and libpq has none for answers.

    Raises:
        Refused: the server answers that it did not do it.
        Unknown: it does not answer within `seconds`.
    """
    end = monotonic() + seconds
    try:
        connection = PGconn.connect_start(connection_string(address).encode())
        try:
            _connected(connection, end)
            return _answer(connection, statement, end)
        finally:
            connection.finish()
    except (psycopg.Error, OSError) as reason:
        raise Unknown(f"{address}: {reason}") from reason


def connection_string(address: Address, **further: str) -> str:
    """What libpq needs to know of a server, and of the one that connects to it."""
    return make_conninfo(
        host=address.host, port=address.port, user=address.user, password=address.password, sslmode="disable", gssencmode="disable",
        **{"dbname": "postgres", **further},
    )  # fmt: skip


def _connected(connection: abc.PGconn, end: float) -> None:
    writes = True
    while True:
        _wait(connection, end, writes=writes)
        state = connection.connect_poll()
        if state == PollingStatus.OK:
            return
        if state == PollingStatus.FAILED or connection.status == ConnStatus.BAD:
            raise psycopg.OperationalError(_text(connection.error_message))
        writes = state == PollingStatus.WRITING


def _answer(connection: abc.PGconn, statement: str, end: float) -> list[Row]:
    connection.send_query(statement.encode())
    rows: list[Row] = []
    while True:
        while connection.is_busy():
            _wait(connection, end)
            connection.consume_input()
        result = connection.get_result()
        if result is None:
            return rows
        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            text = _text(result.error_message)
            severity = result.error_field(DiagnosticField.SEVERITY_NONLOCALIZED)
            raise Refused(text) if severity == b"ERROR" else psycopg.OperationalError(text)
        cells = range(result.nfields)
        for row in range(result.ntuples):
            values = (result.get_value(row, cell) for cell in cells)
            rows.append(tuple(None if value is None else value.decode() for value in values))


def _wait(connection: abc.PGconn, end: float, *, writes: bool = False) -> None:
    waiting = select.poll()
    waiting.register(connection.socket, select.POLLOUT if writes else select.POLLIN)
    if not waiting.poll(max(0.0, end - monotonic()) * 1000):
        raise psycopg.OperationalError("no answer in time")


def _text(message: bytes) -> str:
    return " ".join(message.decode("utf-8", "replace").split())
