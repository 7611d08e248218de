"""Composite stores: a front that keeps copies of records, over a home that keeps the records, with a layer before both."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self, cast, get_args

from pydantic import Field, field_validator

from storeproof.spec.base import Frozen, RuleError

UNITS: Final = "${bytes}, ${mib}, ${gib}"
"""For messages."""


def names_a_size(value: str) -> bool:
    """Whether exactly one unit is in the value, and nothing else that looks like one."""
    template = string.Template(value)
    named = template.get_identifiers() if template.is_valid() else []
    return len(named) == 1 and named[0] in _units(0)


def with_size(value: str, size: int) -> str:
    """The value for `size` bytes; one that names no size stays as it is."""
    return string.Template(value).safe_substitute(_units(size))


def _units(size: int) -> dict[str, str]:
    return {"bytes": str(size), "mib": str(size // 2**20), "gib": f"{size / 2**30:g}"}


Role = Literal["front", "home"]

FRONT: Final[Role] = "front"
HOME: Final[Role] = "home"
ROLES: Final[tuple[Role, ...]] = (FRONT, HOME)

PolicyName = Literal["cache-aside", "read-through", "write-through", "write-behind"]
"""What the layer locks.

`cache-aside`: nothing; clients fill and invalidate the front as they come. `read-through`: one client at a time fills the copy of a key.
`write-through`: as `read-through`, and the same lock is held while the key is written in the home and in the front.
`write-behind`: as `write-through`, but a write of a whole record is acknowledged as soon as it waits in a queue in the front.
"""

Invalidation = Literal["delete", "update"]
"""What a write does to the copy of its key in the front, after it was written to the home."""

_OPTIONS: Final = ("policy", "invalidate", "ttl")
_LOCKS_WRITES: Final = ("write-through", "write-behind")


class Composite(Frozen):
    """The two servers of a composite store."""

    front: str
    """The store that keeps the copies, and its variant: as after `--store`, or a YAML file relative to this one."""
    home: str
    """The store that keeps the records, written as the front. What it guarantees, the composite can guarantee."""
    front_memory: dict[str, str] = Field(default_factory=dict)
    """Settings of the front that limit its memory, and have it evict copies beyond that. One value has `${bytes}`, `${mib}` or `${gib}` for
    the size. The cases that measure hit rates use them; none: the front cannot be limited."""

    @field_validator("front_memory")
    @classmethod
    def _says_how_much(cls, value: dict[str, str]) -> dict[str, str]:
        if value and sum(map(names_a_size, value.values())) != 1:
            raise ValueError(f"allowed: one value with exactly one of {UNITS}, with any text around it, and any others without")
        return value

    def limited(self, size: int) -> dict[str, str]:
        """The settings of a front with `size` bytes of memory."""
        return {name: with_size(value, size) for name, value in self.front_memory.items()}


@dataclass(frozen=True)
class Caching:
    """How the layer keeps the copies in the front: the options of a composite store's variant."""

    policy: PolicyName
    invalidate: Invalidation
    ttl: int
    """Seconds after which a copy expires; 0: never."""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Self:
        """Read the options. `invalidate` is `update` by default where writes are locked, else `delete`; `ttl` is 0 by default.
        Raises `RuleError`: an option is missing, unknown, or has a value that is not allowed; its location is the option's name."""
        for name in options:
            if name not in _OPTIONS:
                raise RuleError(f"unknown option of a composite store; allowed: {', '.join(_OPTIONS)}", name)
        policy = _choice(options, "policy", get_args(PolicyName))
        preset = "update" if policy in _LOCKS_WRITES else "delete"
        invalidate = _choice({"invalidate": preset, **options}, "invalidate", get_args(Invalidation))
        ttl = options.get("ttl", "0")
        if not (ttl.isascii() and ttl.isdecimal() and str(int(ttl)) == ttl):
            raise RuleError(f"found '{ttl}'; allowed: a number of seconds, or 0 for copies that do not expire", "ttl")
        return cls(cast(PolicyName, policy), cast(Invalidation, invalidate), int(ttl))

    @property
    def one_fills(self) -> bool:
        """Whether one client at a time fills a copy, and all others wait for it."""
        return self.policy != "cache-aside"

    @property
    def locks_writes(self) -> bool:
        """Whether a key is locked while it is written: then no read may be stale, and copies have fences."""
        return self.policy in _LOCKS_WRITES

    @property
    def home_first(self) -> bool:
        """Whether a write is acknowledged only when the home has it."""
        return self.policy != "write-behind"

    @property
    def options(self) -> dict[str, str]:
        """All options, as `of` reads them."""
        return {"policy": self.policy, "invalidate": self.invalidate, "ttl": str(self.ttl)}


def check_settings(settings: Mapping[str, str]) -> None:
    """Check the names of a composite store's own settings, which are those of its servers.
    Raises `RuleError`: one does not say whose it is; its location is the setting's name."""
    for name in settings:
        role, dot, rest = name.partition(".")
        if role not in ROLES or not dot or not rest:
            allowed = " or ".join(f"`{each}.NAME`" for each in ROLES)
            raise RuleError(f"the setting does not say whose it is; allowed: {allowed}, for a setting of that server", name)


def _choice(options: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    found = options.get(name)
    if found is None:
        raise RuleError(f"is missing; allowed: {', '.join(allowed)}", name)
    if found not in allowed:
        raise RuleError(f"found '{found}'; allowed: {', '.join(allowed)}", name)
    return found
