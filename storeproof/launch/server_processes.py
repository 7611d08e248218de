"""The processes of one server: the one that was started, and all that descend from it, start after start."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Final

from storeproof.cleanup.workdir import WorkDir
from storeproof.errors import MachineFailed, NotAvailable
from storeproof.launch.end_cause import EndCause
from storeproof.machine import process_tree, shared_memory, shortage
from storeproof.machine.cores import hold, running_on

_GONE_SECONDS: Final = 30.0
"""How long a killed process may take to vanish: writing out dirty pages on a slow disk can hold it for seconds."""
_INHERITED: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TZ")
"""All that a server sees of our environment: a PGDATA or MYSQL_HOME of the user's must not configure it."""


class ServerProcesses:
    """They run in `run/` of a marked directory, which notes them, so that a sweep finds them when we are gone."""

    def __init__(
        self, name: str, directory: WorkDir, end_cause: EndCause, *, user: str | None, install: str, cores: Sequence[int] = ()
    ) -> None:
        """Nothing is started yet.

        Args:
            name: the store, for messages.
            user: whom they run as; None: as we do.
            install: the line that installs their program.
            cores: those that they run on; none: all.
        """
        self._name = name
        self._directory = directory
        self._end_cause = end_cause
        self._user = user
        self._install = install
        self._cores = cores
        self._starting = threading.Lock()
        self._kills = self._kills_before = 0
        self._shared_files: dict[str, int] = {}
        self.leader: subprocess.Popen[bytes] | None = None
        """The process that was started last; None after a kill."""

    @property
    def struck(self) -> bool:
        """Whether we have signalled their end since `allow_start`."""
        return self._kills != self._kills_before

    def allow_start(self) -> None:
        """A start begins: a kill that comes from now on ends it, also between two of its commands."""
        self._kills_before = self._kills

    def spawn(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a command; what it writes goes to the log.

        Raises:
            StoreDied: it was killed since `allow_start`.
            NotAvailable: it cannot be run, by this user or at all.
            OSError: the machine is short of something.
        """
        with self._starting:
            if self.struck:
                raise self._end_cause.store_error(f"{self._name} was killed while it was started")
            directory = self._directory
            # The program is noted before it runs: were we killed between the two, it is still known as ours by what it runs and where.
            directory.programs.add(os.path.realpath(command[0]))
            directory.write_marker()
            kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
            with directory.log.open("ab") as log, running_on(self._cores):
                try:
                    self.leader = process = subprocess.Popen(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        cwd=directory.run,
                        env={**kept, "LC_ALL": "C.UTF-8", "HOME": str(directory.run), "TMPDIR": str(directory.run)},
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
            stat = process_tree.read_stat(process.pid)
            if stat is not None:
                directory.leaders.add((stat.pid, stat.start))
                directory.write_marker()
            if self._end_cause.memory is not None:
                self._end_cause.memory.add(process.pid)
            return process

    def hold_in_limits(self) -> None:
        """Make sure that all of them run on their cores, and that the limit of their memory holds for all.

        Raises:
            MachineFailed, NotAvailable: they do not, or it does not.
        """
        memory = self._end_cause.memory
        if not self._cores and memory is None:
            return
        pids = [each.pid for each in self.members()]
        if self._cores:
            hold(pids, self._cores, self._name)
        if memory is not None:
            for pid in set(pids) - memory.pids():  # forked before their parent was put there
                memory.add(pid)

    def members(self) -> list[process_tree.Stat]:
        """Those that run now, the leader first."""
        return process_tree.members(self._directory.root, self._directory.leaders, self._directory.programs)

    def signal_stop(self, number: signal.Signals) -> None:
        """Ask the leader to end."""
        self._kills += 1
        if self.leader is not None:
            self.leader.send_signal(number)  # one that has ended is fine: `Popen` looks

    def kill(self, *, note_shared_files: bool = False) -> None:
        """SIGKILL to all, and wait until they are gone. A start that another thread is in the middle of ends with it.

        `note_shared_files`: look once more for the shared memory that outlives them.

        Raises:
            MachineFailed: the kernel did not end them.
        """
        with self._starting:
            self._kills += 1
        # The leader at once: to find the others takes milliseconds, in which it would go on writing.
        if self.leader is not None:
            self.leader.send_signal(signal.SIGSTOP)
        if note_shared_files:
            self.note_shared_files()
        gone = process_tree.destroy(self.members, _GONE_SECONDS)
        if not gone:
            left = ", ".join(f"{each.pid} ({each.state})" for each in self.members())
            raise MachineFailed(f"{self._name} was killed, and the kernel did not end it within {_GONE_SECONDS:g} s: {left}")
        if self.leader is not None:
            self.leader.wait()
            self.leader = None

    def freeze(self) -> None:
        """SIGSTOP to all."""
        process_tree.freeze(self.members)

    def thaw(self) -> None:
        """SIGCONT to all, the leader last."""
        process_tree.send(reversed(self.members()), signal.SIGCONT)

    def exit_status(self) -> int | None:
        """How the leader ended, as `subprocess` has it; None while it runs. Waits for one that the kernel is ending: its connections are
        closed before it is gone."""
        if self.leader is None:
            return None
        if process_tree.exiting(self.leader.pid):
            try:
                return self.leader.wait(_GONE_SECONDS)
            except subprocess.TimeoutExpired:
                return None
        return self.leader.poll()

    def note_shared_files(self) -> None:
        """Note what they share now: it belongs to no directory, and outlives them."""
        self._shared_files.update(shared_memory.mapped_files(each.pid for each in self.members()))

    def remove_shared_memory(self) -> None:
        """Remove what they shared, when all have ended."""
        shared_memory.remove_files(self._shared_files)
        shared_memory.remove_segments(pid for pid, _ in self._directory.leaders)
