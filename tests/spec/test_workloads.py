"""What a workload may ask and remove, and what is told of one that cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.records.keys import key_of
from storeproof.records.self_verifying import payload_bytes
from storeproof.spec.reading.source import read
from storeproof.spec.workload import WorkloadFile, fill_in
from tests.shipped import SHIPPED

WORKLOAD = """format: "2.0"
group: mine
workloads:
  - workload: browse
    kind: text-search
    title: Ask
    model: corpus
    mix:
      - {operation: find, request: {filter: [[], words, $word], limit: 10}}
      - {operation: put, keys: new}
      - {operation: delete, keys: oldest}
    preload: true
    clients: one
"""


def _told(directory: Path, old: str, new: str) -> str:
    assert old in WORKLOAD
    path = directory / "x.yaml"
    path.write_text(WORKLOAD.replace(old, new, 1))
    with pytest.raises(SpecError) as told:
        read(path, WorkloadFile)
    return str(told.value).replace(f"{directory}/", "")


def test_the_example_workload_is_valid(tmp_path: Path) -> None:
    """The base of the tests in this file has no error."""
    (tmp_path / "x.yaml").write_text(WORKLOAD)
    (workload,) = read(tmp_path / "x.yaml", WorkloadFile).workloads
    assert [mix.operation for mix in workload.mix] == ["find", "put", "delete"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("$word", "$wort", "x.yaml:9: workloads.0.mix.0.request: found $wort; allowed: $word, $language, $category"),
        ("words, $word]", "wordz, $word]", "x.yaml:9: workloads.0.mix.0.request: filter."),
        (", request: {filter: [[], words, $word], limit: 10}", ", keys: uniform", "workloads.0.mix.0: `find` needs a request and no keys"),
        ("put, keys: new", "put, keys: oldest", "x.yaml:10: workloads.0.mix.1.keys: `delete` takes the keys `oldest`"),
        ("keys: oldest", "keys: uniform", "x.yaml:11: workloads.0.mix.2.keys: `delete` takes the keys `oldest`"),
        ("put, keys: new", "put, keys: latest", "x.yaml:11: workloads.0.mix.2: removes new records"),
        ("keys: new", "keys: zipfain", "x.yaml:10: workloads.0.mix.1.keys: "),
        ("keys: new", "keys: new, distinct: 0.5", "x.yaml:11: workloads.0.mix.2: removes new records"),
        ("preload: true", "preload: false", "x.yaml:9: workloads.0.mix.0: takes loaded records, and none are loaded"),
        ("{operation: put, keys: new}", "{operation: put, keys: new}\n      - {operation: put, keys: uniform}", "the mix has two `put`"),
        ("clients: one", "clients: one\n    records: [{size: 100, fields: 3}]", "records.0: found size and fields; allowed: one of them"),
        ("clients: one", "clients: one\n    records: [{size: 100}, {size: 200}]\n    indexes: [0, 1]", "records: found several of both;"),
        ("clients: one", "clients: one\n    records: [{size: 99}, {size: 99, key_order: hashed}]", "records: found two that are alike;"),
        ("clients: one", "clients: one\n    records: [{size: 2}]", "records.0.size: found 2; allowed: 3 or more"),
        ("clients: one", "clients: one\n    records: [{sizes: {uniform: [3, 30]}}]", "sizes.uniform.0: found 3; allowed: 17 or more"),
        ("clients: one", "clients: one\n    preload_records: 0", "preload_records: found 0; allowed: more than 0"),
        ("put, keys: new", "put, keys: new, paths: [[a], [b]]", "workloads.0.mix.1.paths: get_fields, set_fields, "),
        ("put, keys: new", "set_fields, keys: uniform", "workloads.0.mix.1.paths: get_fields, set_fields, "),
        ("put, keys: new", "get_paths, keys: uniform, paths: [[a]]", "workloads.0.mix.1.paths: get_fields, set_fields, "),
        ("put, keys: new", "set_paths, keys: uniform, paths: [[a], [a]]", "workloads.0.mix.1.paths: get_fields, set_fields, "),
        ("put, keys: new", "put, path: ['*'], keys: new", "x.yaml:10: workloads.0.mix.1.path: found any field; allowed only with"),
        ("put, keys: new", "put, reads_first: true, keys: new", "x.yaml:10: workloads.0.mix.1.reads_first: needs one existing record"),
        ("put, keys: new", "get, reads_first: true, keys: uniform", "an operation that writes it: put, set_field, set_path"),
        ("put, keys: new", "put, reads_first: true, batch: 2, keys: uniform", "workloads.0.mix.1.reads_first: needs one existing"),
        ("put, keys: new", "put, length: 10, keys: new", "workloads.0.mix.1.length: `scan` needs a length; other operations have none"),
        ("put, keys: new", "scan, keys: uniform", "workloads.0.mix.1.length: `scan` needs a length"),
        ("put, keys: new", "scan, length: 100, keys: new", "x.yaml:10: workloads.0.mix.1.keys: `scan` starts at an existing record"),
        ("clients: one", "clients: one\n    pipelines: [4]\n    loop: open", "pipelines: found both; allowed: other pipelines in a closed"),
    ],
)  # fmt: skip
def test_one_error_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    """With file, line, field and reason."""
    told = _told(tmp_path, old, new)
    assert message in told
    assert "\n" not in told


def test_variables_of_a_request_are_filled_in() -> None:
    """At any depth, several in one text."""
    drawn = iter(["one", "two", "de"])
    request = {"filter": {"and": [[[], "any_word", "$word $word"], ["language", "eq", "$language"]]}, "limit": 10}
    assert fill_in(request, lambda _name: next(drawn)) == {
        "filter": {"and": [[[], "any_word", "one two"], ["language", "eq", "de"]]},
        "limit": 10,
    }


KEYS = ["new", "oldest", "uniform", "zipf", "zipfian", "latest", "sequential", "hotspot", "exponential"]


def test_a_misspelt_distribution_is_refused(tmp_path: Path) -> None:
    """With all that are allowed."""
    told = _told(tmp_path, "put, keys: new", "put, keys: zipfain")
    assert all(name in told for name in ["zipfain", *KEYS])


@pytest.mark.parametrize("keys", KEYS[2:])
def test_distributions_need_preloaded_records(tmp_path: Path, keys: str) -> None:
    """Each distribution is allowed where records are loaded, and nowhere else."""
    one = WORKLOAD.split("    mix:")[0] + f"    mix:\n      - {{operation: put, keys: {keys}}}\n    preload: true\n    clients: one\n"
    (tmp_path / "y.yaml").write_text(one)
    assert read(tmp_path / "y.yaml", WorkloadFile).workloads[0].mix[0].keys == keys
    (tmp_path / "y.yaml").write_text(one.replace("preload: true", "preload: false"))
    with pytest.raises(SpecError, match="takes loaded records"):
        read(tmp_path / "y.yaml", WorkloadFile)


def test_a_number_of_records_needs_preloaded_ones(tmp_path: Path) -> None:
    """A workload that loads none cannot say how many."""
    mix = "    mix: [{operation: put, keys: new}]\n    preload: true\n    preload_records: 1\n    clients: one\n"
    one = WORKLOAD.split("    mix:")[0] + mix
    (tmp_path / "y.yaml").write_text(one)
    assert read(tmp_path / "y.yaml", WorkloadFile).workloads[0].preload_records == 1
    (tmp_path / "y.yaml").write_text(one.replace("preload: true", "preload: false"))
    with pytest.raises(SpecError, match="preload_records: found a number of records, and none are loaded"):
        read(tmp_path / "y.yaml", WorkloadFile)


def test_the_same_ycsb_over_one_value() -> None:
    """Each core workload has a partner with the same shares and keys, whose update is a put of the whole value under YCSB's keys."""
    for letter in "abcdef":
        fields, value = (SHIPPED.workloads[f"ycsb-{name}"] for name in (letter, f"value-{letter}"))
        whole = [(mix.name, mix.weight, mix.keys, mix.length, mix.reads_first) for mix in value.mix]
        assert whole == [(mix.name, mix.weight, mix.keys, mix.length, mix.reads_first) for mix in fields.mix]
        assert {mix.operation for mix in value.mix} <= {"get", "put", "scan"}
        assert (value.clients, value.preload, value.model) == ("several", fields.preload, "single_key")
        (record,) = value.records
        model = record.applied(SHIPPED.models[value.model])
        assert key_of(model, 0) == key_of(SHIPPED.models[fields.model], 0) == "user6284781860667377211"
        assert payload_bytes(model) == payload_bytes(SHIPPED.models[fields.model]) == 1000
