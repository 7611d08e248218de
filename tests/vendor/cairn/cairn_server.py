#!/usr/bin/env python3
"""Cairn: values under text keys, in memory, and in a log that is synced before a write is acknowledged."""

import argparse
import errno
import json
import os
import socketserver
import threading
import zlib
from pathlib import Path

VERSION = "1.4.2"


class Refusal(Exception):
    """The request was not executed."""


class Cairn:
    """All records by collection, and the log that they are read from at the start."""

    def __init__(self, folder, sync):
        self.sync = sync
        self.records = {}
        self.turn = threading.Lock()
        self.log = (folder / "log").open("a+b", buffering=0)
        self.recover()
        directory = os.open(folder, os.O_RDONLY)
        os.fsync(directory)  # or the log itself may be gone after a power cut
        os.close(directory)

    def recover(self):
        self.log.seek(0)
        whole = 0
        for line in self.log.read().splitlines(keepends=True):
            checksum, _, entry = line.partition(b" ")
            if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(entry):
                break  # the end of a write that was never acknowledged
            self.apply(json.loads(entry))
            whole += len(line)
        self.log.truncate(whole)
        os.fsync(self.log)
        self.length = whole

    def apply(self, entry):
        name, key, value = entry
        if key is None:
            self.records.pop(name, None)
        elif value is None:
            self.records.get(name, {}).pop(key, None)
        else:
            self.records.setdefault(name, {})[key] = value

    def write(self, *entry):
        line = json.dumps(entry).encode() + b"\n"
        line = b"%08x " % zlib.crc32(line) + line
        try:
            if self.log.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as reason:
            self.log.truncate(self.length)  # or what follows would be behind a torn line
            raise Refusal(reason.strerror) from None
        if self.sync == "always":
            os.fdatasync(self.log)
        self.length += len(line)
        self.apply(entry)

    def answer(self, command, *words):
        with self.turn:
            match command:
                case "info":
                    return {"server": "Cairn", "version": VERSION, "sync": self.sync}
                case "get":
                    name, key = words
                    return self.records.get(name, {}).get(key)
                case "put":
                    return self.write(*words)
                case "delete":
                    name, key = words
                    if key not in self.records.get(name, {}):
                        return False
                    self.write(name, key, None)
                    return True
                case "drop":
                    return self.write(words[0], None, None)


class Connection(socketserver.StreamRequestHandler):
    """One JSON array per line comes in, one JSON value per line goes out."""

    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            try:
                reply = {"ok": self.server.cairn.answer(*json.loads(line))}
            except Refusal as reason:
                reply = {"refused": str(reason)}
            self.wfile.write(json.dumps(reply).encode() + b"\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--sync", choices=["always", "never"], default="always")
    given = parser.parse_args()
    with Server(("127.0.0.1", given.port), Connection) as server:
        server.cairn = Cairn(given.dir, given.sync)
        server.serve_forever()
