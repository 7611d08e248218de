"""An adapter that cannot be had is one clear message, with what to do next."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from storeproof.contract import load_adapter
from storeproof.errors import NotAvailable, UsageError
from storeproof.spec import SPEC_ROOT
from storeproof.spec.reading.source import read
from storeproof.spec.store import Store
from tests.spec.files import STORE, replaced


def load(tmp_path: Path, adapter: str = "./mine.py", code: str | None = None, requires: str = "[]") -> object:
    file = tmp_path / "mine.yaml"
    file.write_text(replaced(STORE, "adapter: ./mine.py", f"adapter: {adapter}\nrequires: {requires}"))
    if code is not None:
        (tmp_path / "mine.py").write_text(code)
    return load_adapter(read(file, Store), file)


def refusal(tmp_path: Path, adapter: str = "./mine.py", code: str | None = None, requires: str = "[]") -> str:
    with pytest.raises(UsageError) as problem:
        load(tmp_path, adapter, code, requires)
    return str(problem.value)


@pytest.mark.parametrize("name", sorted(path.stem for path in (SPEC_ROOT / "stores").glob("*.yaml")))
def test_every_shipped_adapter_can_be_loaded(name: str) -> None:
    """Each adapter of the project has `connect`."""
    file = SPEC_ROOT / "stores" / f"{name}.yaml"
    try:
        assert callable(load_adapter(read(file, Store), file).connect)
    except NotAvailable as reason:
        pytest.skip(str(reason))


def test_an_adapter_is_a_file_beside_the_store(tmp_path: Path) -> None:
    """`adapter: ./mine.py` is relative to the store's file, and loaded once."""
    adapter = load(tmp_path, code="def connect(address, options):\n    return 42\n")
    assert adapter.connect(None, {}) == 42  # type: ignore[attr-defined]
    assert load(tmp_path) is adapter


def test_files_of_one_name_in_two_places_are_two_adapters(tmp_path: Path) -> None:
    """Two vendors' files of the same name do not replace each other."""
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
    one, other = (load(tmp_path / place, code=f"PLACE = '{place}'\ndef connect(address, options): ...\n") for place in ("a", "b"))
    assert (one.PLACE, other.PLACE) == ("a", "b")  # type: ignore[attr-defined]


def test_missing_clients_give_the_line_that_installs_them(tmp_path: Path) -> None:
    """Missing or outdated packages are `NotAvailable` with the `pip install` line."""
    with pytest.raises(NotAvailable) as missing:
        load(tmp_path, requires='["no-such-client>=3", "pydantic>=999", "pydantic>=2"]')
    assert missing.value.reason == "mine needs the client no-such-client>=3, pydantic>=999"
    assert missing.value.remedy == "pip install 'no-such-client>=3' 'pydantic>=999'"


def test_a_requirement_that_pip_could_not_read(tmp_path: Path) -> None:
    """A malformed requirement is a usage error with an example."""
    wanted = "requires: found 'redis >> 5'; allowed: packages as pip writes them, as in \"client>=5\""
    assert refusal(tmp_path, requires='["redis >> 5"]') == f"{tmp_path}/mine.yaml: {wanted}"


@pytest.mark.parametrize("name", ["nosuch", "nosuch.deeper", "../nosuch", "."])
def test_a_module_that_is_not_there(tmp_path: Path, name: str) -> None:
    """An unknown adapter is a usage error that says what is allowed."""
    allowed = "`adapter:` names a module of adapters/, or the path of a Python file ending in .py"
    wanted = f"{tmp_path}/mine.yaml: adapter: there is no adapter `{name}`; {allowed}"
    assert refusal(tmp_path, adapter=f'"{name}"') == wanted


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing adapter file is a usage error that says what the path is relative to."""
    assert refusal(tmp_path) == f"the adapter file {tmp_path}/mine.py does not exist; `adapter:` is relative to the store's YAML file"


def test_a_module_that_is_no_adapter(tmp_path: Path) -> None:
    """A module without `connect` is a usage error that refers to the manual."""
    wanted = "adapter ./mine.py of mine has no function `connect(address, options)`; see `storeproof manual 'add a store'`"
    assert refusal(tmp_path, code="connect = 5\n") == wanted


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def connect(:\n", "SyntaxError: invalid syntax"),
        ("import no_such_client\n", "ModuleNotFoundError: No module named 'no_such_client'"),
        ("raise RuntimeError('no')\n", "RuntimeError: no"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    ],
)
def test_a_file_that_cannot_be_imported_says_why_every_time(tmp_path: Path, code: str, reason: str) -> None:
    """A failing import is reported at every attempt, since nothing is cached."""
    for _ in range(2):  # the first try must leave nothing behind that the second takes for an adapter
        assert refusal(tmp_path, code=code).startswith(f"the adapter file {tmp_path}/mine.py cannot be imported: {reason}")


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (r"a\0b", "there is no adapter `a\0b`"),
        (r"a\0b.py", "a\0b.py cannot be read: no file can have this name"),
        ("a" * 300, "there is no adapter `aaa"),
        ("a" * 300 + ".py", ".py cannot be read: File name too long"),
        ("folder.py", "folder.py is a directory"),
        ("pipe.py", "pipe.py is a pipe, not a file"),
    ],
)
def test_a_name_that_no_file_can_have(tmp_path: Path, adapter: str, message: str) -> None:
    """Directories, pipes and impossible names are usage errors."""
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    assert message in refusal(tmp_path, adapter=f'"{adapter}"')
