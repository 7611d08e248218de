"""A file of the format before is refused by one message, which has the new names of its fields."""

# ruff: noqa: E501 - a message is one line

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.spec.base import SpecFile
from storeproof.spec.capability import CapabilityGroup
from storeproof.spec.kinds import FILES
from storeproof.spec.query import check_request
from storeproof.spec.store import Store
from storeproof.spec.workload import WorkloadFile
from tests.spec.files import CAPABILITIES, STORE, WORKLOADS, problems, replaced

BREACHES: list[tuple[str, type[SpecFile], str, str, str, str]] = [
    # id, kind, text, what is replaced, by what, the one line that is wanted
    (
        "format-of-the-old-names",
        Store,
        STORE,
        '"2.0"',
        '"1.0"',
        'x.yaml:1: format: found \'1.0\'; allowed: "2.0" or "2.1" or "2.2" or "2.3" or "2.4" or "2.5"; some fields have new names: `own_indexes` is now `auto_indexed`, `lasting_reads` is now `durable_reads`, `impostor` is now `reject_version_containing`, `answers` is now `ready`, `whole` is now `all_ready`',
    ),
    (
        "renamed",
        Store,
        STORE,
        "claims:",
        "claims:\n  lasting_reads: true",
        "x.yaml:19: claims.lasting_reads: `lasting_reads` is now called `durable_reads`: rename it",
    ),
    (
        "renamed-in-a-variant",
        Store,
        STORE,
        "    settings:",
        "    own_indexes: true\n    settings:",
        "x.yaml:14: variants.plain.own_indexes: `own_indexes` is now called `auto_indexed`: rename it",
    ),
    (
        "renamed-and-required",
        WorkloadFile,
        WORKLOADS,
        "preload:",
        "load:",
        "x.yaml:9: workloads.0.load: `load` is now called `preload`: rename it",
    ),
    (
        "capability",
        CapabilityGroup,
        CAPABILITIES,
        "    operations:",
        "    given: words\n    operations:",
        "x.yaml:8: capabilities.0.given: `given` is now called `dataset`: rename it",
    ),
]


@pytest.mark.parametrize(("kind", "text", "old", "new", "message"), [each[1:] for each in BREACHES], ids=[each[0] for each in BREACHES])
def test_an_old_name_is_told_with_the_new_one(tmp_path: Path, kind: type[SpecFile], text: str, old: str, new: str, message: str) -> None:
    """An old format, and an old field in the new format, are one message each, which says what to write."""
    assert problems(tmp_path, kind, replaced(text, old, new)) == [message]


def test_every_new_name_is_a_field() -> None:
    """What an old name is said to be called now exists in that kind of file, and the old name does not."""
    for kind in FILES.values():
        fields = _names(kind.model_json_schema())
        for old, new in kind.RENAMED.items():
            if (old, new) != ("nothing", "nulls"):  # part of a request, which YAML has as a plain value
                assert new in fields, (kind, new)
                assert old not in fields, (kind, old)


def test_an_old_word_in_a_request_is_told_with_the_new_one() -> None:
    """Sort keys are read after the file, and have the same message."""
    with pytest.raises(ValueError, match="`nothing` is now called `nulls`"):
        check_request("find", ({"sort": [["a", "asc", {"nothing": "first"}]]},))


def _names(schema: object) -> set[str]:
    """All field names in a JSON Schema."""
    if isinstance(schema, dict):
        own = set(schema.get("properties", {})) if isinstance(schema.get("properties"), dict) else set()
        return own.union(*map(_names, schema.values()))
    return set().union(*map(_names, schema)) if isinstance(schema, list) else set()
