"""etcd, version 3, through its own gateway from JSON over HTTP to gRPC.

A record is one key, `<collection>:<key>`. Everything is a request of etcd's API: conditional writes and batches are its transactions,
expiry is its leases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from storeproof.adapters.etcd.link import Link, flags_of, number
from storeproof.adapters.etcd.members import Members
from storeproof.adapters.etcd.records import Values
from storeproof.contract import Address, Collection, Layout, Refused, Unknown, Unsupported, Version, WrongReply
from storeproof.spec import model as shapes

_READS: Final = ("linearizable", "serializable")
"""What the option `reads` may be: agreed with the other members, or from the member's own state."""


class EtcdSession:
    unsupported_because: Mapping[str, str] = {
        "Transactions": "a transaction of etcd is one request with conditions, so no session can hold one open",
    }

    def __init__(self, link: Link, options: Mapping[str, str]) -> None:
        self._link = link
        self._options = options

    def version(self) -> Version:
        found = self._link.look("/version").get("etcdserver")
        return Version("etcd", found) if isinstance(found, str) else Version("a relative of etcd", "(no version)")

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        live = flags_of(self._link)
        return {name: live[name] for name in names if name in live}

    def compact(self) -> str:
        """Drop old revisions, and defragment the file that they were in."""
        status: dict[str, Any] = self._link.ask("maintenance/status")
        revision = number(status.get("header", {}), "revision")
        with suppress(Refused):  # nothing was written since the last one
            self._link.ask("kv/compaction", revision=str(revision), physical=True)
        self._link.ask("maintenance/defragment")
        return "etcdctl compaction --physical, etcdctl defrag"

    def collection(self, layout: Layout) -> Collection:
        if layout.indexes:
            raise Unsupported("etcd has no secondary indexes")
        if not isinstance(layout.model.record, shapes.Value):
            raise Unsupported(f"etcd stores opaque values, not {layout.model.model}")
        return Values(self._link, layout, self._options, serializable=self._options.get("reads") == "serializable")

    def close(self) -> None:
        self._link.close()


def connect(address: Address, options: Mapping[str, str]) -> EtcdSession:
    """Open one session.

    Raises:
        Refused: an option that there is not, or wrong credentials.
        Unknown: no server answers, or the member has no leader.
    """
    if unknown := [name for name in options if name != "reads"]:
        raise Refused(f"the etcd adapter has the option `reads`; found {', '.join(unknown)}")
    if options.get("reads", _READS[0]) not in _READS:
        raise Refused(f"the option `reads` is {' or '.join(_READS)}; found {options['reads']}")
    link = Link(address)
    try:
        told = link.ask("maintenance/status")
        if number(told, "leader") == 0:
            raise Unknown("the member has no leader")
    except (Refused, Unknown, Unsupported, WrongReply):
        link.close()
        raise
    return EtcdSession(link, dict(options))


def cluster(options: Mapping[str, str]) -> Members:  # noqa: ARG001 - they are the clients'
    return Members()
