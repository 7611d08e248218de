"""Which way a store is launched, and what is said when none works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from storeproof.errors import NotAvailable, UsageError
from storeproof.launch.handle import FaultMeans, Handle
from storeproof.launch.launcher import make
from storeproof.launch.process import ProcessHandle
from storeproof.launch.request import LaunchOption, LaunchRequest
from storeproof.machine import container_engine
from storeproof.spec import ContainerLaunch, EndpointLaunch, Store
from tests.launch.small import GREETS, endpoint_probe, greeted, python_server, request

CONTAINER = ContainerLaunch(image="storeproof-tests/no-such-image:1", port=1, data="/data")
NO_ENGINE = NotAvailable("no container engine answers", "apt-get install docker.io && systemctl start docker")


def store(**ways: object) -> Store:
    """A store with these ways to launch it."""
    variant = {"guarantee": "volatile", "default": True}
    return Store.model_validate(
        {
            "format": "2.0",
            "store": "small",
            "title": "Small",
            "product": "Small",
            "adapter": "small",
            "launch": {name: way.model_dump() for name, way in ways.items()},  # type: ignore[attr-defined]
            "variants": {"plain": variant},
            "claims": {"models": ["row"], "capabilities": {}},
        }
    )


def start(store: Store, base: Path, kind: LaunchOption = "auto", endpoint: str | None = None, notices: list[str] | None = None) -> Handle:
    """Launch it."""
    aside = base.parent / f"{base.name}-spec"
    aside.mkdir(exist_ok=True)
    asked = LaunchRequest(
        store=store.name,
        launch=store.launch,
        probe=greeted,
        settings=store.variants["plain"].settings,
        kind=kind,
        endpoint=endpoint_probe(endpoint, store, aside) if endpoint else None,
        data_dir=base,
    )
    handle = make(asked, notices.append if notices is not None else lambda _: None)
    try:
        handle.start()
    except BaseException:
        handle.close()
        raise
    return handle


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise NO_ENGINE

    monkeypatch.setattr(container_engine, "client", refuse)


@pytest.mark.usefixtures("no_engine")
def test_auto_falls_through_to_the_binary_and_says_why(tmp_path: Path) -> None:
    """`auto` passes over an engine that does not answer, and reports the reason."""
    notices: list[str] = []
    handle = start(store(container=CONTAINER, process=python_server(GREETS)), tmp_path, notices=notices)
    assert handle.kind == "process"
    assert notices == [str(NO_ENGINE)]
    handle.close()


@pytest.mark.usefixtures("no_engine")
def test_nothing_works_names_every_reason_and_remedy(tmp_path: Path) -> None:
    """Where no launch works, the error has all reasons and all remedies."""
    missing = python_server(GREETS, binary="no-such-server", install="apt-get install small-server")
    with pytest.raises(NotAvailable) as caught:
        start(store(container=CONTAINER, process=missing), tmp_path)
    assert caught.value.reason == "no container engine answers; small: the program no-such-server was not found in PATH"
    assert caught.value.remedy == "apt-get install docker.io && systemctl start docker, or apt-get install small-server"


@pytest.mark.usefixtures("no_engine")
def test_container_that_was_asked_for_is_not_replaced(tmp_path: Path) -> None:
    """`--launch=container` does not fall back to the local binary."""
    with pytest.raises(NotAvailable, match="no container engine answers"):
        start(store(container=CONTAINER, process=python_server(GREETS)), tmp_path, "container")


def test_way_that_the_file_does_not_describe(tmp_path: Path) -> None:
    """A launch that the store's file does not describe names those that it does."""
    with pytest.raises(NotAvailable, match="small cannot be launched by container: its file describes process; --launch=process"):
        start(store(process=python_server(GREETS)), tmp_path, "container")


def test_failed_start_leaves_nothing(tmp_path: Path) -> None:
    """A server that fails to start leaves no directory after `close`."""
    with pytest.raises(Exception, match="exit status 1"):
        start(store(process=python_server("raise SystemExit(1)")), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def running(tmp_path: Path) -> ProcessHandle:
    handle = ProcessHandle(request(python_server(GREETS), tmp_path, store="other"))
    handle.start()
    return handle


ENDPOINT = EndpointLaunch(url="small://user:password@localhost:1234/0")


def test_endpoint_is_taken_first_and_never_harmed(running: ProcessHandle, tmp_path: Path) -> None:
    """`auto` prefers a given endpoint, and every fault and `close` leave it alone."""
    offered = store(container=CONTAINER, process=python_server(GREETS), endpoint=ENDPOINT)
    handle = start(offered, tmp_path, endpoint=f"small://me:secret@127.0.0.1:{running.address.port}/0")
    assert handle.kind == "endpoint"
    assert "secret" not in repr(handle.address)
    for capability in FaultMeans:
        assert "a server that storeproof did not start is never stopped" in str(handle.cannot(capability))
    for strike in (handle.kill, handle.stop, handle.pause, handle.resume):
        with pytest.raises(NotAvailable, match="a server that storeproof did not start is never stopped"):
            strike()
    handle.close()
    assert running.alive()
    running.close()


def test_endpoint_that_nobody_gave(tmp_path: Path) -> None:
    """`--launch=endpoint` without a URL is a usage error with an example."""
    with pytest.raises(UsageError, match=r"--endpoint small=small://user:password@localhost:1234/0"):
        start(store(endpoint=ENDPOINT), tmp_path, "endpoint")


def test_endpoint_without_a_port(tmp_path: Path) -> None:
    """A URL without a port is refused without showing its password."""
    with pytest.raises(UsageError, match="lacks a scheme, a host or a port") as caught:
        start(store(endpoint=ENDPOINT), tmp_path, endpoint="small://me:secret@127.0.0.1")
    assert "secret" not in str(caught.value)


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_it_is_said_what_a_server_of_ones_own_must_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store's file may say what an endpoint needs: the message has it beside the other ways, and so has that of a wrong endpoint."""
    monkeypatch.setattr("storeproof.launch.endpoint._ANSWER_SECONDS", 0.2)
    demanding = ENDPOINT.model_copy(update={"needs": "an index, and port 5"})
    own = r"--endpoint=small=small://user:password@localhost:1234/0, a server of yours \(an index, and port 5\)"
    with pytest.raises(NotAvailable, match=f"systemctl start docker, or {own}"):
        start(store(container=CONTAINER, endpoint=demanding), tmp_path)
    with pytest.raises(UsageError, match=r"check the endpoint, which looks like .*localhost:1234/0 \(an index, and port 5\)"):
        start(store(endpoint=demanding), tmp_path, endpoint="small://127.0.0.1:1")


def test_endpoint_where_nobody_answers(running: ProcessHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint where nothing listens is a usage error that names the address."""
    monkeypatch.setattr("storeproof.launch.endpoint._ANSWER_SECONDS", 0.2)
    port = running.address.port
    running.close()
    silence = rf"small at 127.0.0.1:{port} did not answer within 0.2 s \(nothing listens on its port\); check the endpoint"
    with pytest.raises(UsageError, match=silence):
        start(store(endpoint=ENDPOINT), tmp_path, endpoint=f"small://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('Get "https://a.internal:5000/v2/": dial tcp 10.1.2.3:5000: connection refused', "the registry is not reachable"),
        ("Get https://x/v2/: proxyconnect tcp: lookup proxy.corp on 10.0.0.2:53: no such host", "the registry is not reachable"),
        ("pull access denied for x/y, repository does not exist or may require 'docker login'", "denies access to this user"),
        ("manifest for redis:99 not found: manifest unknown", "the registry does not have it"),
        ("invalid reference format", "that is not a valid image name"),
        ("write /var/lib/docker/tmp/x: no space left on device", "the engine's disk is full"),
    ],
)
def test_engine_messages_are_told_without_addresses(message: str, words: str) -> None:
    """Messages of the engine are translated, and internal addresses never shown."""
    told = container_engine._in_plain_words(message)
    assert words in told
    assert "10." not in told


def test_container_module_does_not_load_the_docker_client() -> None:
    """It takes longer to load than a server to start; runs without containers do not pay for it."""
    told = "import sys, storeproof.launch.container; print(*{'docker', 'testcontainers'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.split() == []
