"""The option `wait` of Redis: which commands wait, and what a reply that is too small means; and commands in one MULTI, which cannot wait.
No server is needed."""

from __future__ import annotations

from typing import Any, Self

import pytest
from redis.exceptions import ExecAbortError, NoScriptError, ReadOnlyError, ResponseError

from storeproof.adapters.redis import connect
from storeproof.adapters.redis.link import RedisLink
from storeproof.adapters.redis.scripts import GET_MANY, PUT
from storeproof.contract import Address, Refused, Unknown, Unsupported


class Client:
    """Notes commands, and answers with the replies that the test gives it."""

    def __init__(self, *replies: Any) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self.replies = list(replies)

    def execute_command(self, *command: Any) -> Any:
        self.sent.append(command)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def link(client: Any, replicas: int = 1) -> RedisLink:
    """Over that client."""
    return RedisLink(client, replicas)


def test_a_write_is_followed_by_its_wait() -> None:
    """Reads and looks at the server are not; without the option nothing is."""
    client = Client("OK", 2)
    assert link(client, 2).run("SET", "k", "v") == "OK"
    assert client.sent == [("SET", "k", "v"), ("WAIT", 2, 1000)]
    for command in (("GET", "k"), ("INFO", "server"), ("CONFIG GET", "save"), ("PING",)):
        client = Client("reply")
        assert link(client).run(*command) == "reply"
        assert client.sent == [command]
    assert link(Client("OK"), 0).run("SET", "k", "v") == "OK"
    assert link(Client(), 0).options == {}
    assert link(Client(), 2).options == {"wait": "2"}


def test_scripts_that_write_wait_too() -> None:
    """Also the second attempt of one that the server had forgotten; one that only reads never does: a replica refuses to WAIT."""
    client = Client(1, 1)
    assert link(client).script(PUT, ["k"], ["f", "v"]) == 1
    assert [command[0] for command in client.sent] == ["EVALSHA", "WAIT"]
    client = Client([])
    link(client).script(GET_MANY, ["k"], [])
    assert [command[0] for command in client.sent] == ["EVALSHA"]
    client = Client(NoScriptError("NOSCRIPT"), 1, 1)
    assert link(client).script(PUT, ["k"], ["f", "v"]) == 1
    assert [command[0] for command in client.sent] == ["EVALSHA", "EVAL", "WAIT"]
    client = Client(NoScriptError("NOSCRIPT"), [])
    link(client).script(GET_MANY, ["k"], [])
    assert [command[0] for command in client.sent] == ["EVALSHA", "EVAL"]


@pytest.mark.parametrize(
    ("replies", "kind", "message"),
    [
        (("OK", 0), Unknown, "WAIT: 0 of 1 replicas have the write after 1000 ms"),
        (("OK", ResponseError("UNBLOCKED instance state changed")), Unknown, "WAIT: UNBLOCKED"),
        (("OK", ConnectionError("reset")), Unknown, "WAIT: reset"),
        ((ReadOnlyError("You can't write against a read only replica."),), Refused, "read only replica"),
    ],
    ids=["too-few", "unblocked", "lost", "read-only"],
)
def test_a_write_without_its_replicas_may_have_happened(replies: Any, kind: type[Exception], message: str) -> None:
    """Whatever WAIT says; only an error of the write itself is a refusal."""
    with pytest.raises(kind, match=message):
        link(Client(*replies)).run("SET", "k", "v")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"wait": "all"}, "the option `wait` is a number of replicas; found all"), ({"quorum": "1"}, "does not have these options: quorum")],
)
def test_a_wrong_option_is_refused(options: dict[str, str], message: str) -> None:
    """Before anything is sent."""
    with pytest.raises(Refused, match=message):
        connect(Address("127.0.0.1", 1), options)


class Line(Client):
    """A pipeline, which answers all that it was given at once."""

    def pipeline(self, *, transaction: bool) -> Self:
        assert transaction
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def execute_command(self, *command: Any) -> Any:
        self.sent.append(command)

    def execute(self, *, raise_on_error: bool) -> list[Any]:
        assert not raise_on_error
        if isinstance(self.replies[0], ExecAbortError):
            raise self.replies[0]
        return self.replies


READ_AND_WRITE = (("GET", "k"), ("SET", "k", "v"))


def test_a_multi_that_writes_cannot_wait() -> None:
    """It goes over another connection, on which WAIT would answer yes for nothing. One that only reads need not."""
    with pytest.raises(Unsupported, match="MULTI with SET over another connection than WAIT"):
        link(Line(b"v", "OK")).together(READ_AND_WRITE)
    assert link(Line(b"v")).together([("GET", "k")]) == [b"v"]
    client = Line(b"v", "OK")
    assert link(client, 0).together(READ_AND_WRITE) == [b"v", "OK"]
    assert client.sent == list(READ_AND_WRITE)


def test_a_multi_is_refused_as_a_whole_or_may_have_happened_in_part() -> None:
    """What fails while it runs stops nothing else of it; what fails before discards all of it."""
    with pytest.raises(Refused, match="discarded"):
        link(Line(ExecAbortError("discarded")), 0).together(READ_AND_WRITE)
    with pytest.raises(Unknown, match="a command of a MULTI failed after others had run: WRONGTYPE"):
        link(Line(ResponseError("WRONGTYPE"), "OK"), 0).together(READ_AND_WRITE)
    with pytest.raises(Refused, match="WRONGTYPE"):
        link(Line(ResponseError("WRONGTYPE")), 0).together([("GET", "k")])
