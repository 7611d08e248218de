"""A killed run's list of collections is read back; a forged list cannot get other collections removed."""

from __future__ import annotations

import json
from pathlib import Path

from storeproof.result.leftovers import NAME, read_left, words_for
from tests.shipped import SHIPPED

MODEL = json.loads(SHIPPED.models["single_key"].model_dump_json())


def noted(folder: Path, *names: object) -> list[str]:
    entries = [{"store": "redis", "server": "127.0.0.1:6379/0", "name": name, "model": MODEL, "indexes": 0} for name in names]
    (folder / NAME).write_text(json.dumps(entries))
    return [each.name for each in read_left(folder)]


def test_a_leftover_collection_is_reported_with_the_command_that_removes_it(tmp_path: Path) -> None:
    """It is read back from the list, and the message has the option for the next run."""
    assert noted(tmp_path, "sp_0a1b2c_17") == ["sp_0a1b2c_17"]
    assert "--endpoint redis=URL" in words_for(read_left(tmp_path))


def test_only_names_that_a_run_gives_are_read(tmp_path: Path) -> None:
    """Names with patterns, paths or other forms are ignored."""
    assert noted(tmp_path, "users", "sp_0a1b2c_17*", "sp_0a1b2c_", "*", "", "../sp_0a1b2c_1", 7, None) == []


def test_an_invalid_list_is_ignored(tmp_path: Path) -> None:
    """A missing file, other JSON, and JSON that is too deep."""
    assert read_left(tmp_path) == []
    for text in ("", "{}", "[1]", '[{"store": "redis"}]', "[" * 100_000):
        (tmp_path / NAME).write_text(text)
        assert read_left(tmp_path) == []
