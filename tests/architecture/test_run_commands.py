"""Every line that storeproof prints to run the suites comes from `RunCommand`, and selects exactly the cases that it speaks of."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from storeproof.cli.new_store import new_store
from storeproof.conformance.rerun import command_of
from storeproof.conformance.verify import Verified
from storeproof.machine.mounts import mount_of
from storeproof.plugin.run_options import given_by
from storeproof.report.summary import print_summary
from storeproof.result.claims.judge import command_for, judge_claims
from storeproof.result.model import Result
from storeproof.run_command import RunCommand
from storeproof.site import costs
from storeproof.site.joined_results import JoinedResult
from storeproof.site.store_pages import repeat
from storeproof.spec.questions.analysis import JEPSEN, Analysis
from storeproof.store_under_test import Options, StoreUnderTest
from tests.architecture.installed import CHECKOUT
from tests.architecture.test_imports import modules
from tests.mini_edition.edition import mini_edition
from tests.mini_edition.inner_run import told
from tests.report.sample import sample_result
from tests.result.claimed import file_of, result
from tests.result.needs.needed import decided, judgement, known, needs
from tests.shipped import SHIPPED
from tests.site.made import sources

_WRITER = "storeproof.run_command"
_RECORDS = "storeproof.plugin.run"
"""Records what was typed, as it was typed."""
BOTH = ALONE, OTHER = ("sqlite:wal-full", "redis:aof-always")
GUARANTEES = tuple(f"durability.{name}" for name in SHIPPED.guarantees)
Chosen = Callable[[str], bool]
"""Whether a line speaks of a case."""


def sut(target: str, **given: Any) -> StoreUnderTest:
    """A store under test, of a run with these options."""
    (found,) = SHIPPED.targets([target])
    options = Options(SHIPPED.scales["smoke"], seed=3, given=RunCommand(**given))
    return StoreUnderTest(SHIPPED, found, options, lambda _: None)


def on_disks(target: str, folder: Path) -> str:
    """The line that repeats a case on both of two disks."""
    options = replace(sut(target).options, disks=dict.fromkeys(("one", "two"), folder))
    one, two = (StoreUnderTest(SHIPPED, each, options, lambda _: None) for each in options.on_disks(sut(target).target))
    return one.command("stateful.single_key/", [two])


def ran(command: str = "pytest suites/", **store: Any) -> Result:
    """A result of one store."""
    found = result(known(ALONE, **store), run="r1")
    draft = found.edition.model_copy(update={"version": SHIPPED.edition.version})
    return found.model_copy(update={"edition": draft, "run": found.run.model_copy(update={"scale": "smoke", "command": command})})


def is_one_of(*cases: str) -> Chosen:
    """A case with one of these ids, or of which one of these ids, with a `/` at the end, is the beginning."""
    return lambda case: any(case == each or (each.endswith("/") and case.startswith(each)) for each in cases)


SELECTIONS = {
    "test_guarantee and process_crash": "durability.process_crash",
    "across_faults and node_loss": "durability.linearizable/node_loss",
    "transfers_are_whole and partition": "durability.transfers/partition",
    "sessions_never_go_back and node_loss": "durability.sessions/node_loss",
    "survives_with_them and power_loss": "durability.metadata/power_loss",
    "test_corruption and flip": "durability.corruption/flip",
    "test_bootstrap and process_kill": "durability.bootstrap/process_kill",
    "test_full_disk": "durability.full_disk",
    "test_outage and crash": "performance.outage/crash",
    "stateful.place/": "stateful.place",
    "requests.product/": "requests.product",
}
"""With which the suites repeat a case, and its id."""


def lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[tuple[str, Chosen]]:
    """One of every kind, and the cases that it speaks of."""
    yield sut(ALONE, image=["redis=x"]).command(" or ".join(SELECTIONS)), is_one_of(*SELECTIONS.values())
    yield sut(ALONE).command("correctness or durability", [sut(OTHER)]), lambda case: not case.startswith("performance.")
    if mount_of(folder).filesystem != "tmpfs":
        yield on_disks(ALONE, folder), is_one_of("stateful.single_key")

    console = Console(width=200, record=True, file=(folder / "screen").open("w"))
    smoke = sample_result(scale="smoke")
    typed = "pytest suites/durability -q --store sqlite --power-cut=fuse --seed=3 -k flip"
    print_summary(smoke.model_copy(update={"run": smoke.run.model_copy(update={"command": typed})}), None, console)
    (following,) = re.findall(r"(?m)^next +(pytest .*?)(?:  |$)", console.export_text())
    yield following, lambda case: case.startswith("durability.")

    (source,) = sources(ran("pytest suites/ --cores=1 --memory=1GiB --store=sqlite -k flip", launch="process"))
    yield str(repeat(JoinedResult(source, source.result.stores[0]))), lambda _: True
    (source,) = sources(ran(launch="composite"))
    yield str(repeat(JoinedResult(source, source.result.stores[0]))), lambda _: True
    yield costs.command("sqlite"), is_one_of(*GUARANTEES, "stateful.single_key", "performance.single-put-distinct-100/")

    asked = needs(must=["key_access.put-get"], guarantee="process_crash")
    decision = decided(asked, known(ALONE, claimed="power_loss"))
    yield judgement(decision, "model").command, is_one_of("stateful.single_key")
    yield judgement(decision, "capability").command, is_one_of("capabilities.key_access.put-get/")
    yield judgement(decision, "guarantee").command, is_one_of(*GUARANTEES)
    place = decided(needs(model="place"), known(ALONE))
    yield judgement(place, "model").command, is_one_of("stateful.place")

    sides = {name: {"store": name, "variant": variant, "workload": "single-get"} for name, variant in (each.split(":") for each in BOTH)}
    compared = file_of({"a": sides["sqlite"], "b": sides["redis"], "reproduced": {"above": 1}}, conditions={"clients": 50})
    kept = file_of({"keeps": {"store": "redis", "variant": "aof-always", "guarantee": "process_crash"}})
    speed, promise = (command_for(file.claims[0], file.conditions_of(file.claims[0]), SHIPPED) for file in (compared, kept))
    yield speed, is_one_of(*GUARANTEES, "stateful.single_key", "performance.single-get/0i/50c")
    yield promise, is_one_of(*GUARANTEES)

    loss = {"kind": "durability", "after": ["process_crash", "power_loss"], "nodes": "one", "expected": "none", "tried_on": [ALONE]}
    analysis = {"format": "1.0", "analysis": "x", "title": "X", "source": f"{JEPSEN}x", "year": 2020, "store": "x", "versions": ["1"]}
    (reported,) = judge_claims([], [], SHIPPED, [Analysis.model_validate(analysis | {"reported": [loss]})]).anomalies
    yield reported.command, is_one_of("durability.process_crash", "durability.power_loss")

    claimed = cast(Verified, SimpleNamespace(result=ran(), store=ran(launch="process").stores[0].model_copy(update={"sources": {}})))
    yield str(RunCommand.read(" ".join(["pytest", *command_of(claimed, folder, folder, [])[5:]]))), lambda _: True

    new_store("shop", folder, embedded=True)
    yield capsys.readouterr().out.partition(", then: ")[2].splitlines()[0], lambda _: True


IDS = {
    **{case: RunCommand(keyword=case) for case in ("capabilities.key_access.put-get/001", "durability.bootstrap/power_cut")},
    "stateful.place": RunCommand(keyword="stateful.place/"),
    "performance.outage/pause": RunCommand(keyword="performance.outage/pause"),
    "durability.power_loss": RunCommand(keyword=f"suites/durability/test_guarantees.py::test_guarantee[{ALONE}-power_loss]"),
    "durability.process_crash": RunCommand(suites=[f"durability/test_guarantees.py::test_guarantee[{ALONE}-process_crash]"]),
}
"""By what a case is chosen: its id, with a `/` where others begin like it, beyond the scale too; its test, for `-k` and by itself."""


def test_every_line_selects_what_it_speaks_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No case more and none less, of the cases that there are for its stores at its scale; so do ids that are printed."""
    monkeypatch.chdir(CHECKOUT)
    printed = list(lines(tmp_path, capsys))
    whole = [str(replace(RunCommand.read(line), suites=(), keyword=None)) for line, _ in printed]
    pasted = {case: str(replace(command, store=[ALONE])) for case, command in IDS.items()}
    of_lines = selected_by({*whole, *pasted.values(), *(line for line, _ in printed)}, tmp_path / "lines.json", CHECKOUT)
    selected = {line: [(target, case) for target, case, _ in cases] for line, cases in of_lines.items()}
    for (line, speaks_of), every in zip(printed, whole, strict=True):
        expected = [(target, case) for target, case in selected[every] if speaks_of(case)]
        assert expected, line
        assert selected[line] == expected, line
    assert {case: selected[line] for case, line in pasted.items()} == {case: [(ALONE, case)] for case in pasted}


CRASH = f"test_guarantees::test_guarantee[{ALONE}-process_crash]"


def test_ids_that_are_printed_outside_a_checkout_are_taken_there(tmp_path: Path) -> None:
    """As arguments and by `-k`; whether all suites run, one folder of them or one file, a test has the same id."""
    test = f"storeproof.suites.durability.{CRASH}"
    rooms = ("storeproof.suites", "storeproof.suites.durability", "storeproof.suites.durability.test_guarantees")
    whole = [f"pytest --pyargs {room} --store={ALONE}" for room in rooms]
    pasted = [f"pytest '{test}' --store={ALONE}", f"pytest --pyargs storeproof.suites -k '{test}' --store={ALONE}"]
    selected = selected_by([*whole, *pasted], tmp_path / "lines.json", tmp_path)
    case = (ALONE, "durability.process_crash", test)
    assert [case in selected[line] for line in whole] == [True] * len(whole)
    assert [selected[line] for line in pasted] == [[case]] * len(pasted)


def selected_by(given: Collection[str], file: Path, folder: Path) -> dict[str, list[tuple[str, str, str]]]:
    """The target and the id of every case that each line selects in that folder, and the id of its test."""
    file.write_text(json.dumps([*given]))
    _, environment = told(mini_edition(), pages=True)
    command = [sys.executable, "-m", "tests.architecture.selected_cases", str(file)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        line: [(target, case, test) for target, case, test in cases]
        for line, cases in zip(given, json.loads(file.read_text()), strict=True)
    }


def test_a_case_is_repeated_on_its_disk(tmp_path: Path) -> None:
    """Of a run on two, a case of one is repeated there alone, and a comparison on both; the store is named once."""
    line = on_disks(ALONE, tmp_path)
    assert (line.count("--store="), line.count(f"--disk=one={tmp_path}"), line.count(f"--disk=two={tmp_path}")) == (1, 1, 1)
    options = replace(sut(ALONE, disk=[f"one={tmp_path}", "two=/x"]).options, disks={"one": tmp_path, "two": Path("/x")})
    alone = StoreUnderTest(SHIPPED, options.on_disks(sut(ALONE).target)[1], options, lambda _: None).command("a")
    assert re.findall("--disk=([^ ]+)", alone) == ["two=/x"]


def test_an_option_without_a_value_is_told_and_read() -> None:
    """One that is not given is in no line, and what comes after it is not its value."""
    line = str(RunCommand.given(Namespace(anatomy=True, store=[ALONE])))
    assert re.findall("--[a-z]+[^ ]*", line.replace("--pyargs ", "")) == [f"--store={ALONE}", "--anatomy"]
    assert RunCommand.read(f"pytest --anatomy suites/performance --store={ALONE}") == RunCommand(
        suites=("performance",), store=(ALONE,), anatomy=True
    )
    assert "anatomy" not in str(RunCommand.given(Namespace(anatomy=False)))


def test_what_a_case_is_repeated_with_is_about_its_store_and_has_no_password() -> None:
    """The options of the run's other stores would be refused, and its reports, proofs and profiles are its own."""
    given = {"endpoint": ["redis=redis://:s3cret@h:1", "etcd=http://h:2"], "image": ["sqlite=x"], "profile": ["cache"], "proof": ["p"]}
    line = sut(OTHER, **vars(given_by(Namespace(**given, launch="auto", report_dir="r", engine="wire")))).command("a or b")
    assert "--endpoint='redis=redis://:***@h:1' --engine=wire" in line
    assert re.findall("s3cret|etcd|sqlite|profile|proof=|report-dir|launch", line) == []


def second_writers(module: str, source: str) -> list[str]:
    """Texts of a module that begin a command line of pytest: `pytest ` at the beginning, or `pytest` as a word of a list."""
    if '"pytest' not in source:  # as ruff quotes texts
        return []
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare]
    return [f"{module}:{text.lineno}" for text in texts if re.match(r"pytest( |$)", str(text.value))]


def test_only_one_module_writes_command_lines() -> None:
    """Each writer knew its own part of the options, and most left out the edition."""
    found = [each for name, path in modules().items() if path.suffix == ".py" for each in second_writers(name, path.read_text())]
    assert [each for each in found if not each.startswith((f"{_WRITER}:", f"{_RECORDS}:"))] == []
    assert any(each.startswith(f"{_WRITER}:") for each in found), "the check finds the one that there is"
    assert second_writers("x", 'def f(store):\n    """pytest suites/"""\n    return f"pytest suites/ --store={store}"') == ["x:3"]
