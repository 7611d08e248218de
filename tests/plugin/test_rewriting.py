"""pytest rewrites the assertions of the suites, and leaves the machinery as it is written."""

from __future__ import annotations

import importlib
from importlib.machinery import SourceFileLoader

import pytest


def test_suites_are_rewritten() -> None:
    """A failed assertion of a suite shows its values."""
    suite = importlib.import_module("storeproof.suites.correctness.test_walk")
    assert type(suite.__loader__).__name__ == "AssertionRewritingHook"


@pytest.mark.parametrize("name", ["storeproof.blame", "storeproof.adapters.sqlite.link", "storeproof.plugin.run"])
def test_machinery_is_not(name: str) -> None:
    """Nothing of it is compiled again, whether pytest finds the distribution's files listed or installed in place."""
    assert type(importlib.import_module(name).__loader__) is SourceFileLoader
