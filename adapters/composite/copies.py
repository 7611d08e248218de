"""The copies of one collection's records in the front."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from storeproof.adapters.composite.encoding import decode, encode
from storeproof.adapters.composite.fences import Fences
from storeproof.adapters.composite.front import Front
from storeproof.contract import Key, Layout, Record, Refused, Unknown, supports
from storeproof.spec.model import Value

_SIZE = 100
"""Bytes of a value of the front's model; a copy has those of its record."""


class Copies:
    """Values of the front, in a collection of their own, under the keys of the records. A fenced one begins with the token of its key."""

    def __init__(self, front: Front, layout: Layout, ttl: int, fences: Fences | None = None) -> None:
        """
        Args:
            ttl: seconds after which a copy expires; 0: never.
            fences: None: a copy counts whenever the front has it.

        Raises:
            Unsupported: the front keeps no values.
            Refused: its values do not expire, and copies are to.
        """
        self._model = layout.model
        values = layout.model.model_copy(
            update={
                "model": "single_key",
                "record": Value(kind="value", size=_SIZE, sizes=()),
                **dict.fromkeys(("indexes", "text", "language", "places", "decimals"), ()),
            }
        )
        self._layout = Layout(f"{layout.name}_copies", values)
        self._ttl = ttl
        self._fences = fences
        self._front = front
        self._session = front.session
        self._records: Any = self._session.collection(self._layout)
        if ttl and not supports(self._records, "put_expiring"):
            raise Refused("the front has no values that expire; set the option `ttl` to 0, or choose another front")

    def prepare(self) -> None:
        """Create the collection in the front."""
        self._ask("prepare")

    def clear(self) -> None:
        """Remove the collection from the front."""
        self._ask("clear")

    def describe(self) -> Mapping[str, str]:
        """What the front reports about the collection."""
        found: Mapping[str, str] = self._ask("describe")
        return found

    def get(self, key: Key) -> Record | None:
        """The copy, or None if there is none that counts.

        Raises:
            Unknown: the front does not answer.
            WrongReply: what it answers is no copy.
        """
        try:
            found = self._ask("get", key)
        except Refused:  # a key that the front cannot have: there is no copy under it
            return None
        if found is None:
            return None
        if self._fences is not None:
            # Read after the answer: so it has been the token ever since the copy was sent.
            token = self._fences.token(self._layout.name, key)
            if not found.startswith(token):
                return None
            found = found[len(token) :]
        return decode(self._model, found)

    def set(self, key: Key, record: Record) -> None:
        """Keep a copy in place of any other; none of a record that the front refuses.

        Raises:
            Unknown: whether the front has this copy, another or none is not known.
        """
        try:
            copy = encode(self._model, record)
            if self._fences is not None:
                copy = self._fences.token(self._layout.name, key) + copy
            if self._ttl:
                self._ask("put_expiring", key, copy, self._ttl)
            else:
                self._ask("put", key, copy)
        except (Refused, ValueError, RecursionError):
            self.remove([key])
        except Unknown:
            self._give_up([key])
            raise

    def remove(self, keys: Collection[Key]) -> None:
        """Remove copies, which need not exist.

        Raises:
            Unknown: one may still be there.
        """
        try:
            for key in keys:
                self._remove(key)
        except Unknown:
            self._give_up(keys)
            raise

    def remove_all(self) -> None:
        """Remove all copies of the collection. Raises `Unknown`: some may still be there."""
        try:
            self._ask("clear")
            self._ask("prepare")
        except (Refused, Unknown) as reason:
            if self._fences is not None:
                self._fences.replace_all()
            raise Unknown(f"the front does not remove the copies of a collection: {reason}") from reason

    def _ask(self, operation: str, *args: Any) -> Any:
        """One request to the front, in the session that it has now."""
        try:
            if (session := self._front.session) is not self._session:
                self._session, self._records = session, session.collection(self._layout)
            return getattr(self._records, operation)(*args)
        except Unknown:
            self._front.lose()
            raise

    def _remove(self, key: Key) -> None:
        try:
            self._ask("delete", key)
        except Refused as reason:
            if self.get(key) is not None:
                raise Unknown(f"the front refuses to remove a copy: {reason}") from reason

    def _give_up(self, keys: Iterable[Key]) -> None:
        """What the front was sent may still be carried out: no copy of these keys counts."""
        if self._fences is not None:
            self._fences.replace(self._layout.name, keys)
