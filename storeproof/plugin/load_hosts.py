"""The hosts of `--hosts`, which put on the load in place of this machine."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection

from storeproof.errors import NotAvailable, UsageError
from storeproof.load.hosts.load_hosts import LoadHosts
from storeproof.result.sources import digests_of_run


def load_hosts(option: Namespace, endpoints: Collection[str]) -> LoadHosts | None:
    """Connected, or None where this machine puts on the load itself.

    Args:
        option: has `hosts` and `needs`.
        endpoints: the stores whose servers the user runs.

    Raises:
        UsageError: it cannot be.
    """
    if option.hosts is None:
        return None
    if option.needs:
        raise UsageError("--hosts and --needs exclude each other: the loads of a candidate's roles start together on this machine")
    if not endpoints:
        raise UsageError(
            "--hosts needs a store that they can reach, and a server that storeproof starts answers on this machine alone; "
            "give its address: --endpoint=STORE=URL"
        )
    try:
        return LoadHosts(option.hosts, digests_of_run)
    except NotAvailable as reason:
        raise UsageError(str(reason)) from None
