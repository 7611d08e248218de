"""An image whose main process outlives its server, as MarkLogic's: the engine's stop is a kill, and a running container shows nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from storeproof.errors import StoreDied
from storeproof.spec import ContainerLaunch
from tests.launch.container.conftest import Make
from tests.launch.container.redis import IMAGE, command
from tests.launch.small import eventually

pytestmark = pytest.mark.docker

SCRIPT = """
trap 'exit 0' TERM
redis-server --dir /data --save '' --daemonize yes --protected-mode no
{ sleep 0.3; touch /data/SET_UP; } &
tail -f /dev/null & wait
"""
"""It keeps nothing but what a clean stop saves, and is set up a moment after it answers."""
STOP = ("redis-cli", "shutdown", "save")
ALIVE = ("sh", "-c", "grep -qx redis-server /proc/[0-9]*/comm")
KILL = "for each in /proc/[0-9]*; do grep -qx redis-server $each/comm && kill -9 ${each#/proc/}; done"


def launch(**fields: object) -> ContainerLaunch:
    """The image, with what a store's file says of it."""
    return ContainerLaunch(image=IMAGE, port=6379, data="/data", command=("bash", "-c", SCRIPT.replace("$", "$$")), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(("stop", "kept"), [((), "$-1"), (STOP, "$1\r\n1")], ids=["by the engine", "by its own command"])
def test_a_clean_stop_is_the_servers_own_command(make: Make, stop: tuple[str, ...], kept: str) -> None:
    """The engine's stop kills the server, which then loses what it had not saved."""
    handle = make(launch(stop=stop))
    handle.start()
    command(handle.address, "SET", "a", "1")
    handle.stop()
    handle.start()
    assert command(handle.address, "GET", "a") == f"{kept}\r\n"


def test_a_command_that_does_not_stop_the_server_is_its_failure(make: Make) -> None:
    """A stop that fails is a `StoreDied` with the command and what it says."""
    handle = make(launch(stop=("sh", "-c", "echo cannot; exit 7")))
    handle.start()
    with pytest.raises(StoreDied, match=r"redis could not be stopped by sh -c .*: cannot"):
        handle.stop()


def test_a_stop_that_does_not_end_is_the_servers_failure(make: Make) -> None:
    """The command is given the time of a start; without a limit the run would hang."""
    handle = make(launch(stop=("sleep", "600")))
    handle.start()
    handle._launch = handle._launch.model_copy(update={"start_seconds": 1})
    with pytest.raises(StoreDied, match="redis was not stopped by sleep 600 within 1 s"):
        handle.stop()


def test_a_server_that_has_ended_in_a_container_that_runs_is_not_alive(make: Make) -> None:
    """The server is looked at, and not the container; both are started again."""
    handle = make(launch(alive=ALIVE))
    handle.start()
    assert handle.alive()
    handle._container.exec_run(["sh", "-c", KILL])
    assert eventually(lambda: not handle.alive())
    with pytest.raises(StoreDied, match="redis: its server has ended, and its container has not"):
        handle.check_alive()
    handle.start()
    assert handle.alive()
    handle.pause()
    assert handle.alive(), "a paused container cannot be asked"


def test_it_is_ready_when_the_image_has_set_it_up(make: Make, tmp_path: Path) -> None:
    """A server that answers before its image has set it up is not ready; the file tells whether a struck start got that far."""
    handle = make(launch(set_up="/data/SET_UP"), base=tmp_path)
    assert handle.initialised is False
    handle.start()
    assert handle.initialised is True
    volume = make(launch(set_up="/data/SET_UP"))
    volume.start()
    assert volume.initialised is None, "a volume of the engine cannot be looked into"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a directory away")
def test_a_directory_belongs_to_the_user_of_the_image(make: Make, tmp_path: Path) -> None:
    """A directory in place of the volume is given to the image's user."""
    handle = make(launch(owner=1000), base=tmp_path)
    assert handle.data is not None
    assert handle.data.stat().st_uid == 1000
