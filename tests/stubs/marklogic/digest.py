"""Digest authentication with `qop=auth`, from the server's side (RFC 7616, MD5 as MarkLogic has it)."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

REALM = "public"
_PARAMETER = re.compile(r'(\w+)=(?:"([^"]*)"|([^",\s]+))')


class Digest:
    """One user."""

    def __init__(self, user: str, password: str) -> None:
        self._user = user
        self._secret = _md5(f"{user}:{REALM}:{password}")
        self._nonce = secrets.token_hex(16)
        self._opaque = secrets.token_hex(8)

    @property
    def challenge(self) -> str:
        """The `WWW-Authenticate` header."""
        return f'Digest realm="{REALM}", qop="auth", nonce="{self._nonce}", opaque="{self._opaque}"'

    def admits(self, authorization: str | None, method: str, target: str) -> bool:
        """Whether the header proves that the sender of this very request knows the password."""
        if authorization is None or not authorization.startswith("Digest "):
            return False
        given = {name: quoted or plain for name, quoted, plain in _PARAMETER.findall(authorization)}
        if (given.get("username"), given.get("nonce"), given.get("uri"), given.get("qop")) != (self._user, self._nonce, target, "auth"):
            return False
        request = _md5(f"{method}:{target}")
        wanted = _md5(f"{self._secret}:{self._nonce}:{given.get('nc')}:{given.get('cnonce')}:auth:{request}")
        return hmac.compare_digest(wanted, given.get("response", ""))


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
