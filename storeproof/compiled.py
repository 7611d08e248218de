"""The compiled part, `storeproof.native`: whether it is here, and how it is had.

It is optional, so that an installation needs no Rust toolchain. Ask before you import it:

    require("the disk in memory")
    from storeproof import native
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from storeproof.errors import NotAvailable

REMEDY: Final = (
    "install Rust 1.87 or newer (https://rustup.rs) and install storeproof again: pip install --force-reinstall --no-deps storeproof"
)
"""In a checkout it is `pip install -e .`; pip's `-v` shows what the compiler said."""


def present() -> bool:
    """Whether it was built when the package was installed."""
    return find_spec("storeproof.native") is not None


def require(what: str) -> None:
    """Make sure that it is here; `what` is what needs it.

    Raises:
        NotAvailable: it is not.
    """
    if not present():
        raise NotAvailable(f"{what} needs the compiled part of storeproof, which was not built when it was installed", REMEDY)
