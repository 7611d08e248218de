"""Runs a case of the suites on each log of a store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.mini_edition.edition import write_edition
from tests.mini_edition.inner_run import CHECKOUT, run_to_the_end, told

_CAPABILITIES: Final = (
    *("key_access.put-get", "key_access.delete", "key_access.multi-put"),
    *("expiry.put-expiring", "expiry.read", "indexes.nested", "filter.eq-text"),
)

Changes = Mapping[str, Mapping[str, Any]]
"""Of parts of the edition, by path."""


def outcomes(
    folder: Path, store: Path, suite: str, cases: Mapping[str, Sequence[str]], changes: Changes, *plugins: str, **claims: Any
) -> dict[str, dict[str, dict[str, Any]]]:
    """By log and case, what became of it.

    Args:
        folder: where it runs.
        store: the program, and its adapter.
        suite: a file of the suites of durability.
        cases: by log; the first log is the store's default.
        changes: of the edition.
        plugins: modules of pytest plugins.
        claims: what it claims besides reading and writing.
    """
    edition = write_edition(folder / "edition", _CAPABILITIES)
    for name, change in changes.items():
        file = yaml.safe_load((edition / name).read_text())
        for key, value in change.items():
            file[key] = {**file[key], **value} if isinstance(value, dict) else value
        (edition / name).write_text(yaml.safe_dump(file))
    (folder / "lies.yaml").write_text(yaml.safe_dump(_store(str(store), list(cases), claims)))
    arguments, environment = told(edition, pages=False, cases={f"lies:{log}": chosen for log, chosen in cases.items()})
    chosen = [str(CHECKOUT / "suites" / "durability" / suite), "--store=./lies.yaml:all", "-q", "--seed=1", "--report-dir=report"]
    more = [argument for plugin in plugins for argument in ("-p", plugin)]
    code, said = run_to_the_end([*chosen, *arguments, *more], folder, environment)
    assert code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), said
    stores = json.loads((folder / "report" / "result.json").read_text())["stores"]
    return {store["variant"]: {each["id"]: each for each in store["outcomes"] if each["id"] in cases[store["variant"]]} for store in stores}


def _store(program: str, logs: Sequence[str], claims: Mapping[str, Any]) -> Mapping[str, Any]:
    """The store's file: a variant for each log."""
    command = [program, "--data", "${data}", "--port", "${port}", "${settings}"]
    process = {"binary": "${python}", "install": "part of the tests", "command": command, "setting": ["--set", "${name}=${value}"]}
    return {
        "format": "2.0",
        "store": "lies",
        "title": "A store with a log",
        "product": "log store",
        "adapter": program,
        "wire": "embedded",
        "launch": {"process": process},
        "variants": {log: {"settings": {"lie": log}, "guarantee": "power_loss", "default": log == logs[0]} for log in logs},
        "claims": {"models": ["single_key"], "capabilities": {"key_access.put-get": True, "key_access.delete": True}, **claims},
    }
