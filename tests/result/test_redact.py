"""No password reaches a report, a log or a terminal, and no message loses its meaning."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from storeproof.masking import mask
from storeproof.printable import in_one_line, printable
from storeproof.result.redact import MASK, redact, redact_command


@pytest.mark.parametrize(
    "text",
    [
        "redis://user:hunter2@host:6379/0",
        "redis://:hunter2@host:6379",
        "mongodb://a:hunt@hunter2@host/db?x=1",
        "--endpoint redis=redis://:hunter2@host:1 --seed 3",
        "--password hunter2",
        "--password=hunter2",
        "--admin-password 'hunter2 and more'",
        "MYSQL_ROOT_PASSWORD=hunter2",
        'requirepass "hunter2"',
        "requirepass hunter2",
        '{"password": "hunter2", "user": "a"}',
        "password: hunter2",
        "api_key=hunter2;",
        "ACCESS-KEY = hunter2",
    ],
)
def test_a_password_is_replaced(text: str) -> None:
    """Whatever looks like one, in a URL, an option, a setting or the environment."""
    shown = redact(text)
    assert "hunter2" not in shown
    assert MASK in shown


def _in_small_letters(word: str) -> str:
    return quote(word, safe="").lower()


def _quoted_twice(word: str) -> str:
    return repr(ValueError([word.encode(), f"it's {word!r}"]))


def _as_bytes(word: str) -> str:
    return repr(word.encode())


@pytest.mark.parametrize(
    "form", [str, repr, ascii, json.dumps, html.escape, quote, quote_plus, _in_small_letters, _as_bytes, _quoted_twice]
)
def test_a_known_password_is_masked_however_it_is_written(form: Callable[[str], str]) -> None:
    """As clients, servers and Python write it."""
    word = "pä\"ss/w'o\\rd <&>+ ü"
    shown = mask(f"before {form(word)} after", [word])
    assert MASK in shown
    assert "ss" not in shown


@pytest.mark.parametrize("user", ["", "a", "ab", "abc"])
def test_a_known_password_is_masked_in_base64(user: str) -> None:
    """As in the header of a login over HTTP, whatever the length of the user's name."""
    header = base64.b64encode(f"{user}:hunter22".encode()).decode()
    shown = mask(f"Authorization: Basic {header}", ["hunter22"])
    assert len(shown.rpartition(" ")[2].replace(MASK, "")) <= len(header) - 9


@pytest.mark.parametrize(
    "text",
    [
        "redis://user@host:6379/0",
        "the password is wrong",
        "wrong password for user app",
        "token bucket of 5",
        "(innodb_ft_min_token_size = 3)",
        "http://host:8080/a@b",
        "put('password', b'1') -> None",
        "12:30:01 user@host connected",
    ],
)
def test_other_text_stays(text: str) -> None:
    """A message that only speaks about passwords still says what it said."""
    assert redact(text) == text


def test_a_known_secret_goes_in_every_form() -> None:
    """Also where it is URL-encoded, or a part of nothing that looks like a credential."""
    shown = redact("log: p@ss word / p%40ss%20word / p%40ss+word", ["p@ss word", None, ""])
    assert shown == f"log: {MASK} / {MASK} / {MASK}"


def test_a_command_is_shown_as_typed_without_passwords() -> None:
    """Also where the option and its value are two arguments."""
    shown = redact_command(["pytest", "suites/", "--endpoint", "redis=rediss://:hunter2@h:1", "--password", "hunter2", "-k", "a b"])
    assert shown == f"pytest suites/ --endpoint 'redis=rediss://:{MASK}@h:1' --password {MASK} -k 'a b'"


def test_control_characters_become_escapes() -> None:
    """NUL and ESC would break XML and the terminal, half a character cannot be written, and no text may turn its direction."""
    assert printable("a\x00\x1b[1m\x9b\ud800\u202eé\t\r\n😀\uffff") == "a\\x00\\x1b[1m\\x9b\\ud800\\u202eé\t\n😀\\uffff"
    assert printable("\u200e\u200f\u202a\u2066\u2069\u061c") == "\\u200e\\u200f\\u202a\\u2066\\u2069\\u061c"
    assert in_one_line("a\n b\x1b" + "c" * 1000, 10) == "a b\\x1bccc... (1,005 characters)"
