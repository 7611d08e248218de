"""What is done to several servers, or to nodes of several servers, is done to each of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Protocol


class Member(Protocol):
    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def alive(self) -> bool: ...

    def check_alive(self) -> None: ...


class Servers(ABC):
    @property
    @abstractmethod
    def members(self) -> Collection[Member]:
        """All of them, in the order in which they are asked."""

    def pause(self) -> None:
        for each in self.members:
            each.pause()

    def resume(self) -> None:
        for each in self.members:
            each.resume()

    def alive(self) -> bool:
        return all(each.alive() for each in self.members)

    def check_alive(self) -> None:
        for each in self.members:
            each.check_alive()
