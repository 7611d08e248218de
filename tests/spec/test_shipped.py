"""The specification that is shipped: all of it can be read, its ids stay, and it names no store."""

from __future__ import annotations

import inspect
import re
import shutil
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from storeproof.contract import OPERATIONS
from storeproof.contract.notation import answer_from, arguments_from
from storeproof.contract.operations import wrong_reply
from storeproof.contract.values import MISSING, Layout
from storeproof.load.engine import BATCH_FORM
from storeproof.spec import SPEC_ROOT, load_spec
from storeproof.spec.edition import edition_of
from storeproof.spec.kinds import FILES, RECORDS
from storeproof.spec.operation import OperationName
from tests.pace import processor_seconds, unit
from tests.shipped import SHIPPED

CASE_IDS = Path(__file__).with_name("case_ids.txt")
STEPS = [
    pytest.param(SHIPPED.models[capability.model], step, id=f"{name}/{case.id}-{number}")
    for name, capability in SHIPPED.capabilities.items()
    for case in capability.cases
    for number, step in enumerate((*case.steps, *case.after))
]


def test_every_shipped_store_is_valid() -> None:
    """In every variant."""
    assert {target.store.name for target in SHIPPED.targets(["all"])} == set(SHIPPED.store_files)


def test_a_cluster_runs_the_server_of_its_store() -> None:
    """Where one is started as a process, and not one that a file has inherited from another product."""
    for target in SHIPPED.targets(["all"]):
        store, alone = target.store, target.store.launch.process
        cluster = store.topologies.get(store.variants[target.variant].topology)
        if alone is not None and cluster is not None:
            assert alone.binary in {each.binary for each in cluster.services.values()}, f"{store.name}:{target.variant}"


def test_the_packages_of_the_stores_are_those_of_the_extra() -> None:
    """pyproject.toml and the store files ask for the same clients in the same versions, and the extra for nothing else."""
    project = tomllib.loads((SPEC_ROOT.parent / "pyproject.toml").read_text())["project"]
    base, extra = project["dependencies"], project["optional-dependencies"]["stores"]
    asked = {text for store, _ in map(SHIPPED.store, SHIPPED.store_files) for text in store.requires}
    assert asked - set(base) == set(extra)


def test_every_folder_of_the_specification_is_read() -> None:
    """No folder with YAML files is left out, and none is empty."""
    assert {path.parent.name for path in SPEC_ROOT.glob("*/*.yaml")} - set(RECORDS) == set(FILES)


def test_the_operations_are_those_of_the_contract() -> None:
    """The specification and the contract have the same names."""
    assert set(get_args(OperationName)) == set(OPERATIONS)


def test_every_capability_uses_its_operations() -> None:
    """Each listed operation is in one of its cases."""
    for name, capability in SHIPPED.capabilities.items():
        done = {step.do for case in capability.cases for step in (*case.steps, *case.after)}
        done |= {turn.do for case in capability.cases if case.interleaved for turn in case.interleaved.turns}
        assert set(capability.operations) <= done, name


@pytest.mark.parametrize(("model", "step"), STEPS)
def test_every_step_fits_its_operation(model, step) -> None:  # type: ignore[no-untyped-def]
    """Arguments in number and form, and an answer that the guard would let through."""
    operation = OPERATIONS[step.do]
    method = inspect.signature(getattr(operation.family, step.do))
    method.bind(None, *step.args)
    args = arguments_from(model, step.do, step.args)
    answers = step.alternatives.values() if step.alternatives is not None else [step.expect] if "expect" in step.model_fields_set else []
    answers = [*answers, *(step.between or ())]
    for written in [*answers] + ([MISSING] if step.missing else []):
        assert (
            wrong_reply(operation, Layout("c", model), args, written if written is MISSING else answer_from(model, step.do, written))
            is None
        )


def test_a_step_expects_an_answer_if_its_operation_has_one() -> None:
    """And at most one kind of answer."""
    silent = {"put", "put_many", "set_field", "set_fields", "put_expiring", "put_swept", "append", "create_index", "require"}
    silent |= {"follow", "leave_feed", "resume_feed", "save_search"}
    for name, capability in SHIPPED.capabilities.items():
        for case in capability.cases:
            for step in (*case.steps, *case.after):
                answers = ["expect" in step.model_fields_set, step.missing, step.between is not None, step.alternatives is not None]
                if not step.refused:  # that may be wanted of every operation, and be one of several alternatives
                    assert any(answers) != (step.do in silent), f"{name}/{case.id}: {step.do}"
                assert sum(answers) + (step.refused and step.alternatives is None and not step.missing) <= 1


def test_only_a_question_is_asked_again() -> None:
    """A write would be carried out again."""
    asked = [step.do for capability in SHIPPED.capabilities.values() for case in capability.cases for step in case.steps if step.within]
    assert asked
    assert not [operation for operation in asked if OPERATIONS[operation].writes]


def test_every_workload_can_be_measured() -> None:
    """Batches have a batch operation, paths a path operation, and models have the indexes."""
    for workload in SHIPPED.workloads.values():
        for mix in workload.mix:
            if mix.batch > 1:
                assert mix.operation in BATCH_FORM, workload.workload
            assert bool(mix.path) == mix.operation.endswith(("_path", "_field")), workload.workload
        assert max(workload.indexes) <= len(SHIPPED.models[workload.model].indexes), workload.workload


def test_case_ids_only_grow() -> None:
    """An id that was published stays: results of years ago must mean the same case."""
    published = CASE_IDS.read_text().split()
    shipped = [f"capabilities.{name}/{case.id}" for name, capability in SHIPPED.capabilities.items() for case in capability.cases]
    assert not set(published) - set(shipped), "ids were removed or renamed; they are never reused, so bring them back"
    assert published == sorted(published)
    new = sorted(set(shipped) - set(published))
    assert not new, f"new ids are published by adding them to {CASE_IDS.name}: {' '.join(new)}"


def test_every_demand_changes_the_edition(tmp_path: Path) -> None:
    """A change of any file changes it, except in stores, in claims and analyses that others published, and in sheets of devices."""
    root = tmp_path / "spec"
    for folder in FILES:
        shutil.copytree(SPEC_ROOT / folder, root / folder)
    before = edition_of(root)
    for path in sorted(root.glob("*/*.yaml")):
        text = path.read_bytes()
        path.write_bytes(text + b"\n")
        assert (edition_of(root) != before) is (path.parent.name not in ("stores", "claims", "analyses", "devices")), path
        path.write_bytes(text)
    assert edition_of(root) == before


def test_the_demands_name_no_store() -> None:
    """Only files of stores have product names, and published claims and analyses, which are about them."""
    products = {"marklogic", "couchbase", "aerospike"}
    for target in SHIPPED.targets(["all"]):
        products |= {target.store.name.lower(), target.store.title.lower(), target.store.product.lower()}
    words = re.compile(rf"\b({'|'.join(sorted(map(re.escape, products)))})", re.IGNORECASE)
    files = [path for path in SPEC_ROOT.rglob("*") if path.suffix in (".yaml", ".py", ".json")]
    files = [path for path in files if path.parent.name not in ("stores", "claims", "analyses", "judges", "disputes")]
    assert len(files) > 20
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if words.search(line)
    ]
    assert not found


@pytest.mark.serial
def test_reading_the_specification_is_quick() -> None:
    """Thirty units of processor time; 14 to 19 were seen."""
    assert min(processor_seconds(load_spec) for _ in range(3)) < 30 * unit()
