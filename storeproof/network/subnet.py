"""Finds addresses for a network that nothing on this machine uses."""

from __future__ import annotations

import ipaddress
import json
import random
import subprocess
from collections.abc import Iterable
from typing import Final

from storeproof.errors import NotAvailable
from storeproof.network.programs import find

_RANGE: Final = ipaddress.IPv4Network("198.18.0.0/15")
"""Reserved for benchmarks of network devices (RFC 2544), so that no host is reached by it."""
_LENGTH: Final = 28
"""Fourteen addresses: this machine's, and those of the nodes."""
_TRIES: Final = 200


def free_subnet() -> ipaddress.IPv4Network:
    """A subnet to which this machine has no route, drawn at random, since another run may look for one at the same time.
    Raises `NotAvailable`: the routes cannot be read, or there is none left."""
    used = list(_routes())
    draw = random.SystemRandom()
    step = 1 << (32 - _LENGTH)
    first, number = int(_RANGE.network_address), _RANGE.num_addresses // step
    for _ in range(_TRIES):
        tried = ipaddress.IPv4Network((first + step * draw.randrange(number), _LENGTH))
        if not any(tried.overlaps(each) for each in used):
            return tried
    raise NotAvailable(f"a cluster needs a subnet of {_RANGE} for its network, and this machine has routes to all of it")


def _routes() -> Iterable[ipaddress.IPv4Network]:
    """The destinations of this machine's routes, without the default route."""
    program = find("ip")
    try:
        done = subprocess.run(
            [program or "ip", "-j", "-4", "route", "show", "table", "all"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
        destinations = [str(route["dst"]) for route in json.loads(done.stdout or "[]") if "dst" in route]
    except (OSError, subprocess.SubprocessError, ValueError, TypeError) as reason:
        raise NotAvailable(f"the routes of this machine cannot be read: {reason}", "apt-get install iproute2") from None
    for destination in destinations:
        if destination != "default":
            yield ipaddress.IPv4Network(destination, strict=False)
