"""The specification as shipped, read once for all tests of a process: reading it takes as long as many of them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

import pytest

from storeproof.spec import Spec, load_spec
from storeproof.spec.editions.frozen import load_edition

SHIPPED: Final[Spec] = load_spec()
_COMMANDS = ("claims", "report", "site", "stores")
_EDITION = cache(load_edition)


def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that run in this process have what was read: that they can read it is shown where they run as programs."""
    for command in _COMMANDS:
        monkeypatch.setattr(import_module(f"storeproof.cli.{command}"), "load_spec", lambda: SHIPPED)
    monkeypatch.setattr(import_module("storeproof.cli.decide"), "load_edition", _EDITION)
