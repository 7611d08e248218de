"""The digest of a program: that of its bytes, read once, and again when it changes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from storeproof.machine import programs
from storeproof.machine.programs import digest_of


def test_it_is_the_sha256_of_the_bytes(tmp_path: Path) -> None:
    """As `sha256sum` prints it; also through a link."""
    (tmp_path / "server").write_bytes(b"first")
    (tmp_path / "link").symlink_to("server")
    wanted = f"sha256:{hashlib.sha256(b'first').hexdigest()}"
    assert digest_of(str(tmp_path / "server")) == digest_of(str(tmp_path / "link")) == wanted


def test_it_is_read_once_and_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade in the middle of a run is seen: by size, by time, or by what took its place."""
    read = []
    real = hashlib.file_digest
    monkeypatch.setattr(programs.hashlib, "file_digest", lambda file, name: read.append(file.name) or real(file, name))
    server = tmp_path / "server"
    server.write_bytes(b"first")
    before = digest_of(str(server))
    assert digest_of(str(server)) == before
    assert len(read) == 1
    server.write_bytes(b"other")
    os.utime(server, ns=(1, 1))
    assert digest_of(str(server)) != before
    assert len(read) == 2


def test_a_program_that_cannot_be_read_has_none(tmp_path: Path) -> None:
    """It may be run all the same, and is not cited."""
    assert digest_of(str(tmp_path / "nothing")) is None
    assert digest_of(str(tmp_path)) is None
