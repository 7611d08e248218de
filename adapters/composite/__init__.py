"""Composite stores: the layer between clients and two servers, for the adapters of any two stores.

The home keeps the records. The front keeps copies of them: of values, hashes, rows and documents, which are read whole. A read takes the
copy, or fills it from the home; a write goes to the home, and then deletes or replaces the copy. All other operations, and all other
records, go to the home alone. `Caching` has the options of a variant, `docs/COMPOSITES.md` what each policy can break.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import Final

from storeproof.adapters.composite.behind import Behind
from storeproof.adapters.composite.collection import CompositeCollection, Transaction
from storeproof.adapters.composite.connection import Connection
from storeproof.adapters.composite.copies import Copies
from storeproof.adapters.composite.encoding import KINDS
from storeproof.adapters.composite.fences import Fences
from storeproof.adapters.composite.locks import Locks
from storeproof.contract import (
    Address,
    Collection,
    Layout,
    Maintenance,
    PartAddress,
    Refused,
    Session,
    Unknown,
    Version,
    WrongReply,
    adapter_of,
)
from storeproof.contract.families import Lacking
from storeproof.contract.sessions import Transactions
from storeproof.spec.base import RuleError
from storeproof.spec.interleaving import Isolation
from storeproof.spec.store import FRONT, HOME, ROLES, Caching

_NO_TRANSACTIONS: Final = "a transaction in the home would not see the writes that wait in the front"


class CompositeSession:
    """A session with both servers. It has transactions and maintenance if the home has."""

    collections: type[CompositeCollection] = CompositeCollection
    copies: type[Copies] = Copies
    behind: type[Behind] = Behind

    def __init__(self, front: Connection, home: Connection, caching: Caching, locks: Locks) -> None:
        self._front = front
        self._home = home
        records = home.session
        self._caching = caching
        self._locks = locks
        self._fences = Fences(locks) if caching.locks_writes else None
        self._behind: dict[str, Behind] = {}
        self._transaction = Transaction()
        self.unsupported_because: Mapping[str, str] = records.unsupported_because if isinstance(records, Lacking) else {}
        if not caching.home_first:
            self.unsupported_because = {**self.unsupported_because, "Transactions": _NO_TRANSACTIONS}
        elif isinstance(records, Transactions):
            self._transactions: Transactions = records
            for name in ("begin", "commit", "rollback"):
                setattr(self, name, getattr(self, f"_{name}"))
        if isinstance(records, Maintenance):
            self.compact = records.compact

    def version(self) -> Version:
        """Both products and both versions, as `FRONT over HOME`."""
        front, home = self._front.session.version(), self._home.session.version()
        return Version(f"{front.product} over {home.product}", f"{front.number} over {home.number}")

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """The live settings of both servers, each under its role."""
        found: dict[str, str] = {}
        for role, session in ((FRONT, self._front.session), (HOME, self._home.session)):
            prefix = f"{role}."
            wanted = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
            found |= {f"{prefix}{name}": value for name, value in session.read_settings(wanted).items()}
        return found

    def collection(self, layout: Layout) -> Collection:
        kept = layout.model.record.kind in KINDS
        if kept and not self._caching.home_first:
            behind = self.behind(self._front, layout, self._home, self._locks)
            home: Collection = behind
            self._behind[layout.name] = behind
        else:
            home = self._home.session.collection(layout)
        copies = self.copies(self._front, layout, self._caching.ttl, self._fences) if kept else None
        return self.collections(layout, home, copies, self._caching, self._locks, self._transaction)

    def close(self) -> None:
        """End both; what waits for the home is carried out, if both answer and no other client does."""
        with suppress(Refused, Unknown, WrongReply, OSError):
            for each in self._behind.values():
                if each.waiting:
                    each.carry_out(wait=False)
        self._front.close()
        self._home.close()
        with suppress(OSError):
            self._locks.close()

    def _begin(self, isolation: Isolation) -> None:
        self._transactions.begin(isolation)
        self._transaction.begin()

    def _commit(self) -> None:
        """Commit in the home, then remove the copies that have become old; whatever was committed, no copy of it is kept."""
        changed = self._transaction.end()
        try:
            self._transactions.commit()
        except Unknown:
            with suppress(Unknown):
                self._forget(changed)
            raise
        self._forget(changed)

    def _forget(self, changed: Sequence[tuple[str, Copies, Sequence[str | int] | None]]) -> None:
        # One lock after the other, and none while the home holds locks of its own: a client that holds the layer's may wait for the home's.
        for name, copies, keys in changed:
            if keys is None:
                with self._locks.of_collection(name):
                    copies.remove_all()
            for key in keys or ():
                with self._locks.of_keys(name, [key]):
                    copies.remove([key])

    def _rollback(self) -> None:
        self._transaction.end()
        self._transactions.rollback()


def connect(address: Address, options: Mapping[str, str]) -> CompositeSession:
    """Open a session with both servers.

    Raises:
        Refused: an option is not known, or one server refuses access.
        Unknown: one server does not answer.
    """
    return open_session(address, options)


def open_session(address: Address, options: Mapping[str, str], kind: type[CompositeSession] = CompositeSession) -> CompositeSession:
    """As `connect`; `kind`: a class with other collections or copies."""
    parts = {part.role: part for part in address.parts}
    if parts.keys() != set(ROLES):
        raise Refused("a composite store is started by storeproof, which knows its two servers; there is no endpoint of it")
    try:
        caching = Caching.of(options)
    except RuleError as wrong:
        raise Refused(f"option {'.'.join(map(str, wrong.location))}: {wrong}") from None
    with ExitStack() as undo:
        front, home = (undo.enter_context(closing(Connection(role, partial(_open, parts[role])))) for role in (FRONT, HOME))
        try:
            session = kind(front, home, caching, Locks(address.locks))
        except FileNotFoundError as reason:
            raise Unknown(f"the store was closed: {reason}") from reason
        undo.pop_all()
    return session


def _open(part: PartAddress) -> Session:
    return adapter_of(part).connect(part.address, part.options)
