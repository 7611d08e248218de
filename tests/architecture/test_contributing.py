"""CONTRIBUTING is right: its recipes are taken out of the text and carried out as they stand there."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from storeproof.contract import Layout, load_adapter, supports
from storeproof.load.wire.request import WireProtocol
from storeproof.spec.store import TEMPLATE_NAMES
from tests.architecture.installed import CHECKOUT, lay_out, outcomes_of, run_pytest
from tests.mini_edition.edition import mini_edition
from tests.mini_edition.inner_run import told
from tests.shipped import SHIPPED

TEXT = (CHECKOUT / "CONTRIBUTING.md").read_text()
REFERENCE = (CHECKOUT / "docs" / "STORE_FILE.md").read_text()
_BLOCK = re.compile(r"^```\w+ (file|append)=(\S+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
BLOCKS = {(action, name): body for action, name, body in _BLOCK.findall(TEXT)}


def test_the_blocks_are_found() -> None:
    """Every block that the recipes refer to is in the text, and no other."""
    assert set(BLOCKS) == {
        ("file", "shelf.yaml"),
        ("file", "shelf.py"),
        ("file", "spec/capabilities/leases.yaml"),
        ("append", "spec/stores/sqlite.yaml"),
    }


def test_the_store_of_the_recipe_claims_what_its_adapter_has(tmp_path: Path) -> None:
    """Its file can be read, and each operation of a capability is in the adapter if, and only if, the capability is claimed."""
    for name in ("shelf.yaml", "shelf.py"):
        (tmp_path / name).write_text(BLOCKS["file", name])
    spec = SHIPPED
    (target,) = spec.targets([str(tmp_path / "shelf.yaml")])
    collection = load_adapter(target.store, target.file).Values(None, Layout("sp_1", spec.models["single_key"]))
    had = {
        name
        for name, capability in spec.capabilities.items()
        if name.startswith("key_access.") and capability.model == "single_key"
        if all(supports(collection, step.do) for case in capability.cases for step in case.steps)
    }
    assert had == {name for name in spec.capabilities if target.claims(name)}


def test_every_name_of_a_template_is_listed() -> None:
    """The table of template names has each of them with its meaning."""
    table = re.findall(r"^\| `\$\{([a-zA-Z.]+)\}` \| (.+) \|$", REFERENCE, flags=re.MULTILINE)
    assert dict(table) == TEMPLATE_NAMES


def test_every_protocol_of_the_wire_engine_is_listed() -> None:
    """The line on `wire:` names the protocols that the engine speaks."""
    (line,) = [line for line in REFERENCE.splitlines() if line.startswith("* `wire:`")]
    assert set(re.findall(r"`([a-z]+)`", line)) == set(get_args(WireProtocol))


def test_the_lines_of_the_lmdb_store_are_counted_right() -> None:
    """The text gives the length of the LMDB store's files."""
    (said,) = re.findall(r"a whole store over LMDB: (\d+) lines in two files", REFERENCE)
    assert int(said) == sum(len(path.read_text().splitlines()) for path in (CHECKOUT / "tests" / "vendor" / "lmdb").glob("lmdb*"))


def test_every_package_is_in_the_table() -> None:
    """Who looks for something finds the package that has it, and none that is gone."""
    _, _, table = TEXT.partition("| package of `storeproof/` |")
    rows = re.findall(r"^\| (`.+?) \|", table.partition("\n\n")[0], flags=re.MULTILINE)
    said = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    machinery = CHECKOUT / "storeproof"
    packages = {path.parent.name for path in machinery.glob("*/__init__.py") if not path.parent.is_symlink()}
    assert packages <= said
    assert said - packages <= {path.stem for path in machinery.glob("*.py")}


@pytest.mark.slow
def test_a_new_store_is_two_files(tmp_path: Path) -> None:
    """All three stages run, and nothing else of the project is touched."""
    for name in ("shelf.yaml", "shelf.py"):
        (tmp_path / name).write_text(BLOCKS["file", name])
    plugins, environment = told(mini_edition(), pages=True)
    line = ("--store=./shelf.yaml", "--report-dir=report", "--seed=1", "-k", "correctness or test_guarantee or performance")
    done = run_pytest(str(CHECKOUT / "suites"), *plugins, *line, cwd=tmp_path, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr

    outcomes = outcomes_of(tmp_path / "report")
    assert outcomes["settings.readback"]["outcome"] == "pass"
    assert outcomes["capabilities.key_access.put-get/001"]["outcome"] == "pass"
    assert outcomes["capabilities.key_access.count/001"]["outcome"] == "pass"
    assert outcomes["capabilities.fields.set-field/001"]["outcome"] == "unsupported"
    assert outcomes["capabilities.key_access.ordered-scan/001"]["outcome"] == "unsupported"
    assert outcomes["durability.process_crash"]["outcome"] == "pass"
    passed = Counter(outcome["stage"] for outcome in outcomes.values() if outcome["outcome"] == "pass")
    assert set(passed) == {"correctness", "durability", "performance"}

    (store,) = json.loads((tmp_path / "report" / "result.json").read_text())["stores"]
    # Not everybody may mount a file system: then the last rung is not proven.
    proven = "power_loss" if outcomes["durability.power_loss"]["outcome"] == "undeclared" else "process_crash"
    assert (store["store"], store["variant"], store["durability"]["proven"]) == ("shelf", "safe", proven)
    assert store["settings"] == {"journal_mode": "wal", "synchronous": "FULL"}
    measured = {measurement["workload"] for measurement in store["measurements"]}
    assert {"single-get", "single-put-distinct-100"} <= measured


@pytest.mark.slow
def test_a_new_capability_is_one_entry_and_every_store_is_asked(tmp_path: Path) -> None:
    """A capability is tried once its file is there, and passes as declared once a store claims it."""
    package = lay_out(tmp_path / "package")
    spec = package / "storeproof" / "spec" / "data"
    (spec / "capabilities" / "leases.yaml").write_text(BLOCKS["file", "spec/capabilities/leases.yaml"])
    try_leases = ("--pyargs", "storeproof.suites", "-k", "leases", "--report-dir=report")

    done = run_pytest(*try_leases, cwd=tmp_path, package=package)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes_of(tmp_path / "report")["capabilities.leases.hand-over/001"]["outcome"] == "undeclared"

    with (spec / "stores" / "sqlite.yaml").open("a") as store:
        store.write(BLOCKS["append", "spec/stores/sqlite.yaml"])
    done = run_pytest(*try_leases, cwd=tmp_path, package=package)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes_of(tmp_path / "report")["capabilities.leases.hand-over/001"]["outcome"] == "pass"
