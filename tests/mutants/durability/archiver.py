"""Becomes `pg_receivewal`, which receives the log of a PostgreSQL server, syncs it and says so.

Run: `python archiver.py ADDRESS PORT ARGUMENT...`, where PORT is the server's; it waits for the server, without which the tool would end.
It listens on the next port and answers no one, since the services of a node are known by their ports.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time


def main(address: str, port: int, arguments: list[str]) -> None:
    """Does not return."""
    listener = socket.create_server((address, port + 1))
    listener.set_inheritable(True)
    # A server listens before it takes connections: one that recovers refuses them, and the tool would end.
    while subprocess.run(["pg_isready", "--quiet", f"--host={address}", f"--port={port}"], check=False).returncode != 0:
        time.sleep(0.05)
    os.execvp("pg_receivewal", ["pg_receivewal", *arguments])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
