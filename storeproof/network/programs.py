"""Runs the programs that make and change networks: `ip`, `tc` and `iptables-restore`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storeproof.errors import MachineFailed, NotAvailable
from storeproof.network.namespaces import entered

PROGRAMS: Final = ("ip", "tc", "iptables-restore")
_BEYOND_PATH: Final = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where they are: not in the PATH of every service."""
_SECONDS: Final = 30.0
_CAPABILITIES: Final = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
"""Their bits: include/uapi/linux/capability.h."""


@dataclass(frozen=True)
class Command:
    arguments: Sequence[str]
    text: str = ""
    """Its standard input."""
    namespace: str | None = None
    """The network namespace that it runs in; None: that of this process."""


def unavailable() -> NotAvailable | None:
    """Why this machine cannot make a network; None if nothing is known to be missing."""
    missing = [name for name in PROGRAMS if find(name) is None]
    if missing:
        return NotAvailable(f"a cluster needs the programs {', '.join(missing)} for its network", "apt-get install iproute2 iptables")
    lacking = [name for name, bit in _CAPABILITIES.items() if not _effective() >> bit & 1]
    if lacking:
        return NotAvailable(
            f"a cluster needs a network namespace for each node, and this process may not make them: it lacks {', '.join(lacking)}",
            "run it as root; in a container, with --privileged",
        )
    return None


def run(*commands: Command, missing_ok: bool = False) -> None:
    """Run commands at the same time, and wait for all of them.

    Args:
        missing_ok: ignore failures, since what a command removes may already be gone.

    Raises:
        MachineFailed: one failed or did not end; with its message. The others have ended too.
    """
    running: list[subprocess.Popen[str]] = []
    failures = []
    try:
        for command in commands:
            running.append(_begin(command))  # noqa: PERF401 - those that were begun must be known if one cannot be
        for command, process in zip(commands, running, strict=True):
            try:
                _, said = process.communicate(timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                failures.append(f"{command.arguments[0]} did not end within {_SECONDS:g} s")
                continue
            if process.returncode != 0 and not missing_ok:
                lines = said.strip().splitlines() or [f"exit status {process.returncode}"]
                failures.append(f"{' '.join(command.arguments)}: {lines[0]}")
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.communicate()
    if failures:
        raise MachineFailed(f"the network could not be changed: {failures[0]}")


def _begin(command: Command) -> subprocess.Popen[str]:
    program = find(command.arguments[0])
    if program is None:
        raise MachineFailed(f"the network could not be changed: {command.arguments[0]} was not found")
    # Its input is complete before it starts: a pipe would have to be written while the others wait.
    with os.fdopen(os.memfd_create("storeproof"), "r+", encoding="ascii") as text:
        text.write(command.text)
        text.flush()
        text.seek(0)
        with entered(command.namespace):
            return subprocess.Popen(
                [program, *command.arguments[1:]],
                stdin=text,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env={"PATH": os.environ.get("PATH", "") + os.pathsep + _BEYOND_PATH, "LC_ALL": "C"},
                # Not in the session of a terminal, where Ctrl-C would end it in the middle of a change.
                start_new_session=True,
            )


def find(name: str) -> str | None:
    """The path of a program; None if it is not installed."""
    return shutil.which(name) or shutil.which(name, path=_BEYOND_PATH)


def _effective() -> int:
    """The effective capabilities of this process, as a number of bits."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name == "CapEff":
            return int(value, 16)
    return 0
