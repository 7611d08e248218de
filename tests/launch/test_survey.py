"""What the doctor says: what runs here, and the command for the rest."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from storeproof.cli.doctor import doctor
from storeproof.errors import NotAvailable
from storeproof.launch import engine
from storeproof.launch.survey import survey
from storeproof.spec import load_spec


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine, no server binaries."""

    def refuse() -> None:
        raise NotAvailable("no container engine answers", "apt-get install docker.io && systemctl start docker")

    monkeypatch.setattr(engine, "client", refuse)
    monkeypatch.setattr("storeproof.launch.programs.shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("storeproof.launch.memory_disk.DEVICE", "/dev/no-such-device")


@pytest.mark.usefixtures("bare_machine")
def test_embedded_store_runs_on_a_bare_machine() -> None:
    found = survey(load_spec())
    assert not found.engine.ok
    assert [each.store for each in found.stores if each.runs] == ["sqlite"]


@pytest.mark.usefixtures("bare_machine")
def test_doctor_names_each_command_once_and_whole() -> None:
    out = io.StringIO()
    doctor(Console(file=out, width=60))
    text = out.getvalue()
    assert "1 of " in text
    assert text.count("apt-get install docker.io && systemctl start docker    # a container engine\n") == 1
    assert "  apt-get install redis-server    # redis (process)\n" in text
    assert "Power cuts by ext4: a power cut needs " in text
    assert text.count("    # power cuts by ext4\n") == 1
    assert "Power cuts by fuse: a power cut without a loop device " in text
    assert text.count("    # power cuts by fuse\n") == 1


def test_image_that_is_not_here_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    class Engine:
        def version(self) -> dict[str, object]:
            return {"Platform": {"Name": ""}, "Version": "20.10"}

    monkeypatch.setattr(engine, "client", Engine)
    monkeypatch.setattr(engine, "has_image", lambda image: image == "storeproof/redis")
    found = survey(load_spec())
    redis = next(each for each in found.stores if each.store == "redis")
    assert redis.container is not None
    assert redis.container.remedy == "docker pull redis:7.4, or --image redis=storeproof/redis"
    assert found.engine.detail == "Docker 20.10"
    taken = survey(load_spec(), {"redis": "storeproof/redis"})
    here = next(each for each in taken.stores if each.store == "redis").container
    assert here is not None
    assert here.ok
