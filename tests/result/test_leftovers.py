"""What a killed run noted is read back, and nothing that another wrote there can have a collection of theirs removed."""

from __future__ import annotations

import json
from pathlib import Path

from storeproof.result.leftovers import NAME, read_left, words_for
from storeproof.spec import load_spec

MODEL = json.loads(load_spec().models["single_key"].model_dump_json())


def noted(folder: Path, *names: object) -> list[str]:
    entries = [{"store": "redis", "server": "127.0.0.1:6379/0", "name": name, "model": MODEL, "indexes": 0} for name in names]
    (folder / NAME).write_text(json.dumps(entries))
    return [each.name for each in read_left(folder)]


def test_a_collection_of_ours_is_named_with_what_removes_it(tmp_path: Path) -> None:
    assert noted(tmp_path, "sp_0a1b2c_17") == ["sp_0a1b2c_17"]
    assert "--endpoint redis=URL" in words_for(read_left(tmp_path))


def test_no_name_but_one_of_ours_counts(tmp_path: Path) -> None:
    assert noted(tmp_path, "users", "sp_0a1b2c_17*", "sp_0a1b2c_", "*", "", "../sp_0a1b2c_1", 7, None) == []


def test_what_is_no_note_of_ours_is_none(tmp_path: Path) -> None:
    assert read_left(tmp_path) == []
    for text in ("", "{}", "[1]", '[{"store": "redis"}]', "[" * 100_000):
        (tmp_path / NAME).write_text(text)
        assert read_left(tmp_path) == []
