"""The processes of one server: the one that was started and all its descendants, across all starts."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Final, Protocol

from storeproof.cleanup.workdir import WorkDir
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.launch.end_cause import EndCause
from storeproof.launch.forking import ForkServer, can_be_forked
from storeproof.machine import process_tree, shared_memory, shortage
from storeproof.machine.cores import hold, running_on
from storeproof.machine.memory_group import MemoryGroup
from storeproof.network.namespaces import entered

_GONE_SECONDS: Final = 30.0
"""How long a killed process may take to disappear: writing dirty pages to a slow disk can delay it for seconds."""
_INHERITED: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TZ")
"""The only variables that a server inherits from the environment: the user's PGDATA or MYSQL_HOME must not configure it."""


def inherited() -> dict[str, str]:
    """The environment of every server."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ} | {"LC_ALL": "C.UTF-8"}


class Leader(Protocol):
    """The process that is started, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int:
        """Its id on this machine."""

    def poll(self) -> int | None:
        """Its return code, negative for a signal; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; return its return code. Raises `subprocess.TimeoutExpired` after `timeout` seconds."""

    def send_signal(self, number: int) -> None:
        """Send it a signal; do nothing if it has ended."""


class ServerProcesses:
    """The processes run in `run/` of a working directory, whose marker records them: a sweep finds them if storeproof was killed."""

    def __init__(
        self,
        name: str,
        directory: WorkDir,
        end_cause: EndCause,
        *,
        user: str | None,
        install: str = "",
        cores: Sequence[int] = (),
        memory: MemoryGroup | None = None,
        namespace: str | None = None,
        fork_server: ForkServer | None = None,
    ) -> None:
        """Nothing is started yet.

        Args:
            name: the store, for messages.
            directory: their working directory.
            end_cause: decides who is to blame for an end.
            user: the user that they run as; None: the current one.
            install: the command that installs their program, for the remedy.
            cores: the cores that they run on; empty: all.
            memory: the control group that limits their memory; None without a limit.
            namespace: the network namespace that they run in; None: that of this process.
            fork_server: starts those of them that are Python; None: none.
        """
        self._name = name
        self._directory = directory
        self._end_cause = end_cause
        self._user = user
        self._install = install
        self._cores = cores
        self._memory = memory
        self._namespace = namespace
        self._fork_server = fork_server
        self._starting = threading.Lock()
        self._kills = self._kills_before = 0
        self._shared_files: dict[str, int] = {}
        self.leader: Leader | None = None
        """The process that was started last; None before the first start and after a kill."""

    @property
    def struck(self) -> bool:
        """Whether storeproof has stopped or killed them since `allow_start`."""
        return self._kills != self._kills_before

    def allow_start(self) -> None:
        """Call at the beginning of a start. A `kill` after that ends the start, even between two of its commands."""
        self._kills_before = self._kills

    def spawn(self, command: Sequence[str]) -> Leader:
        """Start a command, with its output appended to the log.

        Raises:
            StoreDied: the server was killed since `allow_start`.
            NotAvailable: the command cannot be run, or not by `user`.
            OSError: the machine lacks a resource.
        """
        with self._starting:
            if self.struck:
                raise self._end_cause.store_error(f"{self._name} was killed while it was started")
            self.leader = leader = self._begin(command)
            self._record(leader.pid)
            if self._memory is not None:
                self._memory.add(leader.pid)
            return leader

    def hold_in_limits(self) -> None:
        """Make sure that all processes run on their cores and are in the control group that limits their memory.

        Raises:
            MachineFailed: one cannot be moved to the cores.
            NotAvailable: one cannot be moved to the control group.
        """
        memory = self._memory
        if not self._cores and memory is None:
            return
        pids = [each.pid for each in self.members()]
        if self._cores:
            hold(pids, self._cores, self._name)
        if memory is not None:
            for pid in set(pids) - memory.pids():  # forked before their parent was added
                memory.add(pid)

    def members(self) -> list[process_tree.Stat]:
        """The processes that are running, leaders first."""
        return process_tree.members(self._directory.root, self._directory.leaders, self._directory.programs)

    def signal_stop(self, number: signal.Signals) -> None:
        """Send the leader the signal that asks it to stop."""
        self._kills += 1
        if self.leader is not None:
            self.leader.send_signal(number)  # does nothing if it has ended

    def kill(self) -> None:
        """Send SIGKILL to all and wait until they are gone. This also ends a start that is in progress in another thread.

        Raises:
            MachineFailed: the kernel did not end them in time.
        """
        with self._starting:
            self._kills += 1
        # Freeze the leader first: finding the others takes milliseconds, in which it would go on writing.
        if self.leader is not None:
            self.leader.send_signal(signal.SIGSTOP)
        self.note_shared_files()  # once more: a server makes further ones while it runs
        gone = process_tree.destroy(self.members, _GONE_SECONDS)
        if not gone:
            left = ", ".join(f"{each.pid} ({each.state})" for each in self.members())
            raise MachineFailed(f"{self._name} was killed, and the kernel did not end it within {_GONE_SECONDS:g} s: {left}")
        if self.leader is not None:
            self.leader.wait()
            self.leader = None

    def freeze(self) -> None:
        """Send SIGSTOP to all."""
        process_tree.freeze(self.members)

    def thaw(self) -> None:
        """Send SIGCONT to all, the leader last."""
        process_tree.send(reversed(self.members()), signal.SIGCONT)

    def exit_status(self) -> int | None:
        """The leader's return code, as in `subprocess`; None while it runs. Waits if the kernel is ending it: its connections are closed
        some time before it is gone."""
        if self.leader is None:
            return None
        if process_tree.exiting(self.leader.pid):
            try:
                return self.leader.wait(_GONE_SECONDS)
            except subprocess.TimeoutExpired:
                return None
        return self.leader.poll()

    def note_shared_files(self) -> None:
        """Record the files of shared memory that they map now, which are not in their directory and outlive them."""
        own = f"{self._directory.root}/"  # which may be in memory too
        mapped = shared_memory.mapped_files(each.pid for each in self.members())
        self._shared_files.update({path: inode for path, inode in mapped.items() if not path.startswith(own)})

    def remove_remains(self) -> None:
        """Remove what outlives them: the shared memory that they used. Call it after all have ended."""
        shared_memory.remove_files(self._shared_files)
        shared_memory.remove_segments(pid for pid, _ in self._directory.leaders)

    def _begin(self, command: Sequence[str]) -> Leader:
        """Start a command; see `spawn`."""
        directory = self._directory
        # Record the program before it runs: if storeproof is killed in between, a sweep recognises it by its program and directory.
        directory.programs.add(os.path.realpath(command[0]))
        directory.write_marker()
        own = {"HOME": str(directory.run), "TMPDIR": str(directory.run)}
        with directory.log.open("ab") as log, running_on(self._cores), entered(self._namespace):
            try:
                if self._fork_server is not None and can_be_forked(command):
                    return self._fork_server.start(command[1:], directory.run, own, log.fileno())
                return subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=directory.run,
                    env={**inherited(), **own},
                    start_new_session=True,
                    user=self._user,
                    group=pwd.getpwnam(self._user).pw_gid if self._user else None,
                    extra_groups=[] if self._user else None,
                )
            except OSError as reason:
                if shortage.shortage_of(reason):
                    raise
                who = f" by the user {self._user}" if self._user else ""
                raise NotAvailable(f"{self._name}: {command[0]} cannot be run{who}: {reason.strerror}", self._install) from None

    def _record(self, pid: int) -> None:
        """Note a leader in the marker, by which a sweep finds it and what descends from it."""
        stat = process_tree.read_stat(pid)
        if stat is not None:
            self._directory.leaders.add((stat.pid, stat.start))
            self._directory.write_marker()
