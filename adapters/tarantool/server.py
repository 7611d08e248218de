"""What is asked of a Tarantool instance as a whole: what it is, how it is set, and that it writes a snapshot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from storeproof.contract import Version


class Server(ABC):
    """A part of a session."""

    @abstractmethod
    def call(self, function: str, *args: Any) -> Any:
        """Call one of the functions in `server.lua`; all that it returns, as a list."""

    def version(self) -> Version:
        product, number = self.call("version")
        return Version(product, number)

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        return dict(zip(names, self.call("settings", list(names))[0], strict=True))

    def compact(self) -> str:
        """A snapshot of memtx and a dump of vinyl; a new log file is begun."""
        self.call("snapshot")
        return "box.snapshot()"
