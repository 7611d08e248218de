"""What only this checkout needs.

The plugin is an entry point of the installed package. In a checkout that is not installed, say so at once.
"""

from __future__ import annotations

import importlib.util

import pytest

if importlib.util.find_spec("storeproof.suites") is None:
    raise pytest.UsageError("storeproof is not installed in this environment; run: pip install -e .")
