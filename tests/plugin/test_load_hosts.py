"""`--hosts` where it cannot be used: one message, before anything is started."""

from __future__ import annotations

from argparse import Namespace

import pytest

from storeproof.errors import UsageError
from storeproof.plugin.run_options import load_hosts


@pytest.mark.parametrize(
    ("needs", "endpoints", "message"),
    [
        ("needs.yaml", ["redis"], "--hosts and --needs exclude each other"),
        (None, [], "give its address: --endpoint=STORE=URL"),
        (None, ["redis"], "takes the address of a Dask scheduler"),
    ],
)
def test_it_is_refused(needs: str | None, endpoints: list[str], message: str) -> None:
    """Before anything is connected."""
    with pytest.raises(UsageError, match=message):
        load_hosts(Namespace(hosts="nowhere", needs=needs), endpoints)


def test_without_it_this_machine_puts_on_the_load() -> None:
    """No hosts, no scheduler."""
    assert load_hosts(Namespace(hosts=None, needs=None), []) is None
