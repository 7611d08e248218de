"""PostgreSQL, through psycopg 3: one prepared statement per operation, autocommit, values in binary where they are bytes.

A collection is one table; lists have another one for their items. Text keys are bytea (their UTF-8 bytes): exact and in code point order
as `text COLLATE "C"` would be, but `text` takes no NUL. Values are bytea, a hash is ten nullable columns, a document is jsonb.

Options of a variant:
    persistence: "permanent" (default) or "unlogged".
    changes: "notifications" (default), or "decoding" of the log, for which the server must be set up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

import psycopg

from storeproof.adapters.postgresql.documents import Documents
from storeproof.adapters.postgresql.link import TIMEOUT, Connection, Link
from storeproof.adapters.postgresql.records import Counters, Hashes, Rows, Values
from storeproof.adapters.postgresql.standbys import Standbys
from storeproof.adapters.postgresql.structures import Lists, Rankings, Sets
from storeproof.contract import Address, Collection, Layout, Refused, Unknown, Unsupported, Version, WrongReply
from storeproof.spec.interleaving import Isolation

DATABASE = "postgres"
"""Used where the address names none; every server has it."""

_TABLES: Mapping[str, type[Values | Hashes | Documents | Rows | Counters | Lists | Sets | Rankings]] = {
    "value": Values,
    "hash": Hashes,
    "document": Documents,
    "row": Rows,
    "counter": Counters,
    "list": Lists,
    "set": Sets,
    "ranking": Rankings,
}
"""By kind of record."""

_NEVER = (
    "authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "permission denied",
    "does not support SSL",
)
"""What libpq says, in its only form, a text, of a connection that will not be had later either."""
_NO_COMMON_PROTOCOL = re.compile(
    "unsupported frontend protocol|protocol version not supported|server only supports protocol"
    "|authentication (?:method|mechanisms?) .*not supported|SASL authentication mechanisms are supported"
)
"""The same, of a server that speaks another version of the protocol, or wants to be shown who we are in a way that libpq does not know."""

_OWN = re.compile(
    r"PostgreSQL (\d+(?:\.\d+)*(?:devel|(?:alpha|beta|rc)\d+)?)(?: \(([^()]*)\))?(?: on [^ ,]+)?, compiled by .+, (?:32|64)-bit"
)
"""All of what version() answers (src/backend/utils/adt/version.c, PG_VERSION_STR), with a packager's own words in brackets."""
_GUEST = re.compile(r"PostgreSQL [\d.]+ server protocol using (\w+) ([\d.]+)")
"""What H2 answers: the version of PostgreSQL is that of the protocol."""
_OTHERS = ("Greenplum", "EnterpriseDB", "Materialize")
"""Relatives that have their names in the brackets."""
_BUILD = re.compile(r"(PGlite) ([\d.]+)")
"""A relative that has its own version there too, and that of PostgreSQL before it."""


def product_of(text: str) -> Version:
    """Which server says this of itself: relatives that speak the protocol begin like PostgreSQL, and end with names of their own."""
    own = _OWN.fullmatch(text)
    if guest := _GUEST.match(text):
        return Version(guest[1], guest[2])
    if own and (build := _BUILD.fullmatch(own[2] or "")):
        return Version(build[1], build[2])
    if own and not any(name in (own[2] or "") for name in _OTHERS):
        return Version("PostgreSQL", own[1])
    product, _, rest = text.partition(" ")
    return (
        Version("a relative of PostgreSQL", f"({text[:100]})")
        if product in ("PostgreSQL", "")
        else Version(product, rest.partition(" ")[0])
    )


def connect(address: Address, options: Mapping[str, str]) -> Session:
    """One session in autocommit mode. Raises `Refused` for wrong credentials or database, `Unknown` while no server answers."""
    again = partial(_connection, address)
    return Session(Link(again(), again, address.ours), options)


def cluster(options: Mapping[str, str]) -> Standbys:  # noqa: ARG001 - they are the clients'
    return Standbys()


def _connection(address: Address) -> Connection:
    try:
        return Connection.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            dbname=address.database or DATABASE,
            sslmode="require" if address.tls else "disable",
            gssencmode="disable",
            connect_timeout=TIMEOUT,
            client_encoding="utf-8",
            application_name="storeproof",
            autocommit=True,
        )
    except psycopg.Error as reason:
        raise _no_connection(str(reason)) from reason


def _no_connection(text: str) -> Exception:
    """What it means that libpq has no connection, by what it says."""
    if _NO_COMMON_PROTOCOL.search(text):
        return Unsupported(f"client and server have no protocol in common: {text}")
    if "expected authentication request" in text:
        return WrongReply(f"a reply that cannot be read: {text}")
    return Refused(text) if any(words in text for words in _NEVER) else Unknown(text)


class Session:
    """One connection: also Transactions."""

    def __init__(self, link: Link, options: Mapping[str, str]) -> None:
        self._link = link
        self._options = options

    def version(self) -> Version:
        rows = self._link.said("SELECT version()")
        text = rows[0][0] if rows and rows[0] else None
        if not isinstance(text, str):
            raise WrongReply(f"version() answered {rows!r}")
        return product_of(text)

    def read_settings(self, names: Sequence[str]) -> dict[str, str]:
        # As this session has them: a role or a database may have its own. Written as SHOW writes them.
        rows = self._link.read("SELECT name, current_setting(name, true) FROM unnest(%s::text[]) AS asked (name)", list(names))
        return {name: value for name, value in rows if value is not None}

    def collection(self, layout: Layout) -> Collection:
        kind = layout.model.record.kind
        if kind not in _TABLES:
            raise Unsupported(f"the adapter has no table for records of the kind {kind}")
        return _TABLES[kind](self._link, layout, self._options)

    def begin(self, isolation: Isolation) -> None:
        self._link.begin(isolation)

    def commit(self) -> None:
        self._link.commit()

    def rollback(self) -> None:
        self._link.rollback()

    def compact(self) -> str:
        """A checkpoint: all that changed is written to the tables, and the log before it is no longer needed."""
        self._link.run("CHECKPOINT", prepare=False)
        return "CHECKPOINT"

    def close(self) -> None:
        self._link.close()
