"""Where a store answers, and as whom we speak to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from storeproof.errors import UsageError


@dataclass(frozen=True)
class Address:
    """Host and port, with credentials that never show in a representation."""

    host: str
    port: int
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    tls: bool = False

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


_TLS_SCHEMES = ("rediss", "valkeys", "https", "mongodb+srv", "couchbases")


def parse_endpoint(url: str, example: str) -> Address:
    """The address that `--endpoint STORE=URL` names.

    Raises:
        UsageError: no scheme, host or port; the message shows neither user nor password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        # The reason is left out: it quotes the URL, and a password with a slash in it is taken for the port.
        raise UsageError(f"the endpoint's URL cannot be read: its port or its host is wrong; an endpoint looks like {example}") from None
    if not parts.scheme or not parts.hostname or port is None:
        raise UsageError(f"the endpoint's URL lacks a scheme, a host or a port; an endpoint looks like {example}")
    return Address(
        host=parts.hostname,
        port=port,
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        database=parts.path.lstrip("/") or None,
        tls=parts.scheme in _TLS_SCHEMES,
    )
