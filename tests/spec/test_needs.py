"""A needs file is checked whole: units, names, roles and candidates, each error with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from storeproof.errors import SpecError
from storeproof.spec.questions.needs import NeedsFile
from storeproof.spec.questions.read_needs import capabilities_of, needs_schema, read_needs
from tests.architecture.installed import CHECKOUT
from tests.shipped import SHIPPED
from tests.spec.test_schemas import undescribed

jsonschema = pytest.importorskip("jsonschema", reason="pip install -e '.[dev]'")

FILE = """\
format: "1.0"
decision: one-or-two
question: One store or two?
roles:
  sessions:
    model: single_key
    guarantee: process_crash
    lost_at_most: {power_loss: 1s, process_crash: 0}
    back_within: 10s
    must: [key_access, {any_of: [expiry.put-expiring, counters]}]
    load: {mix: [{operation: get, weight: 9}, {operation: put}], rate: 1000, p99_ms: 5}
candidates:
  a: {sessions: redis:aof-always}
machine: {cores: 4, memory: 8GiB}
costs: {host_per_month: 120, licence_per_month: {mongodb: 10}}
"""


def read(tmp_path: Path, text: str = FILE) -> NeedsFile:
    path = tmp_path / "needs.yaml"
    path.write_text(text)
    return read_needs(path, SHIPPED)


def test_spans_and_sizes_have_units(tmp_path: Path) -> None:
    """Without one, a number could be anything."""
    found = read(tmp_path)
    role = found.roles["sessions"]
    assert (role.back_within, role.lost_at_most) == (10.0, {"power_loss": 1.0, "process_crash": 0})
    assert isinstance(role.lost_at_most["power_loss"], float)
    assert isinstance(role.lost_at_most["process_crash"], int)
    assert found.machine is not None
    assert found.machine.memory == 8 << 30


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "back_within: 10s",
            "back_within: 10",
            "9: roles.sessions.back_within: found 10; allowed: a number with its unit, ms, s, min or h, as in `10s`",
        ),
        ("8GiB", "8", "14: machine.memory: found 8; allowed: a number with its unit, MiB or GiB, as in `8GiB`"),
        (
            "back_within: 10s",
            "isolation: snapshot",
            "9: roles.sessions.isolation: found 'snapshot' (did you mean `snapshot_isolation`?); allowed: read_committed, ",
        ),
        ("model: single_key", "model: single_kye", "6: roles.sessions.model: unknown model `single_kye`"),
        ("key_access,", "key_acess,", "10: roles.sessions.must.0: unknown capability `key_acess`"),
        ("expiry.put-expiring", "expiry.put-expirin", "10: roles.sessions.must.1.any_of.0: unknown capability `expiry.put-expirin`"),
        (
            "mix: [{operation: get, weight: 9}, {operation: put}]",
            "workload: row-get",
            "11: roles.sessions.load.workload: found row-get, of the model row; allowed: one of single_key",
        ),
        (
            "mix: [{operation: get, weight: 9}, {operation: put}]",
            "workload: rowget",
            "11: roles.sessions.load.workload: unknown workload `rowget`",
        ),
        (
            "mix: [{operation: get, weight: 9}, {operation: put}]",
            "workload: single-get-sizes, record: size-7",
            "11: roles.sessions.load.record: unknown variation `size-7`",
        ),
        ("mix: [{operation: get, weight: 9}, {operation: put}], ", "", "11: roles.sessions.load: allowed: either `workload` or `mix`"),
        (
            "sessions: redis:aof-always",
            "sessions: redis",
            "13: candidates.a.sessions: found 'redis'; allowed: a store with its variant, as in `redis:aof-always`",
        ),
        ("sessions: redis:aof-always", "sessions: redis:aof", "13: candidates.a.sessions: unknown variant of redis `aof`"),
        ("sessions: redis:aof-always", "sessions: redis:all", "13: candidates.a.sessions: found redis:all, which is "),
        ("a: {sessions: redis:aof-always}", "a: {}", "13: candidates.a: found none; allowed: a store for each role: sessions"),
        (
            "machine: {cores: 4, memory: 8GiB}\n",
            "",
            "14: costs: found prices of a machine; allowed: with `machine`, which says what it has",
        ),
        ("power_loss: 1s", "power_loss: soon", "8: roles.sessions.lost_at_most.power_loss"),
        ("power_loss: 1s", "power_loss: -1", "8: roles.sessions.lost_at_most.power_loss"),
    ],
)
def test_an_error_names_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    """What was found, and what is allowed."""
    assert old in FILE
    with pytest.raises(SpecError) as raised:
        read(tmp_path, FILE.replace(old, new))
    assert any(f"needs.yaml:{message}" in each for each in raised.value.problems), raised.value.problems


@pytest.mark.parametrize(
    "path", [CHECKOUT / "examples" / "one-store-or-two.yaml", CHECKOUT / "storeproof" / "cli" / "templates" / "needs.yaml.txt"]
)
def test_the_files_that_readers_begin_with_are_valid(path: Path) -> None:
    """The example, and the template of `storeproof needs init`."""
    assert len(read_needs(path, SHIPPED).roles) == 2


def marked(text: str) -> list[str]:
    """What an editor marks in a needs file."""
    checker = jsonschema.Draft202012Validator(json.loads(needs_schema()))
    return [f"{'.'.join(map(str, each.absolute_path))}: {each.message}" for each in checker.iter_errors(yaml.safe_load(text))]


def test_a_group_stands_for_what_is_decided() -> None:
    """A capability whose cases are all provisional is not demanded with its group, which no store could show; by its name it is."""
    names = capabilities_of("key_access", SHIPPED)
    assert "key_access.multi-put" in names
    assert "key_access.multi-insert" not in names
    assert capabilities_of("key_access.multi-insert", SHIPPED) == ("key_access.multi-insert",)


def test_the_schema_takes_what_the_reader_takes() -> None:
    """The example, the template and the file of these tests."""
    template = (CHECKOUT / "storeproof" / "cli" / "templates" / "needs.yaml.txt").read_text()
    for text in (FILE, template, *(path.read_text() for path in sorted((CHECKOUT / "examples").glob("*.yaml")))):
        assert marked(text) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("back_within: 10s", "back_within: 10"),
        ("power_loss: 1s", "power_loss: 1 day"),
        ("process_crash: 0", "process_crash: -1"),
        ("memory: 8GiB", "memory: 8"),
        ("redis:aof-always", "redis"),
        ("rate: 1000", "rates: 1000"),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(right: str, wrong: str, tmp_path: Path) -> None:
    """Units are in the text, and unknown fields are errors."""
    text = FILE.replace(right, wrong)
    assert text != FILE
    assert marked(text) != []
    with pytest.raises(SpecError):
        read(tmp_path, text)


def test_every_field_has_a_description() -> None:
    """Editors show it."""
    assert undescribed(json.loads(needs_schema())) == []
