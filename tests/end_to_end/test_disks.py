"""A run on two disks has each store twice, with the same cases, and a data sheet of each disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from storeproof.machine.mounts import mount_of
from storeproof.result.json_file import read_result
from tests.end_to_end.running import leaves_nothing, start


def test_two_directories_are_two_disks(tmp_path: Path) -> None:
    """Their names are in the result, on the screen and in the line that goes on; they are measured in the same blocks."""
    if mount_of(tmp_path).filesystem == "tmpfs":
        pytest.skip("the temporary directory is in memory, which is no disk")
    data = tmp_path / "data"
    for name in ("one", "two"):
        (data / name).mkdir(parents=True)
    done = start(
        tmp_path, f"--disk=one={data / 'one'}", f"--disk=two={data / 'two'}", "-k", "settings or stateful.single_key or single-put-distinct"
    )
    assert done.code == 0, done.said
    one, two = done.result["stores"]
    assert [each["disk"] for each in (one, two)] == ["one", "two"]
    assert _outcomes(one) == _outcomes(two)
    assert {"pass"} < set(_outcomes(one).values()), "and some are left out"
    assert one["measurements"]
    for store, other in ((one, "two"), (two, "one")):
        assert {tuple(each["interleaved_with"]) for each in store["measurements"]} == {(f"sqlite:wal-full@{other}",)}
    sheets = read_result(tmp_path / "report").environment.disks
    assert list(sheets) == ["one", "two"]
    for sheet in sheets.values():
        assert sheet.append is not None
        assert sheet.overwrite is not None
        assert sheet.append.p50 > 0
    assert "sqlite:wal-full@one" in done.said
    assert f"--disk=one={data / 'one'} --disk=two={data / 'two'}" in done.said
    assert "the disks one and two are directories of one file system" in " ".join(done.said.split())
    for name in ("one", "two"):
        assert list((data / name).iterdir()) == []
        (data / name).rmdir()
    leaves_nothing(tmp_path)


def _outcomes(store: dict[str, Any]) -> dict[str, str]:
    return {each["id"]: each["outcome"] for each in store["outcomes"]}
