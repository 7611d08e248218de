"""Suites of another checkout than the one that is installed: its machinery is not theirs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from storeproof.errors import UsageError
from storeproof.plugin.case import SUITES


def refuse_another(arguments: Iterable[str], directory: Path) -> None:
    """Raise `UsageError` if an argument names the suites of another checkout, or its root; `directory`: where pytest was started."""
    for argument in arguments:
        path = Path(directory, argument.split("::")[0]).resolve()
        for root in (path, *path.parents):
            suites = root / "suites"
            named = path in (root, suites) or suites in path.parents
            if named and suites.resolve() != SUITES and (root / "storeproof" / "plugin" / "__init__.py").is_file():
                raise UsageError(
                    f"these are the suites of {root}, and storeproof is installed from {SUITES.parent}; run `pip install -e {root}` first,"
                    f" or try the suites that are installed: pytest {SUITES}"
                )
