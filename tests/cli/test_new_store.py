"""`storeproof new-store` and `storeproof manual`: for a user who starts from nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.cli.new_store import manual, new_store, topics
from storeproof.contract import load_adapter
from storeproof.errors import UsageError
from storeproof.spec.loader import SPEC_ROOT
from tests.architecture.installed import CHECKOUT, outcomes_of, run_pytest
from tests.shipped import SHIPPED


@pytest.mark.parametrize("embedded", [False, True])
def test_what_is_written_can_be_read_and_loaded(tmp_path: Path, embedded: bool) -> None:
    """The new store file is valid, its adapter can be imported, and its first line names the schema for editors."""
    new_store("corner.shop-1", tmp_path, embedded=embedded)
    store, file = SHIPPED.store(str(tmp_path / "corner.shop-1.yaml"))
    assert (store.name, store.adapter) == ("corner.shop-1", "./corner_shop_1_store.py")
    assert callable(load_adapter(store, file).connect)
    first = file.read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SPEC_ROOT / 'schema' / 'stores.json'}"


def test_a_library_runs_as_it_is_written(tmp_path: Path) -> None:
    """Before anything is filled in, so that each change can be tried."""
    new_store("shop", tmp_path, embedded=True)
    done = run_pytest(
        str(CHECKOUT / "suites"), "--store=./shop.yaml", "-k", "settings or key_access", "--report-dir=report", "--seed=1", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = outcomes_of(tmp_path / "report")
    assert outcomes["settings.readback"]["outcome"] == "pass"
    assert outcomes["capabilities.key_access.delete/001"]["outcome"] == "pass"
    assert outcomes["capabilities.key_access.count/001"]["outcome"] == "unsupported"


def test_the_next_command_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The command to run next is printed, quoted for a shell, as it works in that directory."""
    monkeypatch.chdir(tmp_path)
    new_store("shop", Path("my stores"), embedded=False)
    assert "pytest --pyargs storeproof.suites --store='my stores/shop.yaml'" in capsys.readouterr().out
    monkeypatch.chdir(CHECKOUT)
    new_store("shop", tmp_path, embedded=False)
    assert f"pytest suites/ --store={tmp_path}/shop.yaml" in capsys.readouterr().out


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that exists is an error, and neither of the two is written."""
    (tmp_path / "shop_store.py").write_text("mine")
    with pytest.raises(UsageError, match=r"shop_store\.py exists already; nothing was written"):
        new_store("shop", tmp_path, embedded=True)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("name", ["../shop", "Shop", "", "a b", "shop\n"])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    """A name with a slash, capital, space or line end is refused, and nothing is written."""
    with pytest.raises(UsageError, match="allowed: lower case letters"):
        new_store(name, tmp_path, embedded=True)
    assert list(tmp_path.iterdir()) == []


def test_the_manual_has_every_section_and_three_pages() -> None:
    """Each section of CONTRIBUTING.md and three pages are topics of the manual; a beginning of a name will do."""
    sections = [line[3:].lower() for line in (CHECKOUT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("## ")]
    assert list(topics()) == [*sections, "store file", "query", "conformance"]
    assert manual("add a store").startswith("## Add a store\n")
    assert manual("ADD A C").startswith("## Add a capability\n")
    assert manual("store").startswith("# The store's file\n")
    assert manual("query").startswith("# ")
    assert manual("conf").startswith("# Conformance claims\n")
    assert "## Add a fault" in manual("all")
    assert "  add a store\n" in manual("")


def test_an_unknown_topic_says_which_there_are() -> None:
    """An unknown or ambiguous topic is an error that lists the topics."""
    with pytest.raises(UsageError, match=r"unknown topic `add`; allowed: add a capability, .* or `all`"):
        manual("add")
