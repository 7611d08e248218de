"""Replaces `${name}` in the templates of a launcher: commands, files and environment variables."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from storeproof.errors import UsageError

_SETTINGS = "${settings}"


class _Names(string.Template):
    """Allows dots and dashes in names, as in `${port.admin}`."""

    braceidpattern = r"[a-z_][a-z0-9_.-]*"


@dataclass(frozen=True)
class Template:
    """The values that replace names in the templates of one launch, and the variant's settings.

    Its methods raise `UsageError` for an unknown name or an invalid `$`.
    """

    store: str
    """The store's name, for messages."""
    values: Mapping[str, str]
    setting: Sequence[str]
    """How one setting is written: items with `${name}` and `${value}`."""
    settings: Mapping[str, str]

    def command(self, items: Iterable[str]) -> list[str]:
        """Fill in a command line. An item that is just `${settings}` becomes one or more arguments per setting."""
        filled: list[str] = []
        for item in items:
            if item == _SETTINGS:
                filled.extend(argument for written in self._written() for argument in written)
            else:
                filled.append(self.text(item))
        return filled

    def text(self, text: str) -> str:
        """Fill in a file or a value. `${settings}` in it becomes one line per setting, with the items joined by spaces."""
        return self._fill(text, {**self.values, "settings": "\n".join(" ".join(written) for written in self._written())})

    def table(self, items: Mapping[str, str]) -> dict[str, str]:
        """Fill in the values of a mapping; the keys are not changed."""
        return {name: self.text(value) for name, value in items.items()}

    def _written(self) -> list[list[str]]:
        return [self._setting({**self.values, "name": name, "value": value}) for name, value in self.settings.items()]

    def _setting(self, values: Mapping[str, str]) -> list[str]:
        return [self._fill(item, values) for item in self.setting]

    def _fill(self, text: str, values: Mapping[str, str]) -> str:
        try:
            return _Names(text).substitute(values)
        except KeyError as missing:
            allowed = ", ".join(f"${{{name}}}" for name in sorted({*values, "here", "settings"}))
            raise UsageError(f"{self.store}: unknown name ${{{missing.args[0]}}} in {text!r}; allowed: {allowed}") from None
        except ValueError:
            raise UsageError(f"{self.store}: invalid `$` in {text!r}; write a literal dollar as `$$`") from None
