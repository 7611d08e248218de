"""Repeats a case that says nothing about the store: the machine spoiled it, or no answer came."""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

from storeproof.plugin.case import case_of
from storeproof.plugin.stash import CASE_RESULT


class Repeat:
    """Runs the cases of the suites, each up to `ATTEMPTS` times. Only the last attempt is reported; the others are counted."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """One case. Workloads are left to pytest: they are measured on all stores together, in rounds of their own."""
        case_result = item.stash.get(CASE_RESULT, None)
        if case_result is None or case_of(item).interleaved:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        while True:
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            if not case_result.begin_again():
                break
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True
