"""A Python that has loaded what every host needs, and forks for each start of one: Python's own start takes longer than all else.

It imports nothing of a store: a forked process runs its command from the beginning, as `python` does, and two starts share nothing but
the modules that are imported here. It has one thread, and ends with the launcher.

Run: `python -m storeproof.embedded.fork_server DESCRIPTOR PADDING`: a socket of the launcher, which keeps message boundaries, and room for
the command lines of hosts. The requests, in MessagePack, and their replies:

* `[arguments, directory, environment, cores]`, with the descriptor of the log: fork; the reply is the process, or an `errno` below zero.
* a process that has ended: reap it; the reply is its return code, as in `subprocess`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import runpy
import select
import socket
import sys
import types
from pathlib import Path

import msgpack

import storeproof.embedded.host  # noqa: F401 - loaded for all hosts

LONGEST = 2**18
"""Bytes of a request: more than the kernel takes of a command."""


def main() -> None:
    gc.collect()
    gc.freeze()  # a collection in a forked process leaves these pages shared
    with socket.socket(fileno=int(sys.argv[1])) as launcher:
        arguments = _arguments(launcher)
    if arguments:
        _run(arguments)


def _arguments(launcher: socket.socket) -> list[str]:
    """Serve the launcher; in a forked process, return what it is to run. Empty: there is no launcher any more."""
    while True:
        request, descriptors, *_ = socket.recv_fds(launcher, LONGEST, 1)
        if not request:
            return []
        match msgpack.unpackb(request):
            case int(pid):
                reply = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            case [arguments, directory, environment, cores]:
                try:
                    os.chdir(directory)  # before it forks: a sweep finds a process by its directory
                    reply = os.fork()
                except OSError as reason:
                    reply = -(reason.errno or 0)
                if reply == 0:
                    os.setsid()
                    os.dup2(descriptors[0], 1)
                    os.dup2(descriptors[0], 2)
                    os.close(descriptors[0])
                    os.sched_setaffinity(0, cores)
                    os.environ.update(environment)
                    # Where the launcher was killed before this directory was entered, no sweep will come.
                    return [] if _hung_up(launcher) else arguments
                os.chdir("/")
                os.close(descriptors[0])
        with contextlib.suppress(BrokenPipeError):
            launcher.send(msgpack.packb(reply))


def _hung_up(launcher: socket.socket) -> bool:
    poll = select.poll()
    poll.register(launcher, 0)
    return bool(poll.poll(0))


def _run(arguments: list[str]) -> None:
    """What `python` does with these arguments."""
    how, *rest = arguments
    _show([sys.executable, *arguments])
    if how == "-m":
        sys.argv, sys.path[0] = rest, str(Path.cwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.argv, sys.path[0] = [how, *rest[1:]], ""
        sys.modules["__main__"] = own = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), own.__dict__)  # noqa: S102 - as `python -c`
    else:
        sys.argv, sys.path[0] = arguments, str(Path(how).resolve().parent)
        runpy.run_path(how, run_name="__main__")


def _show(command: list[str]) -> None:
    """Have /proc, and so `ps`, show this command, in the place of that of the fork server, as PostgreSQL's processes do."""
    with contextlib.suppress(OSError), Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        first, last = map(int, Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[45:47])
        memory.seek(first)
        memory.write(os.fsencode(" ".join(command))[: last - first - 2].ljust(last - first - 1, b"\0") + b" ")  # one text, which no 0 ends


if __name__ == "__main__":
    main()
