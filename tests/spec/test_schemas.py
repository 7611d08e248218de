"""The exported schemas: what an editor is told of a file agrees with what the loader takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from storeproof.spec.kinds import FILES, RECORDS, schemas
from storeproof.spec.loader import SPEC_ROOT
from storeproof.spec.reading.source import plain
from tests.spec.files import STORE, replaced

jsonschema = pytest.importorskip("jsonschema", reason="pip install -e '.[dev]'")


@cache
def exported() -> Mapping[str, Any]:
    """The schemas, by the folder or the kind of file."""
    return {Path(name).stem: json.loads(text) for name, text in schemas().items()}


def breaches(folder: str, path: Path) -> list[str]:
    """What an editor marks in a file."""
    checker = jsonschema.Draft202012Validator(exported()[folder])
    return [f"{'.'.join(map(str, each.absolute_path))}: {each.message}" for each in checker.iter_errors(plain(path))]


def undescribed(schema: Any, at: str = "") -> list[str]:
    """Fields without a description."""
    found = []
    if isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            if isinstance(field, dict) and not ({"description", "$ref", "const"} & field.keys()):
                found.append(f"{at}.{name}")
        for key, part in schema.items():
            found += undescribed(part, f"{at}.{key}")
    return found


@pytest.mark.parametrize("path", sorted(SPEC_ROOT.glob("*/*.yaml")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_shipped_file_matches_its_json_schema(path: Path) -> None:
    """An editor marks no error in it."""
    assert breaches(path.parent.name, path) == []


def test_required_fields_of_a_store_depend_on_extends(tmp_path: Path) -> None:
    """A file that extends another inherits them."""
    path = tmp_path / "x.yaml"
    path.write_text(replaced(STORE, "adapter: ./mine.py\n", ""))
    assert breaches("stores", path) == [": 'adapter' is a required property"]
    own = 'format: "2.0"\nextends: redis\nstore: mine\ntitle: Mine\nproduct: Mine\n'
    path.write_text(own + "launch: {process: {binary: mined}}\nvariants: {rdb: null}\n")
    assert breaches("stores", path) == []
    path.write_text(path.read_text().replace("binary:", "binry:"))
    assert any("binry" in breach for breach in breaches("stores", path))


def test_every_field_of_a_store_has_a_description() -> None:
    """Editors show it."""
    assert undescribed(exported()["stores"]["$defs"]["whole"]) == []


def test_every_schema_has_an_id() -> None:
    """It names the kind of file and the newest format of that kind."""
    wanted = {name: f"urn:storeproof:{name}:{kind.FORMAT[0]}.{kind.FORMAT[1]}" for name, kind in {**FILES, **RECORDS}.items()}
    assert {name: schema["$id"] for name, schema in exported().items()} == wanted
