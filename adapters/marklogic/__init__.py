"""MarkLogic, through its official Python client, over the REST API.

A record is one JSON document, `{COLLECTION: {"key": KEY, "record": RECORD}}`, in a collection of that name: the name as root
property keeps the paths of its range indexes apart from all others of the database. Bytes are in base64, since JSON has none.
Where a write depends on what is there, the server decides: by a document's version where its REST instance keeps them
(`update-policy`), otherwise by the locks of a multi-statement transaction.

Range indexes belong to the database and are made through the management API, which has a port of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from storeproof.adapters.marklogic.documents import Documents
from storeproof.adapters.marklogic.link import Forbidden, Server, Unauthorized
from storeproof.adapters.marklogic.records import Records
from storeproof.contract import Address, Layout, Refused, Unknown, Unsupported, Version
from storeproof.spec import model as shapes

_OPTIONS: Final = {
    "range-indexes": ("asked", "model"),
    "update-policy": ("merge-metadata", "version-optional"),
    "journaling": ("fast", "strict"),
}


class MarkLogicSession:
    """One user of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def version(self) -> Version:
        """The product is what the server puts into every header; the number is asked of it."""
        return Version(*self._server.version())

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        found = self._server.properties() if names else {}
        return {name: str(found[name]) for name in names if name in found}

    def collection(self, layout: Layout) -> Records:
        record = layout.model.record
        if isinstance(record, shapes.Document):
            return Documents(self._server, layout)
        if isinstance(record, (shapes.Value, shapes.Hash, shapes.RowRecord)):
            return Records(self._server, layout)
        raise Unsupported(f"the REST API has no operations for {layout.model.model}")

    def close(self) -> None:
        self._server.close()


def connect(address: Address, options: Mapping[str, str]) -> MarkLogicSession:
    """Open one session.

    `options`: `range-indexes`, "asked" for those of the layout, or "model" for one on every field of the model where the layout
    asks for none; `update-policy`, "merge-metadata" or "version-optional"; `journaling`, "fast" or "strict", which is set on a server that
    was started for the run and read on another. The address may name the ports of the management API, `manage`, and of the health
    check, `health`.

    Raises:
        Refused: wrong credentials, or an option that is not known.
        Unknown: no server answers, it is not healthy or not set up yet, or the management API does not answer where the address names its
            port or the options need it.
    """
    for name, value in options.items():
        if value not in _OPTIONS.get(name, ()):
            allowed = "; ".join(f"`{known}`: {' or '.join(values)}" for known, values in _OPTIONS.items())
            raise Refused(f"the options of the MarkLogic adapter are {allowed}; found {name}: {value}")
    server = Server(address, options)
    try:
        server.check_health()
        server.policy()  # needs a login, and no other right
        if "manage" in address.ports or options.get("range-indexes") == "model":
            server.indexes()
    except (Forbidden, Unauthorized) as reason:
        server.close()
        if isinstance(reason, Unauthorized) and not address.ours:
            raise
        # The set-up restarts the server twice, and makes the user last: one that was started with this user will know it.
        raise Unknown(f"{reason}: the server is not set up yet, or this user has no role with read access") from reason
    except (Refused, Unknown, Unsupported):
        server.close()
        raise
    return MarkLogicSession(server)
