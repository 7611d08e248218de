"""A host of a dict, for the tests: its functions fail in each way that there is."""

from __future__ import annotations

import time

from storeproof.embedded import Counted, Failure, serve


class Shelf(dict):  # type: ignore[type-arg]
    """The library: it has one writer at a time, and notices when it has two."""

    writing = False

    def close(self) -> None:
        print("closed", flush=True)


class Full(Exception):
    """The library's own."""


class Fuller(Full):
    """One that is not named."""


def put(shelf: Shelf, key: str, value: object) -> None:
    assert not shelf.writing, "two writers"
    shelf.writing = True
    time.sleep(0.002)
    shelf[key] = value
    shelf.writing = False


def slowly(shelf: Shelf, seconds: float) -> str:
    time.sleep(seconds)
    return "done"


def fail(shelf: Shelf, how: str) -> None:
    ways = {"full": Full("no room"), "fuller": Fuller("no room at all"), "own": Failure("unsupported", "not here")}
    raise ways.get(how, KeyError("x"))


def compact(shelf: Shelf) -> object:
    return shelf.get("command", f"REWRITE {len(shelf)}")


def count(shelf: Shelf) -> Counted:
    return Counted(["rows"], 7)


if __name__ == "__main__":
    functions = {each.__name__: each for each in (put, slowly, fail, compact, count)}
    functions |= {"get": Shelf.get, "strange": lambda shelf: object()}
    serve(lambda data, settings: Shelf(settings), functions, writes=("put",), errors={Full: "refused"})
