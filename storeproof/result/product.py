"""What a store is called, with its version, on every screen and page: a server does not always say its whole name."""

from __future__ import annotations

import re
from typing import Final

_OVER: Final = " over "
_NUMBERED: Final = re.compile(r"([\w .-]+?) (\d.*)")
"""A name, and all from its number on."""
_SHORT: Final = re.compile(r".*? \d+(\.\d+)*")


def product(title: str, version: str | None) -> str:
    """`MariaDB 10.11.19-MariaDB-0+deb12u1`, `MySQL NDB Cluster 9.7.4-2`, `Redis 8.2.3 over MongoDB 6.0.5`, `etcd, never reached`.

    Args:
        title: of the store's file.
        version: as the server reports it: product and number, of a composite store `title` and both numbers; None if it was never reached.
    """
    if version is None:
        return f"{title}, never reached"
    names = title.split(_OVER)
    numbers = version.removeprefix(f"{title} ").split(_OVER)
    if len(names) > 1:
        return _OVER.join(map(" ".join, zip(names, numbers, strict=True))) if len(names) == len(numbers) else version
    found = _NUMBERED.match(version)
    says_more = found is not None and found[1] != title and f" {found[1]} " in f" {title} "
    return f"{title} {found[2]}" if found and says_more else version


def short_product(title: str, version: str | None) -> str:
    """With the version up to the numbers, whatever the package is called: `MariaDB 10.11.19`."""
    parts = product(title, version).split(_OVER)
    return _OVER.join(found[0] if (found := _SHORT.match(each)) else each for each in parts)
