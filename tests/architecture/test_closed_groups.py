"""Groups of checks that CI leaves out while their inputs are unchanged: whatever can change their verdict changes the checksum."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.architecture.installed import CHECKOUT

FILES = {
    ".ci/setup": "apt-get install redis-server",
    ".ci/images/redis/Dockerfile": "FROM scratch",
    "pyproject.toml": "[project]",
    "native/src/lib.rs": "fn main() {}",
    "spec/stores/redis.yaml": "store: redis",
    "adapters/redis.py": "import storeproof.contract",
    "storeproof/__init__.py": "",
    "storeproof/contract/__init__.py": "",
    "storeproof/plugin/__init__.py": "import storeproof.masking\ndef later():\n    import storeproof.report",
    "storeproof/masking.py": "",
    "storeproof/faults/kill.py": "",
    "storeproof/network/__init__.py": "def f():\n    from storeproof.network import rules",
    "storeproof/network/rules.py": "CHILD = 'storeproof.network.child'",
    "storeproof/network/child.py": "",
    "storeproof/network/rules.nft": "",
    "storeproof/report/__init__.py": "",
    "suites/test_capabilities.py": "",
    "reports/one/result.json": "{}",
    "README.md": "",
    "tests/__init__.py": "",
    "tests/conftest.py": "import tests.shared",
    "tests/shared.py": "",
    "tests/other.py": "",
    "tests/network/__init__.py": "",
    "tests/network/test_network.py": "from storeproof.network import f",
    "tests/network/expected.txt": "",
    "tests/suites/test_runs.py": "COMMAND = ['pytest', 'suites/']",
    "tests/pages/test_pages.py": "from storeproof import report\nPAGES = CHECKOUT / 'reports', CHECKOUT / 'README.md'",
}
"""A checkout in small."""

ALL_OF_THEM = {
    *(".ci/setup", ".ci/images/redis/Dockerfile", "pyproject.toml", "native/src/lib.rs", "storeproof/plugin/__init__.py"),
    *("storeproof/masking.py", "tests/conftest.py", "tests/shared.py"),
}
BY_NAME = {"spec/stores/redis.yaml", "adapters/redis.py", "storeproof/contract/__init__.py", "storeproof/faults/kill.py"}
NETWORK = {path for path in FILES if path.startswith(("storeproof/network/", "tests/network/"))}
PAGES = {"storeproof/report/__init__.py", "reports/one/result.json", "README.md", "tests/pages/test_pages.py"}
INPUTS = {
    "tests/network": ALL_OF_THEM | BY_NAME | NETWORK,
    "tests/suites": ALL_OF_THEM
    | {path for path in FILES if path.startswith(("storeproof/", "spec/", "adapters/", "suites/", "tests/suites"))},
    "tests/pages": ALL_OF_THEM
    | BY_NAME
    | {"storeproof/report/__init__.py", "reports/one/result.json", "README.md", "tests/pages/test_pages.py"},
}


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, loaded once for each test: it remembers the files that it has read."""
    described = importlib.util.spec_from_file_location("closed", CHECKOUT / ".ci" / "closed.py")
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    monkeypatch.setitem(sys.modules, "closed", module)
    monkeypatch.delenv("ALL_GROUPS", raising=False)
    described.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small one, as the working directory."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("folder", INPUTS)
def test_a_change_of_any_input_and_of_nothing_else_runs_a_group_again(closed: ModuleType, checkout: Path, folder: str) -> None:
    """What it imports at any distance, in functions too; what it starts and reads by name; what everything stands on."""
    group = closed.Group("it", (folder,))
    counted = {path for path in FILES if path.endswith("/__init__.py") or path in INPUTS[folder]}
    closed.passed({group: closed.checksum(group)})
    assert closed.changed([group]) == {}
    for path, text in FILES.items():
        (checkout / path).write_text(f"{text}\n# changed")
        closed._reached.cache_clear()
        noticed = bool(closed.changed([group]))
        assert noticed or path not in INPUTS[folder], f"{path} can change the verdict of {folder}"
        assert not noticed or path in counted, f"{path} cannot change the verdict of {folder}"
        (checkout / path).write_text(text)
    (checkout / folder / "test_more.py").write_text("")
    assert closed.changed([group])


def test_all_run_where_all_are_wanted(closed: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ALL_GROUPS, whatever they passed with; and one that is not written down."""
    group, other = closed.Group("it", ("tests/network",)), closed.Group("other", ("tests/pages",))
    closed.passed({group: closed.checksum(group)})
    assert set(closed.changed([group, other])) == {other}
    monkeypatch.setenv("ALL_GROUPS", "1")
    assert set(closed.changed([group, other])) == {group, other}


def test_a_group_of_which_a_test_was_skipped_has_not_passed(closed: ModuleType, checkout: Path) -> None:
    """As pytest tells it: a skipped test, a skipped module, and a group of which nothing ran."""
    cases = '<testcase classname="tests.network.test_network" name="test_a"/>'
    skipped = (
        '<testcase classname="tests.stubs.test_a" name="test_a"><skipped/></testcase><testcase classname="tests.stubs.test_b" name="b"/>'
    )
    module = (
        '<testcase classname="" name="tests.vendor.test_lmdb"><skipped/></testcase><testcase classname="tests.vendor.test_c" name="c"/>'
    )
    (checkout / "junit.xml").write_text(f"<testsuites><testsuite>{cases}{skipped}{module}</testsuite></testsuites>")
    groups = {closed.Group(name, (f"tests/{name}",)): "0" for name in ("network", "stubs", "vendor", "pages")}
    assert [group.name for group in closed.whole(groups, [checkout / "junit.xml"])] == ["network"]


@pytest.mark.slow
def test_every_group_has_inputs_of_this_checkout(closed: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every path and pattern of the table finds something; the store's trial in containers rests on what its suites load."""
    monkeypatch.chdir(CHECKOUT)
    for group in (*closed.TESTS, closed.NDB, closed.trial("redis", "container")):
        assert all(Path(path).exists() for path in group.tests), group.name
        assert all(any(Path().glob(pattern)) for pattern in group.files), group.name
    # In a process of its own: this one has what other tests loaded.
    code = "import glob, runpy, sys; import storeproof.plugin; [runpy.run_path(each) for each in glob.glob('suites/*/test_*.py')]"
    tell = "print(*(each.__file__ for name, each in list(sys.modules.items()) if name.startswith('storeproof.') and each.__file__))"
    files = subprocess.run([sys.executable, "-c", f"{code}; {tell}"], capture_output=True, text=True, check=True).stdout.split()
    loaded = {str(Path(each).resolve().relative_to(CHECKOUT)) for each in files if not each.endswith(".so")}
    assert len(loaded) > 100
    assert loaded <= set(closed.inputs(closed.trial("redis", "container"))), "the plugin loads what is no input"
