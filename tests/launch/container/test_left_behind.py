"""Nothing of a run is left behind, and nothing that is not ours is removed."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from storeproof.cleanup.registry import registry
from storeproof.cleanup.sweep import sweep_directories
from storeproof.cleanup.workdir import default_base
from storeproof.machine import container_engine
from storeproof.machine.owner import this_process
from tests.launch.container.conftest import Make
from tests.launch.container.redis import names
from tests.launch.small import WITHOUT_REAPER, WORK, eventually

pytestmark = pytest.mark.docker


def test_keep_leaves_container_and_volume_and_says_how_they_are_removed(make: Make, tmp_path: Path) -> None:
    """`--keep` keeps container and volume, and the command that it prints removes both."""
    handle = make(keep=True)
    handle.start()
    assert handle._dir is not None
    mark = handle._dir.root.name
    handle.close()
    told = registry.kept.pop()
    assert names() == names("volume") == {mark}
    subprocess.run(told.partition("remove them with: ")[2], shell=True, check=True, capture_output=True)
    assert names() == names("volume") == set()


def other_run(*, before: str = "") -> tuple[subprocess.Popen[str], str]:
    """Another run, with a container of its own; and the container's name."""
    code = f"""
        import signal, time
        from storeproof.launch.container import ContainerHandle
        from tests.launch.small import request
        from tests.launch.container.redis import REDIS, SETTINGS, pinged
        signal.signal(signal.SIGINT, signal.default_int_handler)
        {before}
        handle = ContainerHandle(request(REDIS, store="redis", probe=pinged, settings=SETTINGS))
        handle.start()
        print(handle._dir.root.name, flush=True)
        {WORK}
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def left(mark: str) -> list[str]:
    """What is left of the other run."""
    client = container_engine.client()
    found = [each.name for each in (*client.containers.list(all=True, ignore_removed=True), *client.volumes.list()) if each.name == mark]
    return found + [str(path) for path in Path(default_base()).glob(mark)]


def end(process: subprocess.Popen[str], number: signal.Signals) -> None:
    process.send_signal(number)
    process.wait(30)
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_signal_in_mid_run_leaves_nothing(number: signal.Signals) -> None:
    """SIGINT and SIGTERM remove container, volume and directory."""
    process, mark = other_run()
    assert len(left(mark)) == 3
    assert not [each for each in container_engine.sweep_containers() if mark in each]
    end(process, number)
    assert left(mark) == []


def test_our_own_sigkill_leaves_nothing() -> None:
    """After SIGKILL the reaper removes container, volume and directory."""
    process, mark = other_run()
    end(process, signal.SIGKILL)
    assert eventually(lambda: left(mark) == [], 20)


@pytest.mark.serial  # any other run on this machine sweeps too
def test_next_run_sweeps_what_a_dead_one_left() -> None:
    """Without a reaper a sweep removes what a killed run left."""
    process, mark = other_run(before=WITHOUT_REAPER)
    end(process, signal.SIGKILL)
    assert len(left(mark)) == 3
    assert container_engine.sweep_containers() == [
        f"removed container {mark}, left by a killed run",
        f"removed volume {mark}, left by a killed run",
    ]
    assert [Path(each).name for each in left(mark)] == [mark]
    sweep_directories(default_base())
    assert left(mark) == []


@pytest.mark.serial  # any other run on this machine sweeps too
def test_a_new_container_sweeps_what_a_dead_run_left(make: Make) -> None:
    """A handle that is made removes what killed runs left in the engine and in the default directory."""
    process, mark = other_run(before=WITHOUT_REAPER)
    end(process, signal.SIGKILL)
    make()
    assert left(mark) == []


@pytest.mark.serial  # any other run on this machine sweeps too
def test_sweep_leaves_what_is_not_ours() -> None:
    """A sweep keeps volumes without mark, of live owners, and of `--keep`."""
    client = container_engine.client()
    dead = str(replace(this_process(), start=1))
    others = {
        "storeproof-test-unmarked": {},
        "storeproof-test-unowned": {container_engine.LABEL: "1"},
        "storeproof-test-live": {container_engine.LABEL: "1", container_engine.OWNER_LABEL: str(this_process())},
        "storeproof-test-kept": {container_engine.LABEL: "1", container_engine.OWNER_LABEL: dead, container_engine.KEEP_LABEL: "1"},
    }
    volumes = [client.volumes.create(name, labels=labels) for name, labels in others.items()]
    try:
        assert container_engine.sweep_containers() == []
        assert {volume.name for volume in client.volumes.list()} >= set(others)
    finally:
        for volume in volumes:
            volume.remove()
