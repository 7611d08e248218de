"""The stub's HTTP side: authentication, endpoints, and what each of them takes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.stubs.marklogic import NUMBER, PRODUCT, RestError
from tests.stubs.marklogic.database import Database, Stored
from tests.stubs.marklogic.digest import Digest
from tests.stubs.marklogic.multipart import join, split
from tests.stubs.marklogic.search import Search
from tests.stubs.marklogic.values import values

Answer = tuple[int, dict[str, str], bytes]
_TYPES = {"json": "application/json", "text": "text/plain", "binary": "application/octet-stream", "xml": "application/xml"}
_FORMATS = {type_: name for name, type_ in _TYPES.items()}
_MANAGED = "/manage/v2/databases/Documents"


class Server(ThreadingHTTPServer):
    """The stub. REST and management API answer on the same port."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, user: str, password: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.digest = Digest(user, password)
        self.database = Database()
        self.unhealthy = 0
        """How many health checks fail from now on, as while the databases are mounted."""
        self.setting_up = 0
        """How many requests of the user are refused from now on, as until the set-up has made the user."""
        self.keep_alive: float | None = None
        """Seconds after which a kept connection is closed when the next request comes, which is lost; None: never."""
        self.clock: Callable[[], float] = time.monotonic

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@contextmanager
def serving(user: str = "admin", password: str = "admin", port: int = 0) -> Iterator[Server]:
    """A stub in threads of this process."""
    server = Server(port, user, password)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="marklogic-stub", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server
    _path: str
    _query: dict[str, list[str]]
    _body: bytes
    _answered: float | None = None
    """When the last request of the connection came, by the clock of the server."""

    def version_string(self) -> str:
        return PRODUCT

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Nothing is written: a failure is in the answer."""

    def _handle(self) -> None:
        self._body = self._read_body()
        if self._is_too_late():
            return
        if urlsplit(self.path).path in ("/LATEST/healthcheck", "/"):
            self._send_health()
            return
        known = self.server.digest.admits(self.headers.get("Authorization"), self.command, self.path)
        if known and self.server.setting_up:
            self.server.setting_up -= 1
            known = False
        if not known:
            self._send(401, {"WWW-Authenticate": self.server.digest.challenge, "Content-Type": "text/html"}, b"401 Unauthorized")
            return
        target = urlsplit(self.path)
        self._path, self._query = unquote(target.path), parse_qs(target.query, keep_blank_values=True)
        try:
            status, headers, body = self._endpoint()()
        except RestError as error:
            status, headers = error.status, {"Content-Type": "application/json; charset=UTF-8"}
            told = {"statusCode": error.status, "status": "", "messageCode": error.code, "message": error.message}
            body = json.dumps({"errorResponse": told}).encode()
        self._send(status, headers, body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = _handle  # noqa: N815 - http.server looks for these names

    def _is_too_late(self) -> bool:
        """Whether the connection was kept for too long, and is closed with the request that came meanwhile."""
        now = self.server.clock()
        idle = 0.0 if self._answered is None else now - self._answered
        self._answered = now
        if self.server.keep_alive is None or idle <= self.server.keep_alive:
            return False
        self.close_connection = True
        return True

    def _send_health(self) -> None:
        """Of the port 7997, where no one has to log in."""
        healthy = not self.server.unhealthy
        self.server.unhealthy -= not healthy
        self._send(200 if healthy else 503, {"Content-Type": "text/html"}, b"Healthy" if healthy else b"Unhealthy")

    def _endpoint(self) -> Callable[[], Answer]:
        method = self.headers.get("X-HTTP-Method-Override", self.command) if self.command == "POST" else self.command
        txid = self._path.removeprefix("/v1/transactions/")
        listed = self._path.removeprefix("/v1/values/")
        table: dict[tuple[str, str], Callable[[], Answer]] = {
            ("GET", "/admin/v1/timestamp"): self._timestamp,
            ("GET", "/v1/documents"): self._read,
            ("HEAD", "/v1/documents"): self._read,
            ("PUT", "/v1/documents"): self._write,
            ("POST", "/v1/documents"): self._write_many,
            ("PATCH", "/v1/documents"): self._patch,
            ("DELETE", "/v1/documents"): self._delete,
            ("POST", "/v1/search"): self._search,
            ("DELETE", "/v1/search"): self._delete_found,
            ("POST", f"/v1/values/{listed}"): lambda: self._values(listed),
            ("POST", "/v1/transactions"): self._begin,
            ("GET", f"/v1/transactions/{txid}"): lambda: self._status(txid),
            ("POST", f"/v1/transactions/{txid}"): lambda: self._end(txid),
            ("GET", "/v1/config/properties"): self._read_config,
            ("PUT", "/v1/config/properties"): self._write_config,
            ("POST", "/v1/eval"): self._eval,
            ("GET", _MANAGED): self._database_status,
            ("GET", f"{_MANAGED}/properties"): lambda: self._json(200, self.server.database.properties),
            ("PUT", f"{_MANAGED}/properties"): self._write_properties,
        }
        try:
            return table[method, self._path]
        except KeyError:
            raise RestError(404, "RESTAPI-NOTFOUND", f"the stub has no {method} {self._path}") from None

    def _database_status(self) -> Answer:
        given = self._allowed("format", "view")
        if given.get("view") != ["status"]:
            raise RestError(400, "MANAGE-INVALIDPARAM", "the stub has the view `status` only")
        return self._json(200, self.server.database.status())

    def _timestamp(self) -> Answer:
        return 200, {"Content-Type": "text/plain"}, datetime.now(UTC).isoformat().encode()

    def _read(self) -> Answer:
        given = self._allowed("uri", "category", "format", "txid")
        if given.get("category", ["content"]) != ["content"]:
            raise RestError(400, "REST-INVALIDPARAM", "the stub has no metadata to read")
        found = {uri: stored for uri in given["uri"] if (stored := self.server.database.read(uri, self._one("txid"))) is not None}
        if not found:
            uris = ", ".join(given["uri"])
            raise RestError(
                404, "RESTAPI-NODOCUMENT", f"(err:FOER0000) Resource or document does not exist:  category: content message: {uris}"
            )
        if len(given["uri"]) > 1 or "multipart/mixed" in self.headers.get("Accept", ""):
            return self._parts(found)
        ((_, stored),) = found.items()
        version = {"ETag": f'"{stored.version}"'} if self.server.database.policy.startswith("version-") else {}
        described = {"Content-Type": stored.type, "vnd.marklogic.document-format": _FORMATS.get(stored.type, "binary")}
        return 200, {**described, **version}, stored.content

    def _write(self) -> Answer:
        given = self._allowed("uri", "collection", "format", "category", "txid")
        type_ = self.headers.get("Content-Type", "").partition(";")[0] or _TYPES[given.get("format", ["binary"])[0]]
        if not self._body:
            raise RestError(400, "RESTAPI-EMPTYBODY", "Empty request body")
        created = self.server.database.write(
            given["uri"][0],
            self._body,
            type_,
            collections=given.get("collection"),
            match=self.headers.get("If-Match"),
            txid=self._one("txid"),
        )
        return (201, {"Location": f"/v1/documents?uri={given['uri'][0]}"}, b"") if created else (204, {}, b"")

    def _write_many(self) -> Answer:
        self._allowed("txid", "format")
        default: list[str] = []
        own: dict[str, list[str]] = {}
        written = []
        for part in split(self._body, self.headers.get("Content-Type", "")):
            if part.category != "content":
                collections = json.loads(part.content).get("collections", [])
                if part.uri is None:
                    default = collections
                else:
                    own[part.uri] = collections
                continue
            if part.uri is None:
                raise RestError(400, "REST-INVALIDPARAM", "the stub makes no URIs")
            collections = own.get(part.uri, default)
            self.server.database.write(
                part.uri, part.content, part.type, collections=collections, match=part.version, txid=self._one("txid")
            )
            written.append({"uri": part.uri, "mime-type": part.type, "category": ["metadata", "content"]})
        return self._json(200, {"documents": written}, {"vnd.marklogic.document-format": "json"})

    def _patch(self) -> Answer:
        given = self._allowed("uri", "category", "format", "txid")
        patch = json.loads(self._body)
        if set(patch) != {"patch"}:
            raise RestError(400, "RESTAPI-INVALIDREQ", f"the stub knows patches in XPath only; found {sorted(patch)}")
        self.server.database.patch(given["uri"][0], patch["patch"], match=self.headers.get("If-Match"), txid=self._one("txid"))
        return 204, {}, b""

    def _delete(self) -> Answer:
        given = self._allowed("uri", "check", "txid")
        must_exist = given.get("check") == ["exists"]
        for uri in given["uri"]:
            self.server.database.delete(uri, must_exist=must_exist, match=self.headers.get("If-Match"), txid=self._one("txid"))
        return 204, {}, b""

    def _search(self) -> Answer:
        given = self._allowed("format", "start", "pageLength", "category", "txid", "view", "collection", "directory")
        start, length = int(given.get("start", ["1"])[0]), int(given.get("pageLength", ["10"])[0])
        database = self.server.database
        seen = database.view(self._one("txid"))
        found = Search(seen, database.usable_indexes(), json.loads(self._body or b"{}"))
        if "multipart/mixed" in self.headers.get("Accept", ""):
            return self._parts({uri: seen[uri] for uri in found.page(start, length)})
        return self._json(200, found.answer(start, length), {"vnd.marklogic.document-format": "json"})

    def _values(self, name: str) -> Answer:
        given = self._allowed("format", "view")
        database = self.server.database
        view = given.get("view", ["all"])[0]
        return self._json(200, values(database.view(None), database.usable_indexes(), name, json.loads(self._body), view))

    def _delete_found(self) -> Answer:
        given = self._allowed("collection")
        self.server.database.delete_collection(given["collection"][0])
        return 204, {}, b""

    def _begin(self) -> Answer:
        self._allowed("name", "timeLimit")
        txid = self.server.database.begin(self._one("name") or "")
        return 303, {"Location": f"/v1/transactions/{txid}", "Set-Cookie": "HostId=1; path=/"}, b""

    def _status(self, txid: str) -> Answer:
        self._allowed("format")
        return self._json(200, self.server.database.transaction_status(txid))

    def _end(self, txid: str) -> Answer:
        result = self._allowed("result")["result"]
        if result not in (["commit"], ["rollback"]):
            raise RestError(400, "REST-INVALIDPARAM", f"invalid result: {result}")
        self.server.database.end(txid, commit=result == ["commit"])
        return 204, {}, b""

    def _read_config(self) -> Answer:
        self._allowed("format")
        return self._json(200, {"update-policy": self.server.database.policy})

    def _write_config(self) -> Answer:
        self._allowed("format")
        wanted = json.loads(self._body)
        if set(wanted) != {"update-policy"}:
            raise RestError(400, "RESTAPI-INVALIDCONTENT", f"the stub has the property update-policy only; found {sorted(wanted)}")
        self.server.database.policy = wanted["update-policy"]
        return 204, {}, b""

    def _write_properties(self) -> Answer:
        self._allowed("format")
        self.server.database.set_properties(json.loads(self._body))
        return 204, {}, b""

    def _eval(self) -> Answer:
        self._allowed("txid")
        script = parse_qs(self._body.decode()).get("javascript", [""])[0]
        if script != "xdmp.version()":
            raise RestError(400, "XDMP-UNDFUN", f"the stub evaluates nothing but xdmp.version(); found {script[:80]}")
        body, type_ = join([({"Content-Type": "text/plain", "X-Primitive": "string"}, NUMBER.encode())])
        return 200, {"Content-Type": type_}, body

    def _parts(self, found: dict[str, Stored]) -> Answer:
        parts = []
        for uri, stored in found.items():
            version = f"; versionId={stored.version}" if self.server.database.policy.startswith("version-") else ""
            format_ = _FORMATS.get(stored.type, "binary")
            disposition = f'attachment; filename="{uri}"; category=content; format={format_}{version}'
            parts.append(({"Content-Type": stored.type, "Content-Disposition": disposition}, stored.content))
        body, type_ = join(parts)
        return 200, {"Content-Type": type_, "vnd.marklogic.document-format": "json"}, body

    def _allowed(self, *names: str) -> dict[str, list[str]]:
        """The parameters, if the endpoint knows them all."""
        if unknown := set(self._query) - {*names}:
            raise RestError(400, "REST-UNSUPPORTEDPARAM", f"the stub does not know {', '.join(sorted(unknown))} of {self._path}")
        return self._query

    def _one(self, name: str) -> str | None:
        return self._query.get(name, [None])[0]  # type: ignore[list-item]

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> Answer:
        return status, {"Content-Type": "application/json; charset=utf-8", **(headers or {})}, json.dumps(value).encode()

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            chunks = []
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(chunks)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()
