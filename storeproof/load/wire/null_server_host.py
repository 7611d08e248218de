"""The process that a null server lives in. It prints its port, and ends when its input does: also where we are killed."""

from __future__ import annotations

import resource

from storeproof.native import NullServer


def main() -> None:
    """Serve until the input ends."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = NullServer()
    print(server.port, flush=True)
    server.serve()


if __name__ == "__main__":
    main()
