"""The session with one server. One that gave no answer is used no more: a late answer could be taken for that of the next request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from storeproof.contract import Collection, Layout, Refused, Session, Unknown, supports


class Connection:
    """A session that is opened again when it is needed after it was lost."""

    def __init__(self, server: str, connect: Callable[[], Session]) -> None:
        """`server`: its role, for messages. Raises as `connect` does."""
        self._server = server
        self._connect = connect
        self._session: Session | None = connect()
        self._lost: list[Session] = []

    @property
    def session(self) -> Session:
        """The session. Raises `Unknown` if none can be opened."""
        if self._session is None:
            try:
                self._session = self._connect()
            except Refused as reason:
                raise Unknown(f"the {self._server} does not take a connection again: {reason}") from reason
        return self._session

    def lose(self) -> None:
        """The session gave no answer. It is closed at the end: some clients contact their server before they close."""
        if self._session is not None:
            self._lost.append(self._session)
        self._session = None

    def close(self) -> None:
        self.lose()
        while self._lost:
            self._lost.pop().close()


class ConnectedCollection:
    """A collection of the server, in the session that there is now."""

    def __init__(self, connection: Connection, layout: Layout) -> None:
        """Raises `Unsupported` if the server does not keep such records."""
        self._connection = connection
        self._layout = layout
        self._session = connection.session
        self._records: Collection = self._session.collection(layout)

    @property
    def records(self) -> Collection:
        return self._records

    def supports(self, operation: str) -> bool:
        """Whether the server has an operation on such records."""
        return supports(self._records, operation)

    def ask(self, operation: str, *args: Any) -> Any:
        """One request. Raises as the operation does."""
        try:
            if (session := self._connection.session) is not self._session:
                self._session, self._records = session, session.collection(self._layout)
            return getattr(self._records, operation)(*args)
        except Unknown:
            self._connection.lose()
            raise
