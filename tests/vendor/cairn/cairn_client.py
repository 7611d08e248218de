"""The client of Cairn: one JSON array per line goes out, one JSON object per line comes back."""

import base64
import json
import socket


class RequestRefused(Exception):
    """The server did not execute the request."""


class Client:
    """One connection, without retries."""

    def __init__(self, host, port):
        self._socket = socket.create_connection((host, port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb")

    def close(self):
        self._replies.close()
        self._socket.close()

    def info(self):
        return self._ask("info")

    def get(self, collection, key):
        found = self._ask("get", collection, key)
        return None if found is None else base64.b64decode(found)

    def put(self, collection, key, value):
        self._ask("put", collection, key, base64.b64encode(value).decode())

    def delete(self, collection, key):
        return self._ask("delete", collection, key)

    def drop(self, collection):
        self._ask("drop", collection)

    def _ask(self, *words):
        self._socket.sendall(json.dumps(words).encode() + b"\n")
        line = self._replies.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the server closed the connection")
        reply = json.loads(line)
        if "refused" in reply:
            raise RequestRefused(reply["refused"])
        return reply["ok"]
