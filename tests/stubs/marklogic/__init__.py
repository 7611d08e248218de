"""A stub for the MarkLogic REST API: the slice of it that the adapter uses, on documents in memory.

It was written from MarkLogic's documentation and from what its own clients send and expect. It shows that the adapter speaks
the protocol as those clients do; of the server itself it shows nothing, and it says so in its own name, by which no suite
takes it for MarkLogic. Run it by hand with `python -m tests.stubs.marklogic --port 8000`.
"""

from __future__ import annotations

PRODUCT = "storeproof stub for the MarkLogic REST API"
"""What it calls itself in the `Server` header of every answer; MarkLogic's says `MarkLogic`."""

NUMBER = "0.1"
"""What it answers to `xdmp.version()`."""


class RestError(Exception):
    """An answer that is an error, as the REST API words it."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = f"{code}: {message}"
