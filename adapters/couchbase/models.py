"""What is kept in Couchbase of each model, and what it does to parts of a document: each is one request, and atomic.

Values are raw bytes. All else is JSON: documents as they are, hashes as objects of base64 texts, since JSON has no bytes,
rows and counters as objects of numbers. Couchbase's own counters have no sign, so a counter is a number inside a
document, which a sub-document operation adds to.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from couchbase import exceptions as errors
from couchbase import subdocument
from couchbase.transcoder import RawBinaryTranscoder

from storeproof.adapters.couchbase.records import Records, as_it_is, failure_of
from storeproof.contract import MISSING, Attempts, Json, Key, Missing, Path, Record, Refused, Row, Unsupported


class Values(Records):
    transcoder = RawBinaryTranscoder()

    def encode(self, record: Record) -> Any:
        return record

    def decode(self, content: Any) -> Record:
        return bytes(content)

    def append(self, key: Key, value: bytes) -> None:
        """An append; where there is nothing to append to, an insert, unless another client was faster."""
        tries = Attempts(f"append to {key!r}")
        while True:
            tries.count()
            try:
                self._keyspace.binary().append(self.name(key), value, **self._safely)
            except errors.DocumentNotFoundException:
                if not self.put_if_absent(key, value):
                    continue
            except (errors.CouchbaseException, UnicodeEncodeError) as reason:
                raise failure_of(reason) from reason
            return


class Counters(Records):
    """Numbers of 64 bits with a sign, under `n`."""

    def encode(self, record: Record) -> Any:
        return {"n": record}

    def decode(self, content: Any) -> Record:
        number: int = content["n"]
        return number

    def increment(self, key: Key, by: int) -> int:
        """A sub-document counter; a sum beyond 64 bits is refused."""
        if by == 0:
            return self._as_it_stands(key)
        step = subdocument.increment("n", by) if by > 0 else subdocument.decrement("n", -by)
        try:
            return int(self.change(key, step, create=True).content_as[as_it_is](0))
        except (errors.PathNotFoundException, errors.DocumentNotFoundException, errors.PathExistsException) as reason:
            raise failure_of(reason) from reason

    def _as_it_stands(self, key: Key) -> int:
        """The server takes no step of 0: an insert of the number where there is none says so, and then it is read."""
        tries = Attempts(f"increment of {key!r} by 0")
        while True:
            tries.count()
            try:
                self.change(key, subdocument.insert("n", 0), create=True)
            except errors.PathExistsException:
                (found,) = self.look(key, "n")
                if found is not MISSING:
                    return int(found)
            else:
                return 0


class Rows(Records):
    def encode(self, record: Record) -> Any:
        assert isinstance(record, Row)
        return {"integer": record.integer, "real": record.real}

    def decode(self, content: Any) -> Record:
        return Row(content["integer"], float(content["real"]))


class Hashes(Records):
    """Hashes. One whose last field was removed stays, empty."""

    def encode(self, record: Record) -> Any:
        assert isinstance(record, dict)
        return {field: _text(value) for field, value in record.items()}

    def decode(self, content: Any) -> Record:
        return {field: base64.b64decode(value) for field, value in content.items()}

    def get_field(self, key: Key, field: str) -> bytes | None:
        return self.get_fields(key, [field])[0]

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        """A sub-document upsert, which creates the document where there is none."""
        self.set_fields(key, {field: value})

    def get_fields(self, key: Key, fields: Sequence[str]) -> Sequence[bytes | None]:
        found = self.look(key, *(path_of((field,)) for field in fields))
        return [None if value is MISSING else base64.b64decode(value) for value in found]

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        """A sub-document upsert of each, which create the document where there is none."""
        if not values:
            return
        try:
            self.change(key, *(subdocument.upsert(path_of((field,)), _text(value)) for field, value in values.items()), create=True)
        except (errors.PathNotFoundException, errors.DocumentNotFoundException, errors.PathExistsException) as reason:
            raise failure_of(reason) from reason

    def delete_field(self, key: Key, field: str) -> bool:
        try:
            self.change(key, subdocument.remove(path_of((field,))))
        except (errors.PathNotFoundException, errors.DocumentNotFoundException):
            return False
        return True


class Documents(Records):
    def encode(self, record: Record) -> Any:
        return record

    def decode(self, content: Any) -> Record:
        fields: dict[str, Json] = content
        return fields

    def get_path(self, key: Key, path: Path) -> Json | Missing:
        return self.get_paths(key, [path])[0]

    def set_path(self, key: Key, path: Path, value: Json) -> bool:
        return self.set_paths(key, {path: value})

    def get_paths(self, key: Key, paths: Sequence[Path]) -> Sequence[Json | Missing]:
        return self.look(key, *map(path_of, paths))

    def set_paths(self, key: Key, values: Mapping[Path, Json]) -> bool:
        """A sub-document upsert of a field, replace of a list's item; neither creates the parent. All are made or none."""
        if not values:
            return self.exists(key)
        places = list(map(path_of, values))
        ways = [subdocument.replace if isinstance(path[-1], int) else subdocument.upsert for path in values]
        try:
            self.change(key, *(way(place, value) for way, place, value in zip(ways, places, values.values(), strict=True)))
        except errors.DocumentNotFoundException:
            return False
        except errors.PathNotFoundException as reason:
            raise Refused(f"there is no object or list position to set at {' or '.join(places)}") from reason
        return True

    def unset_path(self, key: Key, path: Path) -> bool:
        if isinstance(path[-1], int):
            raise Refused("only a field of an object can be removed")
        try:
            self.change(key, subdocument.remove(path_of(path)))
        except errors.DocumentNotFoundException:
            return False
        except errors.PathNotFoundException:
            return True  # an absent field is fine
        return True

    def increment_path(self, key: Key, path: Path, by: int | float) -> int | float | None:
        """A sub-document counter, which adds whole numbers to whole numbers."""
        if isinstance(by, float):
            raise Unsupported(f"a sub-document counter adds only integers; found {by!r}")
        place = path_of(path)
        try:
            if by == 0:
                return self._as_it_stands(key, place)
            step = subdocument.increment(place, by) if by > 0 else subdocument.decrement(place, -by)
            return int(self.change(key, step).content_as[as_it_is](0))
        except errors.DocumentNotFoundException:
            return None
        except errors.PathNotFoundException as reason:
            raise Refused(f"there is no object or list position at {place}") from reason

    def _as_it_stands(self, key: Key, place: str) -> int | None:
        """The server takes no step of 0: an insert of the number where there is none says so, and then it is read."""
        tries = Attempts(f"increment of {place} of {key!r} by 0")
        while True:
            tries.count()
            try:
                self.change(key, subdocument.insert(place, 0))
            except errors.PathExistsException:
                (found,) = self.look(key, place)
                if isinstance(found, bool) or not isinstance(found, (int, float, Missing)):
                    raise Refused(f"there is no number at {place}") from None
                if isinstance(found, float):
                    raise Unsupported("a sub-document counter is an integer") from None
                if isinstance(found, int):
                    return found
            else:
                return 0

    def push_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._on_list(key, path, subdocument.array_append(path_of(path), value))

    def insert_item(self, key: Key, path: Path, value: Json) -> bool:
        return self._on_list(key, path, subdocument.array_insert(path_of(path), value))

    def item_count(self, key: Key, path: Path) -> int | Missing:
        """A sub-document count, which also counts the fields of objects: hence the first item is asked for too."""
        place = path_of(path)
        try:
            found = self._keyspace.lookup_in(self.name(key), [subdocument.count(place), subdocument.exists(f"{place}[0]")])
            number = int(found.content_as[as_it_is](0))
            found.exists(1)  # a position in an object: an error
        except (errors.DocumentNotFoundException, errors.PathNotFoundException, errors.PathMismatchException, errors.PathInvalidException):
            return MISSING
        except (errors.CouchbaseException, UnicodeEncodeError) as reason:
            raise failure_of(reason) from reason
        return number

    def _on_list(self, key: Key, path: Path, spec: Any) -> bool:
        try:
            self.change(key, spec)
        except errors.DocumentNotFoundException:
            return False
        except errors.PathNotFoundException as reason:
            raise Refused(f"there is no list at {path_of(path)}") from reason
        return True


def path_of(path: Path) -> str:
    """A sub-document path: names in back quotes, as JSON writes them, so that a dot or a bracket in one is no step."""
    written = ""
    for part in path:
        if isinstance(part, int):
            if part < 0:
                raise Refused(f"there is no list position {part}")
            written += f"[{part}]"
        else:
            name = json.dumps(part, ensure_ascii=False)[1:-1].replace("`", "``")
            written += ("." if written else "") + f"`{name}`"
    if not written:
        raise Refused("the path is empty: the whole record is replaced by put")
    return written


def _text(value: Any) -> str:
    return base64.b64encode(value).decode()
