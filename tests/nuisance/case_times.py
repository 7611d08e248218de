"""A pytest plugin for the suites' own process: it notes when each case began and ended, in the file that CASE_TIMES names.

A line each: the case's id, `begin` or `end`, and the seconds of the system's monotonic clock, which is the same in all processes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

_FILE = os.environ["CASE_TIMES"]


def _note(item: pytest.Item, what: str) -> None:
    marker = item.get_closest_marker("case")
    if marker is None:
        return
    try:
        with open(_FILE, "a", encoding="utf-8") as file:  # noqa: PTH123 - as little as can fail
            file.write(f"{marker.kwargs['id']} {what} {time.monotonic()}\n")
    except OSError:  # no descriptor left: the case counts as under way until the next line
        pass


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _note(item, "begin")
    try:
        return (yield)
    finally:
        _note(item, "end")
