"""The session with the front. One that gave no answer is used no more: a late answer could be taken for that of the next request."""

from __future__ import annotations

from collections.abc import Callable

from storeproof.contract import Refused, Session, Unknown


class Front:
    """A session that is opened again when it is needed after it was lost."""

    def __init__(self, connect: Callable[[], Session]) -> None:
        """Raises as `connect` does."""
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
                raise Unknown(f"the front does not take a connection again: {reason}") from reason
        return self._session

    def lose(self) -> None:
        """The session gave no answer. It is closed at the end: some clients contact their server before they close."""
        if self._session is not None:
            self._lost.append(self._session)
        self._session = None

    def close(self) -> None:
        """End all."""
        self.lose()
        while self._lost:
            self._lost.pop().close()
