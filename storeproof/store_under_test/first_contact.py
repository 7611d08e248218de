"""The first contact with a store: until it has served one client of the run, a refusal is due to credentials or to the client."""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from packaging.requirements import Requirement

from storeproof.contract import Adapter, Address, Breach, Refused, Session, Unsupported, WrongReply
from storeproof.errors import NotAdmitted
from storeproof.spec import Target


@contextlib.contextmanager
def forbid_exit() -> Iterator[None]:
    """Turn a `sys.exit` in an adapter into a `Breach`: it must not end the run, nor silently end a thread."""
    try:
        yield
    except SystemExit as ended:
        raise Breach(f"the adapter called sys.exit({ended.code!r}); it must raise Refused, Unknown or Unsupported") from None


def connect(adapter: Adapter, address: Address, options: Mapping[str, str]) -> Session:
    """Open a session. Raises as the adapter's `connect`."""
    with forbid_exit():
        return adapter.connect(address, options)


def probe(adapter: Adapter, options: Mapping[str, str], address: Address) -> None:
    """Return if a server answers at the address. Raises as the adapter's `connect` and `version`."""
    session = connect(adapter, address, options)
    try:
        with forbid_exit():
            session.version()
    finally:
        session.close()


class FirstContact:
    """With one store under test, over all its launches."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.made = False
        """Whether the store has let a client in and answered it: what it refuses from then on, it refuses by itself."""

    def probe(self, adapter: Adapter, options: Mapping[str, str], address: Address) -> None:
        """As `probing.probe`. Raises `NotAdmitted` too."""
        with self.guarded():
            probe(adapter, options, address)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Raise `NotAdmitted` in place of a refusal within the block, unless the first contact is made."""
        try:
            yield
        except (Refused, Unsupported, WrongReply) as reason:
            if self.made:
                raise
            raise NotAdmitted(f"{self._target.store.name} {self._what_is_wrong(reason)}") from reason

    def _what_is_wrong(self, reason: Exception) -> str:
        if isinstance(reason, Refused):
            what_next = f"check `user` and `password` in {self._target.file.name}, and the rights of that user"
            return f"answers and refuses access: {reason}; {what_next}"
        clients = " and ".join(_with_version(text) for text in self._target.store.requires) or "its adapter"
        return f"answers, but its client cannot use it: {reason}; choose a version of the server that {clients} can use"


def _with_version(requirement: str) -> str:
    """A client package with its version here; it is installed, since the adapter was loaded."""
    name = Requirement(requirement).name
    return f"{name} {importlib.metadata.version(name)}"
