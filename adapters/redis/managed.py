"""What is different where a Redis is a service: whose it is, what it tells of its settings, whom we trust."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from typing import Any, Final

from storeproof.contract import Address

_SERVICES: Final = {
    ".redis.cache.windows.net": "Azure Cache for Redis",
    ".redis.cache.chinacloudapi.cn": "Azure Cache for Redis",
    ".redis.cache.usgovcloudapi.net": "Azure Cache for Redis",
}
"""By the end of the host name, in the three clouds that have it."""

_BY_INFO: Final = {
    "appendonly": ("aof_enabled", {"0": "no", "1": "yes"}),
    "maxmemory-policy": ("maxmemory_policy", {}),
}
"""By setting: the field of INFO that tells it, and how its values are written in a configuration. Of all others INFO says nothing."""


def service(address: Address) -> str | None:
    """Whose managed Redis answers at the address, or None.

    INFO says the same of it as of any Redis. But over TLS a host name is proven: no other server has a certificate for it.
    """
    return next((name for end, name in _SERVICES.items() if address.tls and address.host.lower().endswith(end)), None)


def settings_of(names: Sequence[str], info: Mapping[str, Any]) -> dict[str, str]:
    """The settings that INFO tells, where a service closes CONFIG; what it does not tell is left out."""
    live = {}
    for name in names:
        field, words = _BY_INFO.get(name, ("", {}))
        if field in info:
            found = str(info[field])
            live[name] = words.get(found, found)
    return live


def has_untrusted_certificate(reason: BaseException | None) -> bool:
    """Whether an error goes back to a certificate that is not trusted, or is not for this host: nothing was sent."""
    while reason is not None:
        if isinstance(reason, ssl.SSLCertVerificationError):
            return True
        reason = reason.__cause__ or reason.__context__
    return False
