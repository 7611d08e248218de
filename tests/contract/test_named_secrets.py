"""A password is given by the name of where it is, and never shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from storeproof.contract.address import parse_endpoint, resolve_secrets
from storeproof.errors import UsageError

EXAMPLE = "redis://:password@localhost:6379/0"
HARD = "p@ss:w/rd%20?#[x] ${y}é"
"""Most of it has a meaning in URLs."""


def test_a_variable_is_the_password_whatever_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable's value is percent-encoded into the URL."""
    monkeypatch.setenv("REDIS_PASSWORD", HARD)
    address = parse_endpoint(resolve_secrets("redis://user:${REDIS_PASSWORD}@host:6379/0"), EXAMPLE)
    assert (address.password, address.host, address.port, address.database) == (HARD, "host", 6379, "0")


def test_the_first_line_of_a_file_is_the_password(tmp_path: Path) -> None:
    """Only the first line of a file counts, without its line end."""
    (tmp_path / "pass word").write_text(f"{HARD}\r\nand a comment\n")
    assert parse_endpoint(resolve_secrets(f"redis://:${{file:{tmp_path}/pass word}}@host:1"), EXAMPLE).password == HARD


def test_a_whole_url_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is the whole text stands for a whole URL, which is not encoded."""
    monkeypatch.setenv("URL", "redis://:a%40b@host:6379/0")
    assert parse_endpoint(resolve_secrets("${URL}"), EXAMPLE).password == "a@b"


def test_a_url_without_names_stays_as_it_is() -> None:
    """A URL without `${` is returned unchanged."""
    assert resolve_secrets("redis://:a$b%24{c}@host:1/0") == "redis://:a$b%24{c}@host:1/0"


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("${NO_SUCH_VARIABLE}", "names ${NO_SUCH_VARIABLE}, but there is no such environment variable; export it, or use ${file:PATH}"),
        ("${EMPTY}", "names ${EMPTY}, which is empty; "),
        ("${file:/nowhere/x}", "names ${file:/nowhere/x}, but that file does not exist"),
        ("${file:FOLDER}", "but that file is a directory"),
        ("${file:FOLDER/pipe}", "but that file is a pipe, not a file"),
        ("${file:FOLDER/empty}", "which is empty"),
        ("${file:}", "has an invalid `${`; allowed: ${NAME} is replaced by an environment variable"),
        ("${hunter2", "has an invalid `${`"),
        ("${hunter-2}", "has an invalid `${`"),
    ],
)
def test_what_is_not_there_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, message: str) -> None:
    """Each kind of unusable name is a usage error that shows no value."""
    monkeypatch.setenv("EMPTY", "")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").write_text("\nsecond line")
    with pytest.raises(UsageError) as problem:
        resolve_secrets(f"redis://:{named.replace('FOLDER', str(tmp_path))}@host:1")
    assert str(problem.value).startswith("the endpoint's URL ")
    assert message in str(problem.value)
    assert "hunter" not in str(problem.value)
