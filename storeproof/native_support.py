"""The compiled part, `storeproof.native`: whether it is installed, and how to install it.

It is optional, so that an installation needs no Rust toolchain. Check before you import it:

    require("the disk in memory")
    from storeproof import native
"""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from storeproof.errors import NotAvailable
from storeproof.outcome import Lack

_CHECKOUT: Final = Path(__file__).resolve().parents[1]
REMEDY: Final = (
    f"pip install -e {shlex.quote(str(_CHECKOUT))}  # with Rust 1.87 or newer on PATH (https://rustup.rs)"
    if (_CHECKOUT / "native" / "Cargo.toml").is_file()
    else "pip install --force-reinstall --no-deps .  # in a checkout, with Rust 1.87 or newer on PATH (https://rustup.rs)"
)
"""No package index has storeproof, so it names the checkout. pip's `-v` shows the compiler's messages."""


def present() -> bool:
    """Whether it was built when the package was installed."""
    return find_spec("storeproof.native") is not None


def require(what: str) -> None:
    """Check that it is installed; `what` needs it, for the message. Raises `NotAvailable`: it is not installed."""
    if not present():
        reason = f"{what} needs the compiled part of storeproof, which was not built when it was installed"
        raise NotAvailable(reason, REMEDY, Lack.COMPILED_PART)
