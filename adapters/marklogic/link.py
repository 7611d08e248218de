"""The connection to one of MarkLogic's HTTP servers: its official Python client, time limits, and errors sorted."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Final

import requests
from marklogic import Client
from requests.adapters import HTTPAdapter

from storeproof.contract import Address, Refused, Unknown, Unsupported

_TIMEOUT: Final = 10.0
"""Seconds to wait for a connection or for a reply."""

_IDLE: Final = 4.0
"""Seconds after which a kept connection is not used again: the server closes it after 5, and a request that meets the close is lost."""

_DATABASE: Final = "Documents"
"""The content database of the server on port 8000, as MarkLogic is installed."""

_MANAGEMENT: Final = 8002
"""The port of the management API, as MarkLogic is installed: what an address calls `manage`."""

JSON: Final = {"Accept": "application/json"}
_JSON: Final = {"format": "json"}
_OK: Final = 200
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_ABSENT: Final = 404
_UNAVAILABLE: Final = (502, 503, 504)
_DEADLOCK: Final = "XDMP-DEADLOCK"
_NO_TLS: Final = {
    "WRONG_VERSION_NUMBER": "the server there does not use TLS",
    "CERTIFICATE_VERIFY_FAILED": "this machine does not trust its certificate",
}
"""How OpenSSL calls what fails before a request is sent."""


class Unauthorized(Refused):
    """The server does not know the user or the password; while it is set up it knows no one."""


class Forbidden(Refused):
    """The user is not allowed this; before a server is set up every request is denied."""


class Deadlock(Refused):
    """The server has rolled the transaction back, since it and another waited for each other; it may be tried again."""


class NoIndex(Unsupported):
    """The server has no range index for the request, or has not built it yet."""


class _Patient(HTTPAdapter):
    """Gives a time limit to every request: neither the client nor the library below it has one. It does not retry."""

    def __init__(self) -> None:
        super().__init__(max_retries=0)
        self._used = monotonic()

    def send(
        self, request: Any, stream: bool = False, timeout: Any = None, verify: Any = True, cert: Any = None, proxies: Any = None
    ) -> Any:
        if monotonic() - self._used > _IDLE:
            self.close()  # its kept connections; the next request opens one
        try:
            return super().send(request, stream, timeout or _TIMEOUT, verify, cert, proxies)
        finally:
            self._used = monotonic()


class Server:
    """The REST API of one server, and its management API as soon as that is needed, which is for the database's properties."""

    def __init__(self, address: Address, options: Mapping[str, str]) -> None:
        self._address = address
        self.options = options
        self.client = _client(address, address.port)
        self._manager: Client | None = None
        self._database = address.database or _DATABASE
        self.target = {"database": address.database} if address.database else {}
        """Goes with every request, where the address names a database."""

    def ask(self, method: str, path: str, *, also: Container[int] = (), **details: Any) -> Any:
        """One request; its response. `also`: statuses beside success that are answers."""
        return _ask(self.client, method, path, also, **details)

    def search(self, body: Mapping[str, Any], *, skip: int = 0, limit: int = 0) -> dict[str, Any]:
        params = {**self.target, **_JSON, "start": skip + 1, "pageLength": limit}
        found: dict[str, Any] = self.ask("POST", "/v1/search", params=params, json=body, headers=JSON).json()
        return found

    def check_health(self) -> None:
        """Return if the server calls itself healthy, or if the address names no port (`health`) to ask.

        The port of the REST API answers while the server is set up, and before its databases are mounted.

        Raises:
            Unknown: it is not healthy yet, or does not answer.
        """
        if "health" not in self._address.ports:
            return
        with _client(self._address, self._address.ports["health"]) as client, sorting():
            reply = client.get("/LATEST/healthcheck")
            if reply.status_code == _ABSENT:
                reply = client.get("/")  # before MarkLogic 11
        if reply.status_code != _OK:
            raise Unknown(f"the server is not healthy: {reply.status_code} {reply.reason}")

    def version(self) -> tuple[str, str]:
        """What the server calls itself, and the number that it answers."""
        product = self.ask("GET", "/v1/config/properties", params=_JSON).headers.get("Server", "(a server without a name)")
        with sorting():
            found = self.client.eval(javascript="xdmp.version()")
        if not isinstance(found, list):
            answered(found)
        return product, str(found[0])

    def policy(self) -> str:
        """How the REST instance treats versions."""
        return str(self.ask("GET", "/v1/config/properties", params=_JSON).json()["update-policy"])

    def properties(self) -> dict[str, Any]:
        """The database's, by the management API."""
        found: dict[str, Any] = self._manage("GET", "/properties").json()
        return found

    def indexes(self) -> list[dict[str, Any]]:
        """The definitions of the database's path range indexes."""
        return list(self.properties().get("range-path-index", []))

    def set_indexes(self, definitions: Sequence[Mapping[str, Any]]) -> None:
        """All of them: the management API replaces the list, and with it what another run adds in between."""
        self._manage("PUT", "/properties", json={"range-path-index": list(definitions)})

    def set_journaling(self) -> None:
        """Set when the journal is synced as the options say, on a server of ours; that of a user is read and never changed."""
        wanted = self.options.get("journaling")
        if wanted is not None and self._address.ours and self.properties().get("journaling") != wanted:
            self._manage("PUT", "/properties", json={"journaling": wanted})

    def reindexes(self) -> bool:
        """Whether the database's status says that documents are being indexed again."""
        found = self._manage("GET", "", view="status").json().get("database-status", {}).get("status-properties", {})
        return any(_is_set(found.get(name)) for name in ("reindexing", "reindex-count"))

    def close(self) -> None:
        """End the connections; never raises."""
        for client in (self.client, self._manager):
            if client is not None:
                with suppress(Exception):
                    client.close()

    def _manage(self, method: str, what: str, *, view: str | None = None, **details: Any) -> Any:
        if self._manager is None:
            self._manager = _client(self._address, self._address.ports.get("manage", _MANAGEMENT))
        params = _JSON if view is None else {**_JSON, "view": view}
        return _ask(self._manager, method, f"/manage/v2/databases/{self._database}{what}", params=params, **details)


def _is_set(value: Any) -> bool:
    """Of a property of a status, `{"units": ..., "value": ...}`: true, or a number above 0. What is neither says nothing."""
    plain = value.get("value") if isinstance(value, dict) else value
    return plain in (True, "true") or (isinstance(plain, (int, float)) and plain > 0)


def _client(address: Address, port: int) -> Client:
    scheme = "https" if address.tls else "http"
    client = Client(f"{scheme}://{address.host}:{port}", digest=(address.user or "", address.password or ""))
    client.trust_env = False  # no proxy and no .netrc of the user's comes between
    client.verify = os.environ.get("SSL_CERT_FILE") or True  # where OpenSSL and all others of our clients look for authorities
    client.mount(f"{scheme}://", _Patient())
    return client


def _ask(client: Client, method: str, path: str, also: Container[int] = (), **details: Any) -> Any:
    with sorting():
        reply = client.request(method, path, **details)
    return answered(reply, also)


def answered(reply: Any, also: Container[int] = ()) -> Any:
    """The response, if it is an answer.

    An error that MarkLogic describes has rolled its statement back; one that comes without may have struck after the commit.
    """
    if reply.status_code < 300 or reply.status_code in also:
        return reply
    code, message = _told(reply)
    text = " ".join(filter(None, (str(reply.status_code), code, message[:300])))
    if reply.status_code == _UNAUTHORIZED:
        raise Unauthorized(f"{text}: the server rejects this user or password")
    if reply.status_code == _FORBIDDEN:
        raise Forbidden(text)
    if code == _DEADLOCK or message.startswith(_DEADLOCK):
        raise Deadlock(text)
    if "RIDXNOTFOUND" in code or "RIDXNOTFOUND" in message:
        raise NoIndex(f"MarkLogic has no range index for that: {message[:200]}")
    if reply.status_code in _UNAVAILABLE or (reply.status_code >= 500 and not code):
        raise Unknown(text)
    raise Refused(text)


def _told(reply: Any) -> tuple[str, str]:
    with suppress(ValueError, KeyError, TypeError):
        error = reply.json()["errorResponse"]
        return str(error.get("messageCode", "")), str(error.get("message", ""))
    return "", str(reply.reason)


def _cause(reason: requests.RequestException) -> str:
    """What the library below says, without what it was asked for."""
    return str(getattr(next(iter(reason.args), None), "reason", None) or reason)


@contextmanager
def sorting() -> Iterator[None]:
    """A request that did not go through may have arrived; one that could not be written did not."""
    try:
        yield
    except requests.exceptions.SSLError as reason:
        for name, told in _NO_TLS.items():
            if name in str(reason):
                raise Refused(f"{told} ({name})") from reason
        raise Unknown(f"SSLError: {str(reason)[:300]}") from reason
    except (requests.ConnectionError, requests.Timeout, requests.HTTPError) as reason:
        raise Unknown(f"{type(reason).__name__}: {_cause(reason)[:300]}") from reason
    except (requests.RequestException, UnicodeError, RecursionError) as reason:
        raise Refused(f"{type(reason).__name__}: {str(reason)[:300]}") from reason
