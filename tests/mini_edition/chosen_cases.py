"""A pytest plugin for a run inside a test: it keeps the cases that CASES_OF_THE_TEST names for each target."""

from __future__ import annotations

import json
import os

import pytest

CHOSEN: dict[str, list[str]] = json.loads(os.environ["CASES_OF_THE_TEST"])
"""By target, as `store:variant`: the ids of its cases."""


def _chosen(item: pytest.Item) -> bool:
    target = item.callspec.params["sut"].target.id  # type: ignore[attr-defined]
    return item.get_closest_marker("case").kwargs["id"] in CHOSEN[target]  # type: ignore[union-attr]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what was chosen; each target has at least one such case, and each such case exists."""
    tried = [item for item in items if item.get_closest_marker("case")]
    kept = [item for item in tried if _chosen(item)]
    assert len(kept) == sum(map(len, CHOSEN.values())), "a case that was chosen does not exist"
    for item in kept:  # it is named, whatever the scale leaves out
        item.get_closest_marker("case").kwargs.pop("beyond_scale", None)  # type: ignore[union-attr]
    left_out = [item for item in tried if item not in set(kept)]
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)
