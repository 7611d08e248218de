"""What a vendor is told: the line that runs a case again, and what to write where another product answers."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from storeproof.errors import NotAvailable
from storeproof.run_command import RunCommand
from storeproof.spec import SPEC_ROOT, Edition
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED

CHECKOUT = Path(__file__).parents[2]
SPEC = SHIPPED


def sut(store: str) -> StoreUnderTest:
    (target,) = SPEC.targets([store])
    return StoreUnderTest(SPEC, target, Options(scale=SPEC.scales["smoke"], seed=7, given=RunCommand(launch="process")), lambda _: None)


def test_one_of_ours_is_named_in_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout the line to repeat a case names `suites/`."""
    monkeypatch.chdir(CHECKOUT)
    assert sut("sqlite").command("a or b") == "pytest suites/ --store=sqlite:wal-full --scale=smoke --launch=process --seed=7 -k 'a or b'"


def test_without_a_checkout_the_suites_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Elsewhere it names `--pyargs storeproof.suites`."""
    (tmp_path / "suites").mkdir()  # someone else's
    monkeypatch.chdir(tmp_path)
    assert sut("sqlite").command("x").startswith("pytest --pyargs storeproof.suites --store=sqlite:wal-full ")


def test_a_frozen_edition_is_named() -> None:
    """The draft is the default, and has no place in the line."""
    frozen = replace(SPEC, edition=Edition("2020.01", "0" * 16))
    line = StoreUnderTest(frozen, sut("sqlite").target, sut("sqlite").options, lambda _: None).command("x")
    assert " --edition=2020.01 " in line
    assert "--edition" not in sut("sqlite").command("x")


def test_a_vendors_file_is_named_by_its_path_whatever_its_folder_is_called(tmp_path: Path) -> None:
    """The path of a store file is quoted for the shell."""
    file = tmp_path / "our $tuff" / "stores" / "sqlite.yaml"
    file.parent.mkdir(parents=True)
    shutil.copy(SPEC_ROOT / "stores" / "sqlite.yaml", file)
    assert f"--store={file}:off" in shlex.split(sut(f"{file}:off").command("x"))


def test_where_another_product_answers_it_is_named_with_the_line_to_write(tmp_path: Path) -> None:
    """A foreign product is `not available`, with the `product:` line that would fit."""
    file = tmp_path / "mine.yaml"
    file.write_text((SPEC_ROOT / "stores" / "sqlite.yaml").read_text().replace("product: SQLite", "product: Mine"))
    with pytest.raises(NotAvailable) as caught:
        sut(str(file)).launch("a test")
    message = str(caught.value)
    assert message.startswith("the server is SQLite 3.")
    assert "if mine.yaml describes this server, set `product: SQLite`" in message
    assert "python3" not in message, "nothing is to be installed"


def test_an_adapter_that_is_not_filled_in_ends_the_trial_at_once(tmp_path: Path) -> None:
    """The first launch says where it is not; later ones say so too, and start nothing."""
    (tmp_path / "mine.py").write_text("def connect(address, options):\n    raise NotImplementedError\n")
    file = tmp_path / "mine.yaml"
    file.write_text((SPEC_ROOT / "stores" / "sqlite.yaml").read_text().replace("adapter: sqlite", "adapter: ./mine.py"))
    mine = sut(str(file))
    with pytest.raises(NotImplementedError):
        mine.launch("a test")
    with pytest.raises(NotAvailable, match=r"adapter error: NotImplementedError \(mine\.py, line 2: .* may raise Refused, Unknown and"):
        mine.launch("a test")
