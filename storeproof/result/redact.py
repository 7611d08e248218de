"""Keeps credentials out of reports and logs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from storeproof.masking import MASK, mask

__all__ = ["MASK", "redact", "redact_command", "redact_settings"]

_URL = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)(?P<user>[^\s/:@'\"]*):(?P<password>[^\s/'\"]*)@", re.IGNORECASE)
"""`scheme://user:password@host`. The password ends at the last `@` before the path, since it may be unencoded."""

_CREDENTIAL = r"[\w-]*(?:password|passwd|passphrase|requirepass|masterauth|secret|token|api[_-]?key|access[_-]?key)[\w-]*(?<![_-]size)"
"""Except sizes: `innodb_ft_min_token_size` is an ordinary setting."""
_VALUE = r"(?P<value>\"[^\"]*\"|'[^']*'|[^\s,;&\"'}\])]+)"

_ASSIGNED = re.compile(rf"(?P<name>{_CREDENTIAL})(?P<between>[\"']?\s*[=:]\s*){_VALUE}", re.IGNORECASE)
"""`--password=x`, `PASSWORD=x`, `"password": "x"`."""

_FOLLOWED = re.compile(
    rf"(?P<name>--?{_CREDENTIAL}|\b(?:requirepass|masterauth|primaryauth))(?P<between>[\"']?[ \t]+){_VALUE}",
    re.IGNORECASE,
)
"""`--password x`, `requirepass x`. Without dashes, "password is wrong" would be masked too."""


def redact(text: str, secrets: Iterable[str | None] = ()) -> str:
    """Mask passwords in a text: known ones, and anything that looks like one in a URL, an option or a setting.

    `secrets` are the known credentials, masked in all their forms.
    """
    text = _URL.sub(rf"\g<scheme>\g<user>:{MASK}@", mask(text, secrets))
    return _FOLLOWED.sub(_mask_value, _ASSIGNED.sub(_mask_value, text))


def redact_command(arguments: Sequence[str], secrets: Iterable[str | None] = ()) -> str:
    """A shell command line with passwords masked."""
    known = tuple(secrets)
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        shown.append(MASK if hide_next else redact(argument, known))
        hide_next = _FOLLOWED.fullmatch(f"{argument} x") is not None
    return shlex.join(shown).replace(f"'{MASK}'", MASK)


def redact_settings(settings: Mapping[str, str], secrets: Iterable[str | None] = ()) -> dict[str, str]:
    """Settings with the values of credentials masked."""
    known = tuple(secrets)
    return {
        name: MASK if value and re.fullmatch(_CREDENTIAL, name, re.IGNORECASE) else redact(value, known) for name, value in settings.items()
    }


def _mask_value(match: re.Match[str]) -> str:
    value = match["value"]
    quoted = value[0] if value[0] in "\"'" else ""
    return f"{match['name']}{match['between']}{quoted}{MASK}{quoted}"
