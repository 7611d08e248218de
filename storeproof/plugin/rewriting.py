"""Which modules pytest rewrites, so that a failed assertion shows its values."""

from __future__ import annotations

import pytest


def keep_as_written(pluginmanager: pytest.PytestPluginManager) -> None:
    """Have pytest rewrite the assertions of the suites alone, and not of all modules of the distribution that a plugin belongs to.

    Those of the machinery narrow types, or say themselves what is wrong. To rewrite five hundred modules takes seconds of processor time in
    a clean clone, and in every run where Python may not write its cache. pytest has no option for it.
    """
    marked = getattr(getattr(pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("storeproof")
