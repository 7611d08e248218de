"""The limits of pytest-timeout, if it is installed: they end one case, and not the run."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from storeproof.plugin.case import is_case


class OtherTimeouts:
    """Registered when the suites run."""

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> Any:
        """Have the method `signal` in place of `thread`, which ends the process without a report: with all cases, and what they started."""
        theirs = item.config.pluginmanager.get_plugin("timeout")
        if theirs is None or not is_case(item) or settings.method != "thread" or threading.current_thread() is not threading.main_thread():
            return None
        return theirs.pytest_timeout_set_timer(item, settings._replace(method="signal"))
