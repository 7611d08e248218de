"""What answers at an endpoint may be anything: a child with limits looks first, and says in one line what it found."""

from __future__ import annotations

import dataclasses
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from storeproof.contract import Layout
from storeproof.errors import UsageError
from storeproof.launch.endpoint_probe import EndpointProbe
from storeproof.spec import SPEC_ROOT
from tests.end_to_end.running import wait_for
from tests.nuisance.ways import serve
from tests.shipped import SHIPPED

SPEC = SHIPPED
WORD = "s3cret-word"


def probe(store: str, url: str) -> EndpointProbe:
    """Of a store of the project, in its default variant."""
    described, file = SPEC.store(store)
    return EndpointProbe(url, file, described.default_variant, (), Layout("sp_probe", SPEC.models["single_key"]))


@contextmanager
def misbehaving(store: str, way: str) -> Iterator[int]:
    """A server that does; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def run() -> None:
            try:
                serve(store, way, listener)
            except OSError:  # closed, below
                return

        threading.Thread(target=run, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def complaint(store: str, port: int, seconds: float = 30, host: str = "127.0.0.1") -> str:
    with pytest.raises(UsageError) as problem:
        probe(store, f"{store}://{host}:{port}").check(f"{store} at x", seconds)
    return str(problem.value)


@pytest.mark.parametrize(
    ("store", "way", "message"),
    [
        ("redis", "a huge length", "redis at x answers, but not like such a store: its client takes more than 96 MB when we connect"),
        ("memcached", "a line without end", "memcached at x answers, but not like such a store: its client takes more than 96 MB when"),
        (
            "tarantool",
            "a huge length",
            "tarantool at x answers, but not like such a store: its client takes more than 96 MB when we connect",
        ),
        ("redis", "deep nesting", "when we connect: WrongReply: a reply that cannot be read: RecursionError: maximum"),
        (
            "postgresql",
            "an absurd version",
            r"version: it says that its version is (PostgreSQL \x1b[2J\x1b]0;owned\x07\u202e999",
        ),
        ("mariadb", "a long error", r"mariadb at x answers and refuses access: 1045: \x1b[2J\x1b]0;owned\x07\u202e999"),
    ],
)
def test_a_hostile_server_is_one_line(store: str, way: str, message: str) -> None:
    """A hostile answer becomes one printable line of bounded length."""
    with misbehaving(store, way) as port:
        told = complaint(store, port)
    assert message in told
    assert told.isprintable()
    assert len(told) < 600


def test_slow_and_silent_servers_are_given_up() -> None:
    """Each byte in time, and never a whole answer: no client's own limit ends that."""
    with misbehaving("redis", "slow bytes") as port:
        assert complaint("redis", port, 1) == "redis at x did not answer within 1 s (it accepts connections but does not answer)"


def test_a_name_that_cannot_be_resolved_is_said() -> None:
    """A host name that does not resolve has a message of its own."""
    told = complaint("redis", 6379, host="no-such-host.invalid")
    assert told.startswith("redis at x cannot be reached: the name of its host cannot be resolved (")


def test_an_adapter_that_ends_the_process_is_said(tmp_path: Path) -> None:
    """An adapter that calls sys.exit is reported, not taken for success."""
    file = tmp_path / "mine.yaml"
    file.write_text((SPEC_ROOT / "stores" / "redis.yaml").read_text().replace("adapter: redis", "adapter: ./mine.py"))
    (tmp_path / "mine.py").write_text("import sys\n\ndef connect(address, options):\n    print('{}')\n    sys.exit(0)\n")
    with misbehaving("redis", "echo") as port, pytest.raises(UsageError, match="when we connect: SystemExit: 0"):
        dataclasses.replace(probe("redis", f"redis://127.0.0.1:{port}"), file=file).check("x", 5)


def test_a_server_that_the_client_does_not_know_how_to_use_is_said(tmp_path: Path) -> None:
    """The server and the client may both be right, and of unlike age."""
    file = tmp_path / "mine.yaml"
    file.write_text((SPEC_ROOT / "stores" / "redis.yaml").read_text().replace("adapter: redis", "adapter: ./mine.py"))
    (tmp_path / "mine.py").write_text(
        "from storeproof.contract import Unsupported\n\ndef connect(address, options):\n    raise Unsupported('wire version 8')\n"
    )
    with misbehaving("redis", "echo") as port, pytest.raises(UsageError, match="x answers, but its client cannot use it: wire version 8"):
        dataclasses.replace(probe("redis", f"redis://127.0.0.1:{port}"), file=file).check("x", 5)


@pytest.mark.parametrize("kind", ["Refused", "Unsupported", "Unknown", "ValueError"])
def test_a_client_that_says_the_password_is_not_repeated(tmp_path: Path, kind: str) -> None:
    """Whatever it raises, and also where the message is shortened in the middle of the password."""
    file = tmp_path / "mine.yaml"
    file.write_text((SPEC_ROOT / "stores" / "redis.yaml").read_text().replace("adapter: redis", "adapter: ./mine.py"))
    (tmp_path / "mine.py").write_text(
        "from storeproof.contract import Refused, Unknown, Unsupported\n\ndef connect(address, options):\n"
        f"    raise {kind}(f'{{address.password}} {{address.password.encode()}}'.ljust(295) + address.password)\n"
    )
    with misbehaving("redis", "echo") as port, pytest.raises(UsageError) as told:
        dataclasses.replace(probe("redis", f"redis://:{WORD}@127.0.0.1:{port}"), file=file).check("x", 1)
    assert "***" in str(told.value)
    assert WORD[:4] not in str(told.value)


def test_others_see_no_password_and_the_child_has_a_limit() -> None:
    """A process that lists the others; and its limits in the kernel."""
    with misbehaving("redis", "says nothing") as port:
        run = threading.Thread(target=pytest.raises, args=(UsageError, probe("redis", f"redis://:{WORD}@127.0.0.1:{port}").check, "x", 2))
        run.start()

        def limited() -> list[psutil.Process]:
            children = psutil.Process().children()
            return [each for each in children if each.rlimit(psutil.RLIMIT_DATA)[0] != psutil.RLIM_INFINITY]

        (child,) = wait_for(limited)
        assert "storeproof.launch.endpoint_probe_child" in child.cmdline()
        assert WORD not in " ".join(child.cmdline()) + Path(f"/proc/{child.pid}/environ").read_text()
        assert child.rlimit(psutil.RLIMIT_DATA)[1] < 300 << 20
        assert child.rlimit(psutil.RLIMIT_CPU)[0] < 60
        run.join()
    assert not child.is_running()


@pytest.mark.servers
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_a_good_server_is_left_as_it_was(tmp_path: Path) -> None:
    """The probe writes to a real server and removes what it wrote."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    server = subprocess.Popen(
        [*("redis-server", "--port", str(port), "--save", "", "--dir", str(tmp_path)), *("--bind", "127.0.0.1", "--requirepass", WORD)],
        stdout=subprocess.DEVNULL,
    )
    try:
        probe("redis", f"redis://:{WORD}@127.0.0.1:{port}").check("redis at x", 20)
        import redis

        theirs = redis.Redis(port=port, password=WORD)
        assert theirs.keys() == []
        assert theirs.info("commandstats")["cmdstat_set"]["calls"] == 1, "it was written to"
    finally:
        server.kill()
        server.wait()
