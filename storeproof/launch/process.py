"""A store as a local process: the server's own binary on a directory of ours."""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from storeproof.cleanup.reaper import guard
from storeproof.cleanup.registry import registry
from storeproof.cleanup.sweep import sweep_all
from storeproof.cleanup.workdir import WorkDir, default_base
from storeproof.contract.address import Address
from storeproof.disk.ext4 import NO_VOLUME
from storeproof.disk.ext4 import base as volume_base
from storeproof.disk.methods import AS_CAN_BE_HAD, PowerCut, make_disk
from storeproof.disk.power_cut import Cuttable
from storeproof.errors import MachineFailed, NotAvailable, StoreDied, StoreproofError
from storeproof.launch.end_cause import EndCause, ending
from storeproof.launch.handle import LaunchKind, Probe
from storeproof.launch.log import said, tail
from storeproof.launch.nodes import NO_NODES, NODE_FAULTS
from storeproof.launch.readiness import late, wait_until_ready
from storeproof.launch.template import Template
from storeproof.machine import ports, process_tree, shared_memory, shortage
from storeproof.machine.patience import Patience, work_of
from storeproof.machine.programs import check_traversable, find_program
from storeproof.spec.store import ProcessLaunch

_HOST = "127.0.0.1"
_UNPRIVILEGED = "nobody"
_LOOK_SECONDS = 0.02
_GONE_SECONDS = 30.0
"""How long a killed process may take to vanish: writing out dirty pages on a slow disk can hold it for seconds."""
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TZ")
"""All that a server sees of our environment: a PGDATA or MYSQL_HOME of the user's must not configure it."""


class ProcessHandle(Cuttable):
    """A server of ours under 127.0.0.1, in a session of its own."""

    kind: LaunchKind = "process"
    image_digest: str | None = None
    nodes: Sequence[str] = ()

    def __init__(
        self,
        name: str,
        launch: ProcessLaunch,
        settings: Mapping[str, str],
        probe: Probe,
        base: Path | None = None,
        *,
        keep: bool = False,
        on_volume: bool = False,
        power_cut: PowerCut = AS_CAN_BE_HAD,
    ) -> None:
        """Nothing runs yet; the directory is made, and removed by `close`.

        Args:
            name: the store, for messages.
            base: where data goes; the system's directory for temporary files if None.
            on_volume: on a file system of its own, so that its power can be cut; in memory if there is room and `base` is None.
            power_cut: how.

        Raises:
            NotAvailable: a program is not installed, the directory cannot be entered by the server's user, or no volume can be had.
        """
        self._name = name
        self._launch = launch
        self._settings = settings
        self._probe = probe
        programs = (launch.binary, *(command[0] for command in launch.initialise))
        self._programs = {each: find_program(each, launch, name) for each in programs}
        self._user = _UNPRIVILEGED if launch.unprivileged and os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self.initialised: bool | None = False
        self._spawning = threading.Lock()
        self._kills = self._kills_before = 0
        self._began = self._ready = 0.0
        self._paused = False
        self._shared_files: dict[str, int] = {}
        base = (base or (volume_base() if on_volume else None) or default_base()).resolve()
        if self._user is not None:
            check_traversable(base, self._user)
        self._dir: WorkDir | None = None
        self._volume = None
        self._end_cause = EndCause(name, self.log_tail)
        self._log_begins = 0
        registry.add(self)
        try:
            sweep_all(base)
            self._dir = WorkDir.make(base, keep=keep)
            guard(base)
            self._volume = make_disk(power_cut, self._dir.data, self._dir.image) if on_volume else None
            self.data: Path | None = self._dir.data
            self._address = self._fresh_address()
        except OSError as reason:
            self.close()
            raise self._in_words(reason) from None
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> Address:
        """Where it answers; the same for all starts."""
        return self._address

    @property
    def pids(self) -> Sequence[int]:
        """See `Handle.pids`."""
        return [each.pid for each in self._members()]

    def cannot(self, fault: str) -> str | None:
        """Why a fault cannot be struck, or None."""
        if fault in NODE_FAULTS:
            return NO_NODES
        if fault == "power_cut" and self._volume is None:
            return NO_VOLUME
        return "one process has no second node that could survive it" if fault == "node_wipe" else None

    def start(self) -> float:
        """See `Handle.start`. The seconds do not include the first start's initialisation."""
        self.start_nowait()
        self.wait_ready()
        return self._ready - self._began

    def start_nowait(self) -> None:
        """See `Handle.start_nowait`."""
        self._kills_before = self._kills
        if self.alive():
            raise RuntimeError(f"{self._name} runs already")
        try:
            self._begin()
        except OSError as reason:
            raise self._in_words(reason) from None

    def _begin(self) -> None:
        if not self.initialised and ports.listening(self._address.port):  # nothing was told of it yet
            self._address = self._fresh_address()
        self._initialise()
        if ports.listening(self._address.port):
            raise self._port_taken()
        self._spawn([self._programs[self._launch.binary], *self._template().command(self._launch.command)])

    def empty(self) -> None:
        """See `Handle.empty`."""
        self._made().empty()
        self.initialised = False

    def wait_ready(self) -> None:
        """See `Handle.wait_ready`."""
        self._ready = wait_until_ready(
            self._address,
            self._probe,
            name=self._name,
            seconds=self._launch.start_seconds,
            check=self._check_runs,
            died=self._died,
            work=lambda: work_of(self.pids),
        )
        # Afterwards, since the look takes longer than some servers need to start.
        self._check_is_ours()
        self._shared_files.update(shared_memory.mapped_files(each.pid for each in self._members()))
        self._end_cause.has_run = True

    def stop(self) -> None:
        """See `Handle.stop`."""
        process = self._process
        if process is None:
            return
        self.resume()
        self._kills += 1
        number = signal.Signals[self._launch.stop]
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        self._wait(process, f"{self._name} did not end after {number.name} within")
        # What is left of it now would keep files open under the next start.
        self.kill()

    def kill(self) -> None:
        """See `Handle.kill`. A start that another thread is in the middle of ends with it: nothing more is begun."""
        with self._spawning:
            self._kills += 1
        # The server itself at once: to find its whole family takes milliseconds, in which it would go on writing.
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)
        if self._ready < self._began:  # it was not looked at yet, and what it shares outlives it
            self._shared_files.update(shared_memory.mapped_files(each.pid for each in self._members()))
        gone = process_tree.destroy(self._members, _GONE_SECONDS)
        if self._process is not None and gone:
            self._process.wait()
            self._process = None
        self._paused = False
        if not gone:
            left = ", ".join(f"{each.pid} ({each.state})" for each in self._members())
            raise MachineFailed(f"{self._name} was killed, and the kernel did not end it within {_GONE_SECONDS:g} s: {left}")

    def kill_nodes(self, names: Sequence[str]) -> None:  # noqa: ARG002 - there are none
        """Refused: see `cannot`."""
        raise NotAvailable(NO_NODES)

    def wait_whole(self) -> None:
        """It is."""

    def pause(self) -> None:
        """See `Handle.pause`."""
        process_tree.freeze(self._members)
        self._paused = True

    def resume(self) -> None:
        """See `Handle.resume`."""
        if self._paused:
            process_tree.send(reversed(self._members()), signal.SIGCONT)
            self._paused = False

    def alive(self) -> bool:
        """See `Handle.alive`."""
        return self._process is not None and self._process.poll() is None

    def check_alive(self) -> None:
        """See `Handle.check_alive`."""
        process = self._process
        if process is None:
            raise StoreDied(f"{self._name} does not run", self.log_tail())
        if process_tree.exiting(process.pid):  # its connections are closed before it is gone
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GONE_SECONDS)
        code = process.poll()
        if code is not None:
            raise self._died(f"{self._name} {ending(code)}", code)

    def log_tail(self) -> str:
        """See `Handle.log_tail`."""
        return tail(self._dir.log, self._launch.password) if self._dir else ""

    def close(self) -> None:
        """See `Handle.close`."""
        if self._dir is None:
            registry.discard(self)
            return
        with registry.undisturbed():
            self._shared_files.update(shared_memory.mapped_files(each.pid for each in self._members()))
            # What cannot be killed keeps its directory and its mark: the next run tries again.
            with contextlib.suppress(MachineFailed, OSError):
                self.kill()
                shared_memory.remove_files(self._shared_files)
                shared_memory.remove_segments(pid for pid, _ in self._dir.leaders)
                if self._volume is not None:
                    self._volume.close()
                if self._dir.keep:
                    registry.kept.append(f"{self._name}: data and log are in {self._dir.root}; remove them with: rm -r {self._dir.root}")
                else:
                    self._dir.remove()
            self._dir = None
            registry.discard(self)

    def _members(self) -> list[process_tree.Stat]:
        return process_tree.members(self._dir.root, self._dir.leaders, self._dir.programs) if self._dir else []

    def _template(self) -> Template:
        made = self._made()
        values = {
            "data": str(made.data),
            "run": str(made.run),
            "port": str(self._address.port),
            **{f"port.{name}": str(port) for name, port in self._address.ports.items()},
            "python": sys.executable,
            "user": self._launch.user or "",
            "password": self._launch.password or "",
        }
        return Template(self._name, values, self._launch.setting, self._settings)

    def _initialise(self) -> None:
        """Write the files and run the first commands, once."""
        if self.initialised:
            return
        made, template = self._made(), self._template()
        for file, text in template.table(self._launch.files).items():
            # A server that ran here before may have put a link in its place, to where it may not write and we may.
            (made.run / file).unlink(missing_ok=True)
            with (made.run / file).open("x", encoding="utf-8") as fresh:
                fresh.write(text)
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            for path in (made.data, made.run, *made.run.iterdir()):
                os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
        for command in self._launch.initialise:
            process = self._spawn([self._programs[command[0]], *template.command(command[1:])])
            code = self._wait(process, f"{self._name}: {command[0]} did not end within")
            if code != 0:
                raise self._died(f"{self._name}: {command[0]} {ending(code)}", code)
            self._process = None
        self.initialised = True

    def _spawn(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self._spawning:
            if self._kills != self._kills_before:
                raise StoreDied(f"{self._name} was killed while it was started", self.log_tail())
            return self._spawn_now(command)

    def _spawn_now(self, command: list[str]) -> subprocess.Popen[bytes]:
        made = self._made()
        # The program is noted before it runs: were we killed between the two, it is still known as ours by what it runs and where.
        made.programs.add(os.path.realpath(command[0]))
        made.write_marker()
        self._end_cause.begin([made.root], data=self._volume is None, inherits=True)
        self._log_begins = made.log.stat().st_size
        kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        with made.log.open("ab") as log:
            self._began = time.monotonic()
            try:
                self._process = process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=made.run,
                    env={**kept, "LC_ALL": "C.UTF-8", "HOME": str(made.run), "TMPDIR": str(made.run)},
                    start_new_session=True,
                    user=self._user,
                    group=pwd.getpwnam(self._user).pw_gid if self._user else None,
                    extra_groups=[] if self._user else None,
                )
            except OSError as reason:
                if shortage.of_error(reason):
                    raise
                who = f" by the user {self._user}" if self._user else ""
                raise NotAvailable(f"{self._name}: {command[0]} cannot be run{who}: {reason.strerror}", self._launch.install) from None
        stat = process_tree.read_stat(process.pid)
        if stat is not None:
            made.leaders.add((stat.pid, stat.start))
            made.write_marker()
        return process

    def _made(self) -> WorkDir:
        if self._dir is None:
            raise RuntimeError(f"{self._name} was closed")
        return self._dir

    def _fresh_address(self) -> Address:
        """At ports that are free now."""
        launch = self._launch
        port, *further = ports.free_ports(1 + len(launch.ports))
        return Address(_HOST, port, launch.user, launch.password, ports=dict(zip(launch.ports, further, strict=True)), ours=True)

    def _wait(self, process: subprocess.Popen[bytes], what: str) -> int:
        """Until it has ended; its exit status. `what` begins the message of the error where that takes too long."""
        patience = Patience(self._launch.start_seconds, lambda: work_of(self.pids))
        while True:
            try:
                return process.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                self._end_cause.look()
            if patience.is_over():
                raise late(patience, what, "it still runs", self._died)

    def _died(self, reason: str, code: int | None = None) -> StoreproofError:
        status = 128 - code if code is not None and code < 0 else code
        ours = self._kills != self._kills_before
        return self._end_cause.of(reason, said(self._made().log, self._log_begins), self.pids, status=status, ours=ours)

    def _in_words(self, reason: OSError) -> OSError | StoreproofError:
        """An error of our own, as the shortage that it may tell of."""
        lacking = shortage.of_error(reason)
        where = f" in {self._dir.root}" if self._dir else ""
        return reason if lacking is None else self._end_cause.short(f"{self._name} cannot be started{where}", lacking)

    def _check_runs(self) -> None:
        self._end_cause.look()
        if self._process is None:
            raise StoreDied(f"{self._name} was not started", self.log_tail())
        code = self._process.poll()
        if code is None:
            return
        if ports.listening(self._address.port):
            raise self._port_taken()
        raise self._died(f"{self._name} {ending(code)} before it answered", code)

    def _check_is_ours(self) -> None:
        """What listens is what we started: "0 lost" was once read from the wrong server."""
        self._check_runs()
        if ports.holder(ports.listening(self._address.port), [each.pid for each in self._members()]) is None:
            raise self._port_taken()

    def _port_taken(self) -> StoreproofError:
        """Not the store's fault: nothing is said of it."""
        port = self._address.port
        return self._end_cause.machine(
            f"{self._name}: port {port} is already in use by {ports.describe_user(port)}", "end it, or run again"
        )
