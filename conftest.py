"""What only this checkout needs.

The plugin is an entry point of the installed package. In a checkout that is not installed, say so at once.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution

import pytest

try:
    distribution("storeproof")
except PackageNotFoundError:
    raise pytest.UsageError("storeproof is not installed in this environment; run: pip install -e .") from None
