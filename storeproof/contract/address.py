"""The address of a store, and the credentials for it. An endpoint's URL may refer to passwords by name, since every user of the machine can
read a command line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from storeproof.errors import UsageError
from storeproof.printable import in_one_line
from storeproof.regular_file import Unreadable, read_text


@dataclass(frozen=True)
class Address:
    """Host and port, with a password that `repr` does not show."""

    host: str
    port: int
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    tls: bool = False
    ports: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Further ports of the host, by their names in the store's file."""
    ours: bool = False
    """Whether storeproof started the server, so that anything on it may be changed, not only the run's own collections."""
    parts: tuple[PartAddress, ...] = ()
    """The servers of a composite store, whose host and port are those of the home; none for one server."""
    locks: str = ""
    """A file for the locks of a composite store's layer: every client on this machine can lock its bytes. Empty: not a composite store."""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class PartAddress:
    """One server of a composite store, and how it is spoken to."""

    role: str
    """`front` or `home`."""
    adapter: str
    """A module of `adapters/`, or the absolute path of a file; `load_adapter.adapter_of` imports it."""
    address: Address
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The options of its variant."""


_LAST_PORT = 65535
_TLS_FORMS = {"redis": "rediss", "valkey": "valkeys", "http": "https", "mongodb": "mongodb+srv", "couchbase": "couchbases"}
"""Schemes and their variants with TLS."""


def parse_endpoint(url: str, example: str) -> Address:
    """The address that `--endpoint STORE=URL` names. Raises `UsageError`: no scheme, host or port, another scheme than the example's, or an
    invalid further port; the message shows neither user nor password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        # The reason is left out: it quotes the URL, in which a password with a slash is mistaken for the port.
        raise UsageError(f"the endpoint's URL cannot be read: its port or its host is wrong; an endpoint looks like {example}") from None
    if not parts.scheme or not parts.hostname or port is None:
        raise UsageError(f"the endpoint's URL lacks a scheme, a host or a port; an endpoint looks like {example}")
    scheme = urlsplit(example).scheme
    allowed = [scheme, _TLS_FORMS[scheme]] if scheme in _TLS_FORMS else [scheme]
    if parts.scheme not in allowed:
        found = in_one_line(parts.scheme, 40)
        raise UsageError(f"the endpoint's URL has the scheme {found}://; allowed: {', '.join(allowed)}; an endpoint looks like {example}")
    return Address(
        host=parts.hostname,
        port=port,
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        database=parts.path.lstrip("/") or None,
        tls=parts.scheme in _TLS_FORMS.values(),
        ports=_further_ports(parts.query, example),
    )


def _further_ports(query: str, example: str) -> dict[str, int]:
    """The query parameters that the example has too; others are meant for other clients."""
    ports = {}
    given = parse_qs(query, keep_blank_values=True)
    for name in parse_qs(urlsplit(example).query):
        for written in given.get(name, ()):
            if not (written.isascii() and written.isdecimal() and 0 < int(written) <= _LAST_PORT):
                raise UsageError(f"the endpoint's URL has no valid port after `{name}=`; an endpoint looks like {example}")
            ports[name] = int(written)
    return ports


_NAMED = re.compile(r"\$\{(?:(?P<file>file:)(?P<path>[^}]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*))\}")
_FORMS = "${NAME} is replaced by an environment variable, and ${file:PATH} by the first line of a file"
_LONGEST = 64 << 10


def resolve_secrets(url: str) -> str:
    """The URL with `${NAME}` and `${file:PATH}` replaced by the values that they name.

    Within a URL a value is percent-encoded. If the whole text is one name, its value is the whole URL.

    Raises:
        UsageError: there is no such variable or file, it is empty, or `${` is not followed by a name; no value is shown.
    """
    if whole := _NAMED.fullmatch(url):
        return _value(whole)
    resolved = _NAMED.sub(lambda named: quote(_value(named), safe=""), url)
    if "${" in _NAMED.sub("", url):
        raise UsageError(f"the endpoint's URL has an invalid `${{`; allowed: {_FORMS}; write any other `$` as %24")
    return resolved


def _value(named: re.Match[str]) -> str:
    found = _first_line(Path(named["path"])) if named["file"] else os.environ.get(named["name"])
    if found is None:
        raise UsageError(
            f"the endpoint's URL names {named[0]}, but there is no such environment variable; export it, or use ${{file:PATH}}"
        )
    if not found:
        raise UsageError(f"the endpoint's URL names {named[0]}, which is empty; {_FORMS}")
    return found


def _first_line(path: Path) -> str:
    try:
        return read_text(path.expanduser(), _LONGEST).split("\n", 1)[0].rstrip("\r")
    except Unreadable as reason:
        raise UsageError(f"the endpoint's URL names ${{file:{path}}}, but that file {reason}") from None
