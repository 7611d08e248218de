"""Hides the user's environment from client libraries: how a client connects and what it sends is decided by the adapter alone.

libpq obeys PGOPTIONS and ~/.pgpass, clients over HTTP obey proxies and ~/.netrc, and a vendor's client obeys what we have never heard of.
So the list is of what stays: what programs need to run on this machine at all. Processes that are started meanwhile inherit no more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_STAYS: Final = frozenset(
    [
        *("PATH", "TZ", "LANG", "LANGUAGE", "TMPDIR", "TMP", "TEMP", "USER", "LOGNAME", "SHELL", "HOSTNAME", "VIRTUAL_ENV", "CI"),
        *("TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "XDG_RUNTIME_DIR"),
        "SSL_CERT_FILE",  # which authorities the user trusts: the store files of servers with TLS name it
    ]
)
_STAY_IF_BEGUN_BY: Final = ("LC_", "LD_", "PYTHON", "PYTEST", "COV", "HYPOTHESIS", "STOREPROOF_", "DOCKER_", "TESTCONTAINERS_")
"""The interpreter and its loader, pytest and what watches it, and the container engine, which is no store."""
_NO_HOME: Final = "/dev/null"
"""Nothing is below it, and nothing can be made there."""


class UserEnvironment:
    """The environment of this process, which may be hidden and shown again."""

    def __init__(self) -> None:
        self._shown: dict[str, str] | None = None
        """All of it, while it is hidden."""

    def hide(self) -> None:
        """Leave only what programs need in general, and no home directory. Does nothing if it is hidden."""
        if self._shown is not None:
            return
        self._shown = dict(os.environ)
        for name in self._shown:
            if name not in _STAYS and not name.startswith(_STAY_IF_BEGUN_BY):
                del os.environ[name]
        os.environ["HOME"] = _NO_HOME
        if home := self._shown.get("HOME"):
            os.environ.setdefault("DOCKER_CONFIG", str(Path(home, ".docker")))

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide it within the block."""
        self.hide()
        try:
            yield
        finally:
            self.show()

    def show(self) -> None:
        """Make it what it was. Does nothing if it is shown."""
        if self._shown is not None:
            for name in ("HOME", "DOCKER_CONFIG"):
                os.environ.pop(name, None)
            os.environ.update(self._shown)
            self._shown = None
