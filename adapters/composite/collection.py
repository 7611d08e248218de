"""A collection of a composite store: the home's, with copies of its records in the front."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Final

from storeproof.adapters.composite.behind import Behind
from storeproof.adapters.composite.copies import Copies
from storeproof.adapters.composite.locks import Locks
from storeproof.contract import OPERATIONS, Collection, Key, Layout, Record, Unknown
from storeproof.contract.families import Expiry, ExpiryControl, Lacking, SweptExpiry
from storeproof.spec.store import FRONT, HOME, Caching


class Transaction:
    """The transaction of one session; none is open at first."""

    def __init__(self) -> None:
        self.open = False
        self._changed: dict[str, tuple[Copies, dict[Key, None] | None]] = {}
        """By collection: its copies, and the keys; None: any of its keys."""

    def begin(self) -> None:
        """One is open now."""
        self.open = True
        self._changed = {}

    def changes(self, collection: str, copies: Copies, keys: Iterable[Key] | None) -> None:
        """It may change these keys; None: any of the collection."""
        _, before = self._changed.get(collection, (copies, {}))
        after = None if keys is None or before is None else {**before, **dict.fromkeys(keys)}
        self._changed[collection] = (copies, after)

    def end(self) -> list[tuple[str, Copies, list[Key] | None]]:
        """None is open any more; returns what it changed, by collection."""
        changed, self._changed, self.open = self._changed, {}, False
        return [(name, copies, None if keys is None else list(keys)) for name, (copies, keys) in changed.items()]


_CHANGE_NO_RECORD: Final = frozenset({"create_index", "drop_index", "require", "save_search"})

_NO_EXPIRY: Final = "a copy in the front would outlive a record that expires in the home"

Call = Callable[..., Any]


class CompositeCollection:
    """Reads of whole records come from the front, where it has a copy, and else from the home, which then fills it. All else goes to the
    home, and every write invalidates the copies of the keys that it changes, or updates them.

    It has the operations that the home's collection has. The order in which a write does its steps, and the locks around them, decide
    whether a read can be stale.
    """

    def __init__(self, layout: Layout, home: Collection, copies: Copies | None, caching: Caching, locks: Locks, open_: Transaction) -> None:
        """
        Args:
            copies: None: no copies are kept of such records.
            open_: the transaction that the session may have open.
        """
        self._name = layout.name
        self._home = home
        self._copies = copies
        self._caching = caching
        self._locks = locks
        self._transaction = open_
        self.home_reads = 0
        self.unsupported_because: Mapping[str, str] = dict(home.unsupported_because) if isinstance(home, Lacking) else {}
        left_out: set[type] = set()
        if copies is not None:
            left_out = {family for family in (Expiry, ExpiryControl, SweptExpiry) if isinstance(home, family)}
            self.unsupported_because = {**self.unsupported_because, **{family.__name__: _NO_EXPIRY for family in left_out}}
        families = {operation.family for operation in OPERATIONS.values()}
        offered = {family for family in families if family not in left_out and isinstance(home, family)}
        for name, operation in OPERATIONS.items():
            if operation.family in offered:
                setattr(self, name, self._method(name, getattr(home, name)))

    def prepare(self) -> None:
        self._home.prepare()
        if self._copies is not None:
            self._copies.prepare()

    def clear(self) -> None:
        self._home.clear()
        if self._copies is not None:
            self._copies.clear()

    def describe(self) -> Mapping[str, str]:
        """The home's indexes; what both report of theirs, as `ROLE.NAME`; and the options of the layer."""
        home = self._home.describe()
        front = self._copies.describe() if self._copies is not None else {}
        parts = ((HOME, home), (FRONT, front))
        found = {f"{role}.{name}": value for role, live in parts for name, value in live.items() if name != "indexes"}
        return {**found, **self._caching.options, "indexes": home.get("indexes", "0")}

    @property
    def waiting(self) -> int:
        return self._home.waiting if isinstance(self._home, Behind) else 0

    def carry_out(self) -> None:
        if isinstance(self._home, Behind):
            self._home.carry_out()

    def drop_copy(self, key: Key) -> None:
        if self._copies is not None:
            self._copies.remove([key])

    def read(self, read_home: Callable[[Key], Record | None], key: Key) -> Record | None:
        """`get`: from the front, else from the home. A session in a transaction reads from the home what it wrote itself."""
        copies = self._copies
        if copies is None or self._transaction.open:
            return read_home(key)
        found = self._copy(copies, key)
        if found is not None:
            return found
        one_fills = self._caching.one_fills
        with self._locks.of_keys(self._name, [key]) if one_fills else nullcontext():
            # A client that waited for the lock finds what its holder has filled.
            found = self._copy(copies, key) if one_fills else None
            if found is None:
                self.home_reads += 1
                found = read_home(key)
                if found is not None:
                    with suppress(Unknown):  # the record is right, whatever became of its copy
                        copies.set(key, found)
        return found

    def write(self, operation: str, write_home: Call, *args: Any) -> Any:
        """A write: to the home, then to the copies of the keys that it changes."""
        copies, keys = self._copies, changed_keys(operation, args)
        if copies is None:
            return write_home(*args)
        if self._transaction.open:
            self._transaction.changes(self._name, copies, keys)
            return write_home(*args)
        with self._writing(keys):
            try:
                reply = write_home(*args)
            except Unknown:
                with suppress(Unknown):
                    self.follow_up(copies, keys, {})
                raise
            self.follow_up(copies, keys, new_records(operation, args, reply) if self._caching.invalidate == "update" else {})
        return reply

    def follow_up(self, copies: Copies, keys: Sequence[Key] | None, records: Mapping[Key, Record]) -> None:
        """Replace the copies of the keys by these records or, without records, remove them; `keys` None: all of the collection.
        Raises `Unknown`: the home has the write, and the front may still have an older copy."""
        try:
            for key, record in records.items():
                copies.set(key, record)
            if keys is None:
                copies.remove_all()
            elif not records:
                copies.remove(keys)
        except Unknown as reason:
            raise Unknown(f"the home has the write, but the front may have an older copy: {reason}") from reason

    def _method(self, name: str, operation: Call) -> Call:
        """An operation of this collection, from that of the home's."""
        if self._copies is None:
            return operation
        if name == "get":
            return lambda key: self.read(operation, key)
        if not OPERATIONS[name].writes or name in _CHANGE_NO_RECORD:
            return operation
        return lambda *args: self.write(name, operation, *args)

    def _copy(self, copies: Copies, key: Key) -> Record | None:
        """The copy, or None. A front that does not answer counts as empty, unless reads must see what writes did to it."""
        try:
            return copies.get(key)
        except Unknown:
            if self._caching.locks_writes:
                raise
            return None

    def _writing(self, keys: Iterable[Key] | None) -> AbstractContextManager[Any]:
        """The lock under which keys are written; None: all of the collection."""
        if not self._caching.locks_writes:
            return nullcontext()
        return self._locks.of_collection(self._name) if keys is None else self._locks.of_keys(self._name, keys)


def changed_keys(operation: str, args: tuple[Any, ...]) -> list[Key] | None:
    """The keys that a write may change; None: any."""
    if operation in ("put_many", "insert_many"):
        return list(args[0])
    if operation in ("update_where", "delete_where"):
        return None
    return list(args[:2]) if operation == "transfer" else [args[0]]


def new_records(operation: str, args: tuple[Any, ...], reply: Any) -> Mapping[Key, Record]:
    """The records that a write has stored, as far as the request has them whole; empty if it has stored something else, or nothing.

    A comparison that failed has stored nothing: the copy from which the client knew what to expect may be old, and is removed.
    """
    if operation == "put_many" or (operation == "insert_many" and reply):
        records: Mapping[Key, Record] = args[0]
        return records
    if operation in ("put", "get_and_set") or (operation == "put_if_absent" and reply):
        return {args[0]: args[1]}
    return {args[0]: args[2]} if operation == "compare_and_set" and reply else {}
