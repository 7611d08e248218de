"""Who is named when something goes wrong, as a user sees it: adapters that time out, refuse, answer nonsense, or have a bug."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.running import leaves_nothing, start, store_file

pytestmark = pytest.mark.slow

_ADAPTER = """
from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Documents, SQLite, Values
from storeproof.contract import Refused, Unknown, Unsupported

calls = []

class Troubled(Values):
{methods}

class Store(SQLite):
    tables = {{**SQLite.tables, "value": Troubled}}

def connect(address, options):
    return Store(Link(address))
"""


@dataclass(frozen=True)
class Trouble:
    """A store with one trouble, and what must become of one case."""

    methods: str
    case: str
    outcome: str
    named: str | None
    spoiled: int
    says: str
    unclaimed: tuple[str, ...] = ()
    """Capabilities that this one does not claim."""


EXISTS = "capabilities.key_access.exists/001"
TROUBLES = {
    "slow-once": Trouble(
        "    def exists(self, key):\n        calls.append(key)\n        if len(calls) == 1:\n"
        "            raise Unknown('timed out after 5 s')\n        return super().exists(key)",
        *(EXISTS, "pass", None, 1, "1 spoiled and repeated: the store is running but did not answer: timed out after 5 s"),
    ),
    "slow-always": Trouble(
        "    def exists(self, key):\n        raise Unknown('timed out after 5 s')",
        *(EXISTS, "inconclusive", "undetermined", 2, "the store is running but did not answer: timed out after 5 s"),
    ),
    "refusing": Trouble(
        "    def exists(self, key):\n        raise Refused('not implemented')",
        *(EXISTS, "unsupported", "the store", 0, "the store refused: not implemented"),
        unclaimed=("key_access.exists",),
    ),
    "refusing-claimed": Trouble(
        "    def exists(self, key):\n        raise Refused('not implemented')",
        *(EXISTS, "fail", "the store", 0, "the store refused: not implemented"),
    ),
    "nonsense": Trouble(
        "    def get_many(self, keys):\n        return super().get_many(keys)[:-1]",
        *("capabilities.key_access.multi-get/001", "fail", "the store", 0, "get_many: the reply has one entry per key"),
    ),
    "bug": Trouble(
        "    def exists(self, key):\n        return self.nosuchthing(key)",
        *(EXISTS, "error", "the adapter", 0, "adapter error: exists raised AttributeError"),
    ),
    "uncleared": Trouble(
        "    def exists(self, key):\n        raise Unsupported('no such command')\n\n"
        "    def clear(self):\n        raise Refused('READONLY')",
        *(EXISTS, "unsupported", "the store", 0, "during clean-up: READONLY"),
        unclaimed=("key_access.exists",),
    ),
}

Outcomes = Mapping[str, Mapping[str, Mapping[str, Any]]]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """By trouble and case; all were tried in one run, and leave nothing behind."""
    folder = tmp_path_factory.mktemp("troubles")
    options = []
    for name, trouble in TROUBLES.items():
        adapter = folder / f"{name}.py"
        adapter.write_text(_ADAPTER.format(methods=trouble.methods))
        changes = [("store: sqlite\n", f"store: {name}\n"), ("adapter: sqlite\n", f"adapter: {adapter}\n")]
        changes += [("  capabilities:\n", f"  capabilities:\n    {capability}: false\n") for capability in trouble.unclaimed]
        options.append(f"--store={store_file(folder / f'{name}.yaml', *changes)}")
    done = start(folder / "run", *options, "--no-verify-settings", "-q", "-k", "exists/001 or multi-get/001", suites="correctness")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    leaves_nothing(folder / "run")
    return {store["store"]: {each["id"]: each for each in store["outcomes"]} for store in done.result["stores"]}


@pytest.mark.parametrize("name", TROUBLES)
def test_the_right_one_is_named(name: str, outcomes: Outcomes) -> None:
    """Each kind of trouble has its outcome, its culprit and its number of repeats."""
    trouble = TROUBLES[name]
    found = outcomes[name][trouble.case]
    assert (found["outcome"], found["named"], found["spoiled"]) == (trouble.outcome, trouble.named, trouble.spoiled), found["detail"]
    assert trouble.says in found["detail"]


_WARY = """
import os
from storeproof.adapters.sqlite import connect as reach
from storeproof.contract import Refused

def told():
    return "MINE_URL" in os.environ or "PGOPTIONS" in os.environ or os.path.isdir(os.path.expanduser("~"))

imported = told()

def connect(address, options):
    if imported or told():
        raise Refused("read_only is set in the environment")
    return reach(address, options)
"""


def test_the_users_environment_does_not_reach_the_client(tmp_path: Path) -> None:
    """Neither in the process of the run nor in those that put on the load."""
    (tmp_path / "wary.py").write_text(_WARY)
    changed = store_file(tmp_path / "wary.yaml", ("adapter: sqlite\n", "adapter: ./wary.py\n"))
    theirs = {"MINE_URL": "sqlite:///elsewhere", "PGOPTIONS": "-c default_transaction_read_only=on"}
    cases = {"sqlite:wal-full": ["stateful.single_key", "performance.single-get/0i/4c"]}
    done = start(tmp_path / "run", f"--store={changed}", "--engine=driver", "-q", cases=cases, environment=theirs)
    assert done.code == 0, done.said
    assert done.counted.get("pass") == 2, done.said


def test_one_timeout_does_not_end_the_cases_that_share_a_measurement(tmp_path: Path) -> None:
    """What answers weigh is measured once for all capabilities of a model: a timeout there was once 113 failures."""
    adapter = tmp_path / "slow.py"
    methods = "    def get_many(self, keys):\n        return super().get_many(keys)"
    text = _ADAPTER.format(methods=methods).replace('"value": Troubled', '"value": Troubled, "document": Slow')
    slow = (
        "class Slow(Documents):\n    def find(self, query):\n        calls.append(query)\n        if len(calls) == 1:\n"
        "            raise Unknown('timed out after 5 s')\n        return super().find(query)\n\nclass Store"
    )
    adapter.write_text(text.replace("class Store", slow))
    changed = store_file(
        tmp_path / "slow.yaml", ("store: sqlite\n", "store: slow\n"), ("adapter: sqlite\n", f"adapter: {adapter}\n"), whole=True
    )
    chosen = "pushdown and (filter or paging)"
    done = start(tmp_path, f"--store={changed}", "--no-verify-settings", "-q", "-k", chosen, suites="correctness", whole=True)
    assert done.code == 0, done.said
    assert sum(each["spoiled"] for each in done.outcomes.values()) == 1
    assert done.counted["pass"] > 20
