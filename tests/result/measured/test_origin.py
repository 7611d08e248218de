"""Whose server it was, as a result says it: what the machine found, held against the store's file."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from storeproof.machine.program_origin import ProgramOrigin, interpreter
from storeproof.result.assemble import assemble
from storeproof.result.json_file import result_from, written
from storeproof.result.measured.origin import OriginRecord, ProgramRecord, SupportRecord, origin_of
from storeproof.spec import Store, Target
from storeproof.spec.store import FRONT, HOME
from tests.report.sample import sample_result
from tests.result.records import SMALL, good_record

SOURCE = "https://example.org/mine"
MAKERS = {"deb": [{"package": "mined-*", "source": SOURCE}], "wheel": []}


def target(name: str = "mine", **more: Any) -> Target:
    """One variant of a store with these fields."""
    store = {
        "format": "2.5",
        "store": name,
        "title": name.title(),
        "product": name.title(),
        "adapter": name,
        "launch": {},
        "variants": {"only": {"guarantee": "volatile", "default": True}},
        "claims": {"models": ["single_key"], "capabilities": {}},
    }
    return Target(Store.model_validate(store | more), "only", Path(f"{name}.yaml"))


def until(*releases: str) -> dict[str, Any]:
    return {"source": SOURCE, "ends": dict.fromkeys(releases, "2025-07-31")}


@pytest.mark.parametrize(
    ("found", "makers"),
    [
        (ProgramOrigin("mined", "deb", "mined-core", "1"), True),
        (ProgramOrigin("mined", "deb", "mined", "1"), False),
        (ProgramOrigin("mined", "wheel", "mined-core", "1"), False),
        (ProgramOrigin("mined", "rpm", "mined-core", "1"), None),
        (ProgramOrigin("mined"), None),
        (interpreter(), None),
    ],
)
def test_a_build_is_the_makers_if_the_store_file_names_it(found: ProgramOrigin, makers: bool | None) -> None:
    """Another one of that kind is not; of a kind that the file does not name, and of what is not known, nothing is said."""
    (record,) = origin_of(target(makers_packages=MAKERS), "Mine 1.0", [found]).programs
    assert record == ProgramRecord(program=found.program, kind=found.kind, package=found.package, version=found.version, makers=makers)


def test_each_server_of_a_composite_store_is_held_against_its_own_file() -> None:
    """Its packages and its releases."""
    near = target("near", makers_packages=MAKERS, support=until("8"))
    far = target("far", makers_packages={"deb": []}, support=until("9"))
    parts = {FRONT: near, HOME: far}
    both = Target(target("both", product="Near over Far").store, "only", Path("both.yaml"), parts)
    found = ProgramOrigin("mined", "deb", "mined-core", "1")
    origin = origin_of(both, "Near over Far 8.2.3 over 9.1", [ProgramOrigin(**vars(found) | {"role": role}) for role in (FRONT, HOME)])
    assert [(each.role, each.makers) for each in origin.programs] == [("front", True), ("home", False)]
    assert [(each.title, each.release) for each in origin.support] == [("Near", "8"), ("Far", "9")]


def test_the_support_of_the_release_that_ran_is_in_the_result() -> None:
    """None where the file does not know the release; it has ended after its last day."""
    mine = target(support=until("6.0", "7.0"))
    (found,) = origin_of(mine, "Mine 6.0.5", []).support
    assert found == SupportRecord(title="Mine", release="6.0", ends=date(2025, 7, 31), source=SOURCE)
    assert found.ended("2025-08-01T00:00:00Z")
    assert not found.ended("2025-07-31T23:59:59Z")
    assert origin_of(mine, "Mine 8.0.1", []).support == origin_of(target(), "Mine 6.0.5", []).support == []


def test_what_was_found_is_in_the_result() -> None:
    """Of a store that was reached."""
    record = good_record()
    record.origins = [interpreter()]
    origin = assemble(record, [], SMALL).origin
    assert origin is not None
    assert [each.kind for each in origin.programs] == ["interpreter"]
    record.version = None
    assert assemble(record, [], SMALL).origin is None


def test_it_is_read_as_it_was_written() -> None:
    """And a result without it is read as one that does not say."""
    origin = OriginRecord(
        programs=[ProgramRecord(kind="image", package="mine:1", makers=None)],
        support=[SupportRecord(title="Mine", release="6.0", ends=date(2025, 7, 31), source=SOURCE)],
    )
    sample = sample_result()
    said = sample.model_copy(update={"stores": [sample.stores[0].model_copy(update={"origin": origin}), *sample.stores[1:]]})
    read = result_from(written(said).decode(), "result.json")
    assert [each.origin for each in read.stores[:2]] == [origin, None]


@pytest.mark.parametrize("source", ["javascript:alert(1)", "here", 'https://example.org/"'])
def test_a_source_is_an_address(source: str) -> None:
    """Pages link to it, and a result may be from anyone."""
    with pytest.raises(ValidationError):
        SupportRecord(title="Mine", release="6.0", ends=date(2025, 7, 31), source=source)
