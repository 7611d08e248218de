"""Two servers as one store: started together, struck together or alone, and removed together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storeproof.errors import NotAvailable, StoreDied
from storeproof.launch.handle import FaultMeans
from storeproof.launch.launcher import make
from storeproof.launch.request import LaunchRequest, PartRequest
from storeproof.launch.several.composite import CompositeHandle
from storeproof.machine.program_origin import interpreter
from storeproof.spec.store import Composite, Launch
from tests.launch.small import GREETS, eventually, gone, greeted, python_server, request


def composite(base: Path, home: str = GREETS, **fields: Any) -> LaunchRequest:
    """A request for two servers that greet."""
    parts = tuple(
        PartRequest(
            role=role, adapter=f"{role}_adapter", options={"of": role}, request=request(python_server(code), base, store=role, **fields)
        )
        for role, code in (("front", GREETS), ("home", home))
    )
    launch = Launch(composite=Composite(front="front", home="home"))
    return LaunchRequest(store="both", launch=launch, probe=greeted, settings={}, data_dir=base, parts=parts, **fields)


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[CompositeHandle]:
    made = make(composite(tmp_path), lambda _: None)
    assert isinstance(made, CompositeHandle)
    yield made
    made.close()


def test_both_start_and_their_addresses_are_parts_of_one(handle: CompositeHandle) -> None:
    """With the adapter and the options of each, and a file for the layer's locks."""
    assert handle.start() > 0
    address = handle.address
    assert [(part.role, part.adapter, part.options) for part in address.parts] == [
        ("front", "front_adapter", {"of": "front"}),
        ("home", "home_adapter", {"of": "home"}),
    ]
    assert len({part.address.port for part in address.parts}) == 2
    assert address.port == address.parts[1].address.port
    assert Path(address.locks).exists()
    for part in address.parts:
        greeted(part.address)
    assert (handle.kind, handle.initialised, len(handle.pids)) == ("process", True, 2)
    assert " over " in (handle.binary_digest or "")
    assert list(handle.origins) == [replace(interpreter(), role=role) for role in ("front", "home")]


def test_a_kill_strikes_both_and_a_start_brings_both_back(handle: CompositeHandle) -> None:
    """As a clean stop does; what runs is not started again."""
    handle.start()
    pids = list(handle.pids)
    handle.kill()
    assert all(map(gone, pids))
    assert not handle.alive()
    handle.start()
    handle.stop()
    assert not handle.alive()
    handle.start()
    with pytest.raises(RuntimeError, match="both runs already"):
        handle.start_nowait()


def test_both_are_struck_at_the_same_moment(handle: CompositeHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither strike waits for the end of the other server."""
    both = threading.Barrier(2, timeout=60)
    for name in ("kill", "cut_power"):
        for part in handle.members:
            monkeypatch.setattr(part, name, both.wait)
        getattr(handle, name)()


@pytest.mark.parametrize("role", ["front", "home"])
def test_one_is_killed_alone_and_only_it_is_started_again(role: str, handle: CompositeHandle) -> None:
    """The other keeps its process; a server that does not run cannot be killed."""
    handle.start()
    before = {part.role: part.address for part in handle.address.parts}
    pids = set(handle.pids)
    handle.kill_nodes([role])
    assert not handle.alive()
    with pytest.raises(StoreDied):
        handle.check_alive()
    with pytest.raises(StoreDied):
        handle.kill_nodes([role])
    other = next(name for name in before if name != role)
    greeted(before[other])
    handle.start()
    assert handle.alive()
    assert len(pids & set(handle.pids)) == 1
    assert set(handle.nodes) == {"front", "home"}
    assert handle.cannot(FaultMeans.KILL_NODES) is None


def test_its_power_can_be_cut_only_if_that_of_both_can(handle: CompositeHandle) -> None:
    """The reason says whose disk it is."""
    assert str(handle.cannot(FaultMeans.CUT_POWER)) == "its home: its data is not on a disk whose power can be cut"


def test_a_kill_during_the_start_leaves_none_running(tmp_path: Path) -> None:
    """The home is killed while its data directory is initialised in another thread; the front is not started after that."""
    slow = python_server(GREETS, initialise=[["${python}", "-c", "import time; time.sleep(600)"]])
    whole = composite(tmp_path)
    front, _ = whole.parts
    home_request = request(slow, tmp_path, store="home")
    parts = (front, PartRequest(role="home", adapter="a", options={}, request=home_request))
    handle = CompositeHandle(
        LaunchRequest(store="both", launch=whole.launch, probe=greeted, settings={}, parts=parts), lambda each: make(each, lambda _: None)
    )
    died: list[StoreDied] = []

    def start() -> None:
        try:
            handle.start_nowait()
        except StoreDied as reason:
            died.append(reason)

    try:
        thread = threading.Thread(target=start)
        thread.start()
        assert eventually(lambda: any(tmp_path.glob("*/log")))
        assert eventually(lambda: bool(handle._parts["home"].pids))  # type: ignore[attr-defined]
        handle.kill()
        thread.join(30)
        assert died
        assert not any(part.alive() for part in handle._parts.values())
    finally:
        handle.close()


def test_it_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the directories of the servers nor that of the locks; also where the second server cannot be made."""
    monkeypatch.setattr("storeproof.launch.several.composite.default_base", lambda: tmp_path)
    handle = make(composite(tmp_path), lambda _: None)
    handle.start()
    pids = list(handle.pids)
    assert len(list(tmp_path.glob("storeproof-*"))) == 3
    handle.close()
    handle.close()
    assert list(tmp_path.iterdir()) == []
    assert all(map(gone, pids))
    missing = request(python_server(GREETS, binary="no-such-server"), tmp_path, store="front")
    whole = composite(tmp_path)
    parts = (PartRequest(role="front", adapter="a", options={}, request=missing), whole.parts[1])
    with pytest.raises(NotAvailable, match="no-such-server"):
        make(LaunchRequest(store="both", launch=whole.launch, probe=greeted, settings={}, parts=parts), lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_there_is_no_endpoint_of_it(tmp_path: Path) -> None:
    """The message says what to do instead."""
    with pytest.raises(NotAvailable, match="whose servers storeproof starts itself; leave out --endpoint"):
        make(composite(tmp_path, kind="endpoint"), lambda _: None)
