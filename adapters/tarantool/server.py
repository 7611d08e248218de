"""What is asked of a Tarantool instance as a whole: what it is, how it is set, and that it writes a snapshot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from storeproof.contract import Version


class Server(ABC):
    """A part of a session."""

    @abstractmethod
    def evaluate(self, text: str, *args: Any) -> Any:
        """Run Lua; all that it returns, as a list."""

    def version(self) -> Version:
        """By box.info."""
        product, number = self.evaluate("return box.info.package or 'Tarantool', box.info.version")
        return Version(product, number)

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """By box.cfg."""
        text = "local t = {} for i, n in ipairs({...}) do t[i] = tostring(box.cfg[n]) end return t"
        return dict(zip(names, self.evaluate(text, *names)[0], strict=True))

    def compact(self) -> str:
        """A snapshot of memtx and a dump of vinyl; the log is begun anew."""
        self.evaluate("return box.snapshot()")
        return "box.snapshot()"
