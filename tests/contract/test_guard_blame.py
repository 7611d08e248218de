"""The guard tells whose a reply is that has an impossible form: the server's or the adapter's; and what is neither's."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.contract import Breach, Layout, WrongReply
from tests.contract.models import DOCUMENT, HASH, RANKING, VALUE
from tests.contract.test_guard import ask


@pytest.mark.parametrize(
    ("layout", "operation", "answer", "kind"),
    [
        (HASH, "get_field", "$d.field1", WrongReply),  # seen: a server that stored the expression, and not what it means
        (HASH, "get_fields", [b"x"], WrongReply),
        (HASH, "get_fields", {"f": b"x"}, Breach),
        (DOCUMENT, "get_paths", [1, 2, 3], WrongReply),
        (RANKING, "get", {"a": float("nan")}, WrongReply),
        (RANKING, "top", [("a", 1.0), ("b",)], WrongReply),  # seen: a sorted set with its last score missing
        (VALUE, "get", "text", WrongReply),
        (VALUE, "get_many", [b""], WrongReply),
        (VALUE, "scan", [("a", b"")] * 3, WrongReply),
        (DOCUMENT, "find", [("a", {})] * 3, WrongReply),
        (VALUE, "count", 3.0, WrongReply),
        (VALUE, "walk", (None, [b"a"]), WrongReply),
        (VALUE, "delete", 1, Breach),
        (VALUE, "put", "OK", Breach),
        (VALUE, "get", bytearray(b""), Breach),
        (VALUE, "get_many", {"a": b"", "b": b""}, Breach),
        (VALUE, "walk", [], Breach),
        (DOCUMENT, "browse", [], Breach),
    ],
)
def test_the_data_is_the_servers_and_what_is_around_it_the_adapters(
    layout: Layout, operation: str, answer: Any, kind: type[Exception]
) -> None:
    """A wrong reply is the server's where it supplies the data, the adapter's where it makes the shape."""
    with pytest.raises((Breach, WrongReply)) as wrong:
        ask(layout, operation, answer)
    assert type(wrong.value) is kind


def test_a_shortage_of_the_machine_is_no_breach() -> None:
    """An OSError about a shortage passes unchanged."""
    short = OSError(24, "Too many open files")
    with pytest.raises(OSError, match="Too many open files") as passed:
        ask(VALUE, "get", short)
    assert passed.value is short


def test_an_adapter_that_ends_the_process_is_in_error_and_does_not() -> None:
    """A sys.exit in an adapter is a `Breach`."""
    with pytest.raises(Breach, match=r"get raised SystemExit: 3"):
        ask(VALUE, "get", SystemExit(3))
