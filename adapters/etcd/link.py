"""A connection to one member of etcd: its gRPC services as JSON over HTTP, and what their errors mean."""

from __future__ import annotations

import json
import os
import ssl
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from typing import Any, Final

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.exceptions import HTTPError, SSLError

from storeproof.contract import Address, Refused, Unknown, Unsupported, WrongReply

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""
_OK: Final = 200
_UNIMPLEMENTED: Final = 12
_REFUSALS: Final = frozenset({3, 5, 6, 7, 8, 9, 11, 16})
"""Codes of gRPC (google.golang.org/grpc/codes) with which etcd says that it did nothing: invalid argument, not found, already exists,
permission denied, resource exhausted (too large, no space, too many requests), failed precondition, out of range, unauthenticated. All
others leave it open: a request that timed out, or met no leader, may have been proposed before (`etcdserver: request timed out`)."""
_ABSENT: Final = "etcdserver: key not found"
_BROKEN_OFF: Final = (RemoteDisconnected, IncompleteRead)
"""What http.client calls a reply that does not come, or not to its end."""
_NO_TLS: Final = ("CERTIFICATE_VERIFY_FAILED", "WRONG_VERSION_NUMBER")
"""How OpenSSL calls what fails before a request is sent."""


class Absent(Refused):
    """There is no such key."""


class Link:
    """One connection, which is opened again before a request if the server has closed it. No request is sent twice."""

    def __init__(self, address: Address, seconds: float = _TIMEOUT) -> None:
        """`seconds`: how long to wait for a connection, and for a reply. Raises `Refused`: the server rejects the user or the password."""
        self._address = address
        self._headers = {"Content-Type": "application/json"}
        waits = Timeout(connect=seconds, read=seconds)
        if address.tls:
            # Where all clients of the project look for authorities.
            trusted = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
            self._pool: HTTPConnectionPool = HTTPSConnectionPool(
                address.host, address.port, maxsize=1, retries=False, timeout=waits, ssl_context=trusted
            )
        else:
            self._pool = HTTPConnectionPool(address.host, address.port, maxsize=1, retries=False, timeout=waits)
        if address.user:
            told = self.ask("auth/authenticate", name=address.user, password=address.password or "")
            self._headers["Authorization"] = told["token"]

    def ask(self, service: str, **request: Any) -> dict[str, Any]:
        """One request to a service, such as `kv/range`; its reply, in which numbers of 64 bits are text and what is zero is left out."""
        return self._read("POST", f"/v3/{service}", json.dumps(request).encode())

    def look(self, path: str) -> dict[str, Any]:
        """What the member says of itself under a path."""
        return self._read("GET", path, None)

    def stream(self, service: str, **request: Any) -> Any:
        """One request whose reply does not end: the response, of which nothing was read."""
        try:
            body = json.dumps(request).encode()
            reply = self._pool.request(
                "POST", f"/v3/{service}", body, headers=self._headers, preload_content=False, timeout=Timeout(connect=_TIMEOUT, read=None)
            )
        except (HTTPError, OSError) as reason:
            raise _failure_of(reason) from reason
        if reply.status != _OK:
            raise _error_of(reply.status, reply.data)
        return reply

    def another(self) -> Link:
        return Link(self._address)

    def close(self) -> None:
        """End the connection; never raises."""
        with suppress(Exception):
            self._pool.close()

    def _read(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        try:
            reply = self._pool.request(method, path, body, headers=self._headers)
        except (HTTPError, OSError) as reason:
            raise _failure_of(reason) from reason
        if reply.status != _OK:
            raise _error_of(reply.status, reply.data)
        return parsed(reply.data)


def parsed(text: bytes) -> dict[str, Any]:
    """A reply. Raises `WrongReply` if it is not an object of JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as reason:
        raise WrongReply(f"a reply that cannot be read: {type(reason).__name__}: {text[:100]!r}") from reason
    if not isinstance(found, dict):
        raise WrongReply(f"a reply that is no object: {text[:100]!r}")
    return found


def encoded(value: bytes) -> str:
    """Bytes as the gateway has them."""
    return b64encode(value).decode()


def decoded(found: Mapping[str, Any], name: str) -> bytes:
    """The bytes under a name, which is left out where there are none."""
    try:
        return b64decode(found.get(name, ""), validate=True)
    except (ValueError, TypeError) as reason:
        raise WrongReply(f"`{name}` of a reply is no base64: {str(found[name])[:100]!r}") from reason


def flags_of(link: Link) -> Mapping[str, str]:
    """Those on the command line of the live process, by `/debug/vars`: etcd has no other way to ask for them."""
    live: dict[str, str] = {}
    words = link.look("/debug/vars").get("cmdline", [])
    for word in words if isinstance(words, list) else ():
        name, given, value = str(word).removeprefix("--").partition("=")
        if given and str(word).startswith("--"):
            live[name] = value
    return live


def number(found: Mapping[str, Any], name: str) -> int:
    """The number under a name, which is left out where it is zero."""
    try:
        return int(found.get(name, 0))
    except (ValueError, TypeError) as reason:
        raise WrongReply(f"`{name}` of a reply is no number: {str(found[name])[:100]!r}") from reason


def _failure_of(reason: Exception) -> Exception:
    """A request without a whole reply may have been carried out; one for which there was no connection that both trust was not sent."""
    text = f"{type(reason).__name__}: {reason}"[:300]
    if isinstance(reason, SSLError) and any(name in str(reason) for name in _NO_TLS):
        return Refused(text)
    if any(isinstance(each, HTTPException) and not isinstance(each, _BROKEN_OFF) for each in reason.args):
        return WrongReply(f"a reply that is no HTTP: {text}")
    return Unknown(text)


def _error_of(status: int, body: bytes) -> Exception:
    """What an error reply means, by the code of gRPC in it."""
    try:
        told = json.loads(body)
        code, message = int(told["code"]), str(told["error"])[:300]
    except (ValueError, KeyError, TypeError, RecursionError):
        text = f"{status}: {body[:200].decode(errors='replace').strip()}"
        return Unsupported(f"the server has no such service: {text}") if status == 404 else Unknown(text)
    if code == _UNIMPLEMENTED:
        return Unsupported(message)
    if message == _ABSENT:
        return Absent(message)
    return Refused(message) if code in _REFUSALS else Unknown(message)
