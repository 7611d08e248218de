"""A container is started, killed, paused and stopped; its data and its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.cleanup.workdir import WorkDir
from storeproof.contract import Unknown
from storeproof.disk.methods import PowerCutMethod
from storeproof.errors import NotAvailable, StoreDied
from storeproof.launch.container import ContainerHandle
from storeproof.spec import ContainerLaunch
from tests.launch.container.conftest import Make
from tests.launch.container.redis import IMAGE, REDIS, command, names, pinged
from tests.launch.small import request

pytestmark = pytest.mark.docker


@pytest.mark.parametrize("bound", [False, True], ids=["volume", "directory"])
def test_data_survives_kill_and_stop_and_the_port_is_asked_again(make: Make, tmp_path: Path, bound: bool) -> None:
    """Data survives a kill and a stop, and the address is that of the new port."""
    handle = make(base=tmp_path if bound else None)
    assert handle.start() > 0
    assert handle.address.host == "127.0.0.1"
    assert handle.image_digest is not None
    assert handle.image_digest.startswith("sha256:")
    assert [(each.kind, each.package) for each in handle.origins] == [("image", IMAGE)]
    assert command(handle.address, "SET", "a", "1") == "+OK\r\n"
    handle.kill()
    assert not handle.alive()
    handle.start()
    assert command(handle.address, "GET", "a") == "$1\r\n1\r\n"
    handle.stop()
    assert not handle.alive()
    handle.start()
    assert command(handle.address, "GET", "a") == "$1\r\n1\r\n"
    assert "Ready to accept connections" in handle.log_tail()
    assert (handle.data is not None) == bound
    handle.close()
    handle.close()
    assert list(tmp_path.iterdir()) == []


def test_after_a_power_cut_only_the_data_is_there(make: Make) -> None:
    """What the server left outside its data directory outlives a kill, and does not outlive a power cut."""
    script = (
        "ls /run; echo left > /run/server.lock; exec redis-server --protected-mode no --dir /data --appendonly yes --appendfsync always"
    )
    handle = make(REDIS.model_copy(update={"command": ("bash", "-c", script)}), power_cut=PowerCutMethod())
    handle.start()
    assert command(handle.address, "SET", "a", "1") == "+OK\r\n"
    handle.kill()
    handle.start()
    assert handle.log_tail().count("server.lock") == 1
    handle.cut_power()
    assert "server.lock" in handle.log_tail()  # of the one that has lost its power
    handle.start()
    assert command(handle.address, "GET", "a") == "$1\r\n1\r\n"
    assert "server.lock" not in handle.log_tail()


def test_a_directory_with_a_colon(make: Make, tmp_path: Path) -> None:
    """Bind mounts are not written with colons, so a data directory may contain one."""
    (tmp_path / "a:b").mkdir()
    handle = make(base=tmp_path / "a:b")
    handle.start()
    assert command(handle.address, "SET", "a", "1") == "+OK\r\n"
    assert handle.data is not None
    assert any(handle.data.iterdir())
    handle.close()
    assert list((tmp_path / "a:b").iterdir()) == []


def test_data_of_the_images_user_is_removed_by_a_container(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not run as root may not remove what the image's user wrote."""
    handle = make(base=tmp_path)
    handle.start()
    left = []
    remove = WorkDir.remove
    monkeypatch.setattr(WorkDir, "remove", lambda made: (left.append(made.data.exists()), remove(made)))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    handle.close()
    assert left == [False]
    assert names("volume") == set()


def test_port_is_open_to_this_machine_only(make: Make) -> None:
    """The published port is bound to 127.0.0.1, not to the network."""
    handle = make()
    handle.start()
    bindings = handle._container.attrs["NetworkSettings"]["Ports"]["6379/tcp"]
    assert [each["HostIp"] for each in bindings] == ["127.0.0.1"]


def test_paused_container_is_silent_and_goes_on(make: Make) -> None:
    """A paused container does not answer, resumes, and can be killed and closed while paused."""
    handle = make()
    handle.start()
    handle.pause()
    with pytest.raises(Unknown):
        command(handle.address, "PING")
    handle.resume()
    pinged(handle.address)
    handle.pause()
    handle.kill()
    handle.start()
    handle.pause()
    handle.close()


def test_environment_and_files_reach_it(make: Make) -> None:
    """Environment and files are filled from the template, and the log shows no password."""
    launch = ContainerLaunch(
        image=IMAGE,
        port=6379,
        data="/data",
        command=("bash", "-c", "echo word $$WORD; cat /etc/small.conf; exec redis-server --protected-mode no"),
        environment={"WORD": "${password}-and-more"},
        files={"/etc/small.conf": "port=${port}\n${settings}\n"},
        setting=("${name}=${value}",),
        password="hunter22",
    )
    handle = make(launch)
    handle.start()
    log = handle.log_tail()
    assert "word ***-and-more" in log
    assert "port=6379\nappendonly=yes\nappendfsync=always" in log


def test_program_that_the_image_does_not_have(make: Make) -> None:
    """A command that the image lacks is a `StoreDied` that names the command."""
    handle = make(REDIS.model_copy(update={"command": ("no-such-server",)}))
    with pytest.raises(StoreDied, match=r"redis (could not be started|ended with exit status 127)(.|\n)*no-such-server"):
        handle.start()


def test_missing_image(tmp_path: Path) -> None:
    """An image that cannot be pulled is `NotAvailable`, with a remedy, and leaves no directory."""
    with pytest.raises(NotAvailable) as caught:
        ContainerHandle(request(REDIS, tmp_path, store="redis", probe=pinged, image="storeproof.invalid/redis:7"))
    image = "redis: the image storeproof.invalid/redis:7"
    assert caught.value.reason == f"{image} is not available locally and cannot be pulled: the registry is not reachable"
    assert caught.value.remedy == "docker pull storeproof.invalid/redis:7  # or name a local one: --image redis=LOCAL"
    assert list(tmp_path.iterdir()) == []


def test_other_image(make: Make) -> None:
    """`--image` replaces the image of the store's file."""
    handle = make(REDIS.model_copy(update={"image": "storeproof.invalid/redis:7"}), image=IMAGE)
    handle.start()
