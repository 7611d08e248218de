"""The specification as shipped, read once for all tests of a process: reading it takes as long as many of them."""

from __future__ import annotations

from typing import Final

from storeproof.spec import Spec, load_spec

SHIPPED: Final[Spec] = load_spec()
