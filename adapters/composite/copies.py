"""The copies of one collection's records in the front."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from storeproof.adapters.composite.connection import ConnectedCollection, Connection
from storeproof.adapters.composite.encoding import as_values, decode, encode
from storeproof.adapters.composite.fences import Fences
from storeproof.contract import Key, Layout, Record, Refused, Unknown


class Copies:
    """Values of the front, in a collection of their own, under the keys of the records. A fenced one begins with the token of its key."""

    def __init__(self, front: Connection, layout: Layout, ttl: int, fences: Fences | None = None) -> None:
        """
        Args:
            ttl: seconds after which a copy expires; 0: never.
            fences: None: a copy counts whenever the front has it.

        Raises:
            Unsupported: the front keeps no values.
            Refused: its values do not expire, and copies are to.
        """
        self._model = layout.model
        self._layout = as_values(layout, "copies")
        self._ttl = ttl
        self._fences = fences
        self._front = ConnectedCollection(front, self._layout)
        if ttl and not self._front.supports("put_expiring"):
            raise Refused("the front has no values that expire; set the option `ttl` to 0, or choose another front")

    def prepare(self) -> None:
        self._front.ask("prepare")

    def clear(self) -> None:
        self._front.ask("clear")

    def describe(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self._front.ask("describe")
        return found

    def get(self, key: Key) -> Record | None:
        """The copy, or None if there is none that counts.

        Raises:
            Unknown: the front does not answer.
            WrongReply: what it answers is no copy.
        """
        try:
            found = self._front.ask("get", key)
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
        Raises `Unknown`: whether the front has this copy, another or none is not known."""
        try:
            copy = encode(self._model, record)
            if self._fences is not None:
                copy = self._fences.token(self._layout.name, key) + copy
            if self._ttl:
                self._front.ask("put_expiring", key, copy, self._ttl)
            else:
                self._front.ask("put", key, copy)
        except (Refused, ValueError, RecursionError):
            self.remove([key])
        except Unknown:
            self._give_up([key])
            raise

    def remove(self, keys: Collection[Key]) -> None:
        """Remove copies, which need not exist. Raises `Unknown`: one may still be there."""
        try:
            for key in keys:
                self._remove(key)
        except Unknown:
            self._give_up(keys)
            raise

    def remove_all(self) -> None:
        """Remove all copies of the collection. Raises `Unknown`: some may still be there."""
        try:
            self._front.ask("clear")
            self._front.ask("prepare")
        except (Refused, Unknown) as reason:
            if self._fences is not None:
                self._fences.replace_all()
            raise Unknown(f"the front does not remove the copies of a collection: {reason}") from reason

    def _remove(self, key: Key) -> None:
        try:
            self._front.ask("delete", key)
        except Refused as reason:
            if self.get(key) is not None:
                raise Unknown(f"the front refuses to remove a copy: {reason}") from reason

    def _give_up(self, keys: Iterable[Key]) -> None:
        """What the front was sent may still be carried out: no copy of these keys counts."""
        if self._fences is not None:
            self._fences.replace(self._layout.name, keys)
