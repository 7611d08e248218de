"""What the doctor says: what runs here, and the command for the rest."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from storeproof.cli.doctor import doctor
from storeproof.errors import NotAvailable
from storeproof.launch.doctor import survey
from storeproof.machine import container_engine
from storeproof.native_support import REMEDY
from tests.shipped import SHIPPED


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine, no server binaries."""

    def refuse() -> None:
        raise NotAvailable("no container engine answers", "apt-get install docker.io && systemctl start docker")

    monkeypatch.setattr(container_engine, "client", refuse)
    monkeypatch.setattr("storeproof.machine.programs.shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("storeproof.disk.fuse.DEVICE", "/dev/no-such-device")


@pytest.mark.usefixtures("bare_machine")
def test_embedded_store_runs_on_a_bare_machine() -> None:
    """Without an engine and server binaries, only the embedded store can run."""
    found = survey(SHIPPED)
    assert not found.engine.ok
    assert [each.store for each in found.stores if each.runs] == ["sqlite"]


@pytest.mark.usefixtures("bare_machine")
def test_doctor_names_each_command_once_and_whole() -> None:
    """A narrow terminal neither repeats nor wraps the commands."""
    out = io.StringIO()
    doctor(Console(file=out, width=60))
    text = out.getvalue()
    assert "1 of " in text
    assert text.count("apt-get install docker.io && systemctl start docker    # a container engine\n") == 1
    assert "  apt-get install redis-server    # redis (process): or a newer one: .ci/setup newest\n" in text
    rest = text.partition("To enable the rest")[2]
    composites = [each.store for each in survey(SHIPPED).stores if each.composite]
    assert composites
    assert not [each for each in composites if each in rest], "what enables a composite store enables the stores it consists of"
    assert "Power cuts by ext4: a power cut needs " in text
    assert text.count("    # power cuts by ext4\n") == 1
    assert "Power cuts by fuse: a power cut without a loop device " in text
    assert text.count("    # power cuts by fuse: ") == 1


CHECKOUT = Path(__file__).parents[2]


def remedies() -> list[tuple[str, str]]:
    """What the doctor would have one type on a machine that has nothing, each with its remark."""
    out = io.StringIO()
    doctor(Console(file=out, width=60))
    listed = out.getvalue().partition("To enable the rest")[2].splitlines()[1:]
    found = [(command.strip(), remark) for command, _, remark in (line.partition("    # ") for line in listed)]
    launches = [store.launch for store, _ in map(SHIPPED.store, SHIPPED.store_files)]
    lines = [each.install for launch in launches for each in (launch.process, launch.container) if each is not None and each.install]
    return found + [(command, remark) for command, _, remark in (line.partition("  # ") for line in (*lines, REMEDY))]


@pytest.mark.usefixtures("bare_machine")
def test_every_remedy_is_a_line_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be pasted into a shell, and what it names is there: scripts, clients, and images that a registry has."""
    monkeypatch.setattr(sys.modules["storeproof.contract.load_adapter"], "_is_installed", lambda requirement: False)
    found = remedies()
    assert "pip install 'psycopg[binary]>=3.2'" in dict(found)
    for command, _ in found:
        assert subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False).returncode == 0, command
        match command.split():
            case [".ci/setup", part]:
                assert f"setup_{part}()" in "".join((CHECKOUT / ".ci" / name).read_text() for name in ("setup", "products"))
            case ["docker", "pull", image]:
                assert not image.startswith("storeproof/"), f"{image} is built here; no registry has it"
            case ["pip", "install", "-e", checkout]:
                assert Path(checkout) == CHECKOUT
            case ["pip" | "apt-get", "install", *names]:
                assert "storeproof" not in names, "no index has it"
            case _:
                assert re.match(r"modprobe fuse$|sudo ", command), command


@pytest.mark.skipif(shutil.which("apt-cache") is None, reason="not Debian")
@pytest.mark.usefixtures("bare_machine")
def test_every_debian_package_of_a_remedy_exists() -> None:
    """Without a further package source, unless the remark names it."""
    wanted = {name for command, remark in remedies() if "source" not in remark for name in re.findall(r"apt-get install ([^&]+)", command)}
    names = {name for each in wanted for name in each.split()}
    assert {"redis-server", "memcached"} <= names
    listed = subprocess.run(["apt-cache", "show", "--no-all-versions", *sorted(names)], capture_output=True, text=True, check=False).stdout
    if not listed:
        pytest.skip("apt has no package lists: apt-get update")
    assert names <= set(re.findall(r"^Package: (\S+)$", listed, re.MULTILINE))


def test_image_that_is_not_here_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing image has the command that pulls it, or the local image that could replace it."""

    class Engine:
        def version(self) -> dict[str, object]:
            return {"Platform": {"Name": ""}, "Version": "20.10"}

    monkeypatch.setattr(container_engine, "client", Engine)
    monkeypatch.setattr(container_engine, "has_image", lambda image: image == "storeproof/redis")
    found = survey(SHIPPED)
    redis = next(each for each in found.stores if each.store == "redis")
    assert redis.container is not None
    assert redis.container.remedy == "docker pull redis:7.4  # or --image redis=storeproof/redis, which is available"
    assert found.engine.detail == "Docker 20.10"
    taken = survey(SHIPPED, {"redis": "storeproof/redis"})
    here = next(each for each in taken.stores if each.store == "redis").container
    assert here is not None
    assert here.ok
