"""Run the stub until it is interrupted: `python -m tests.stubs.marklogic --port 8000`."""

from __future__ import annotations

import argparse
import contextlib
import threading

from tests.stubs.marklogic import PRODUCT
from tests.stubs.marklogic.server import serving


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=PRODUCT)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--user", default="admin")
    parser.add_argument("--password", default="admin")
    given = parser.parse_args()
    with serving(given.user, given.password, given.port) as server, contextlib.suppress(KeyboardInterrupt):
        print(f"{PRODUCT} on 127.0.0.1:{server.port}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
