"""Probes an endpoint from a child process before the run itself connects to it: see `endpoint_probe_child`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storeproof.contract.values import Layout
from storeproof.errors import UsageError
from storeproof.launch.endpoint_probe_child import MEMORY
from storeproof.printable import printable

_BACKSTOP = 90.0
"""Seconds after which the child is killed. Its own timers end it earlier, unless the machine is too busy."""
_NOT_LIKE = "answers, but not like such a store"
_MOST_MEMORY = f"{MEMORY >> 20} MB"


class NotLikeSuchAStore(UsageError):
    """What answers at the endpoint is not the store, or one that has gone mad."""


@dataclass(frozen=True)
class EndpointProbe:
    """An endpoint, the store that is expected there, and the settings and the collection that the probe uses."""

    url: str = field(repr=False)
    """Includes the password."""
    file: Path
    """The store's YAML."""
    variant: str
    settings: Sequence[str]
    layout: Layout
    """A collection with an unused name, removed after the probe."""

    def check(self, where: str, seconds: float) -> None:
        """Check that the endpoint accepts connections, writes and reads.

        Args:
            where: the endpoint, for messages.
            seconds: the time limit.

        Raises:
            UsageError: it does not answer, or refuses access; or this machine is too busy.
            NotLikeSuchAStore: it answers something else.
        """
        asked = {
            "file": str(self.file),
            "variant": self.variant,
            "url": self.url,
            "settings": list(self.settings),
            "collection": self.layout.name,
            "model": self.layout.model.model_dump(mode="json"),
            "seconds": seconds,
        }
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "storeproof.launch.endpoint_probe_child"],
                input=json.dumps(asked).encode(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_BACKSTOP,
                env={**os.environ, "MALLOC_ARENA_MAX": "2"},  # an arena for each thread would count against its limit
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UsageError(f"{where} could not be probed within {_BACKSTOP:g} s: this machine is too busy; run again") from None
        step, ended = "start", None
        for line in done.stdout.splitlines():
            said: dict[str, Any] = json.loads(line)
            step, ended = said.get("at", step), said if "end" in said else ended
        if complaint := _complaint(ended, step, seconds, done.returncode):
            kind = NotLikeSuchAStore if complaint.startswith(_NOT_LIKE) else UsageError
            raise kind(printable(f"{where} {complaint}"))


def _complaint(ended: dict[str, Any] | None, step: str, seconds: float, status: int) -> str:
    """What is wrong, for the message; empty if the endpoint was ready."""
    found = ended["found"] if ended else ""
    match ended["end"] if ended else -status:
        case "ready":
            return ""
        case "unresolved":
            return f"cannot be reached: the name of its host cannot be resolved ({found})"
        case "silent":
            return f"did not answer within {seconds:g} s ({found})"
        case "refused":
            return f"answers and refuses access: {found}; credentials stand before its host, as in USER:${{PASSWORD}}@HOST"
        case "unusable":
            return f"answers, but its client cannot use it: {found}"
        case "strange":
            return f"{_NOT_LIKE}, when we {step}: {found}"
        case "memory":
            return f"{_NOT_LIKE}: its client takes more than {_MOST_MEMORY} when we {step}"
        case signal.SIGXCPU | signal.SIGALRM:
            return f"{_NOT_LIKE}: its client does not return when we {step}"
        case number if isinstance(number, int) and number > 0:
            return f"{_NOT_LIKE}: its client crashes ({signal.Signals(number).name}) when we {step}"
    return f"could not be probed: the process of the probe ended with exit status {status} before it could {step}"
