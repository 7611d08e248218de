"""The launcher that runs a store as a local process: the server's own binary, on a new directory."""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from storeproof.cleanup.registry import registry
from storeproof.cleanup.workdir import WorkDir
from storeproof.contract.address import Address
from storeproof.errors import MachineFailed, NotAvailable, StoreproofError
from storeproof.launch.end_cause import describe_exit, read_since, shell_status, tail
from storeproof.launch.forking import fork_server
from storeproof.launch.handle import LaunchKind
from storeproof.launch.managed_server import NO_NODES, ManagedServer
from storeproof.launch.readiness import timeout_error
from storeproof.launch.request import LaunchRequest
from storeproof.launch.server_processes import Leader, ServerProcesses, inherited
from storeproof.launch.template import Template
from storeproof.machine import ports
from storeproof.machine.deadline import Deadline, progress_of
from storeproof.machine.open_files import SHARED_MEMORY, Place
from storeproof.machine.program_origin import ProgramOrigin, interpreter, origin_of_program
from storeproof.machine.programs import check_traversable, digest_of, find_program, find_programs
from storeproof.machine.usage import UsageMeter
from storeproof.outcome import Lack
from storeproof.spec.store import ProcessLaunch

_HOST: Final = "127.0.0.1"
_UNPRIVILEGED: Final = "nobody"
_LOOK_SECONDS: Final = 0.02


class ProcessHandle(ManagedServer):
    """A server on 127.0.0.1, in its own session."""

    kind: LaunchKind = "process"
    image_digest: str | None = None
    data: Path | None
    initialised: bool | None
    _launch: ProcessLaunch

    def __init__(self, request: LaunchRequest) -> None:
        """Make the directory, which `close` removes. Nothing is started yet.

        Raises:
            NotAvailable: a program is not installed, the server's user may not enter the directory, memory cannot be limited, or no
                method of cutting the power works here.
            UsageError: the data directory cannot be written to.
        """
        super().__init__(request)
        launch = request.launch.process
        if launch is None:
            raise request.not_described("process")
        self._launch = launch
        self._user = _UNPRIVILEGED if launch.unprivileged and os.geteuid() == 0 else None
        self._programs = self._find_programs()
        self.initialised = False
        self._log_begins = 0
        self._made: ServerProcesses | None = None
        alone = self._user is None and request.memory is None and request.node is None
        self._fork_server = fork_server(inherited()) if request.forked and alone and launch.binary == "${python}" else None
        with self._making():
            directory = self._make_directory(containers=self.kind == "container")
            self.data = directory.data
            self._made = self._make_processes(directory)
            self._address = self._choose_address()

    @property
    def address(self) -> Address:
        """The address is the same for all starts once it is initialised."""
        return self._address

    @property
    def binary_digest(self) -> str | None:
        digests = [digest_of(self._program(name)) for name in (self._launch.binary, *self._launch.servers)]
        return " and ".join(str(each) for each in digests) if all(digests) else None

    @property
    def origins(self) -> Sequence[ProgramOrigin]:
        names = (self._launch.binary, *self._launch.servers)
        return [interpreter() if name == "${python}" else origin_of_program(self._program(name)) for name in names]

    @property
    def pids(self) -> Sequence[int]:
        return self._pids()

    def start_nowait(self) -> None:
        """The measured time of a first start does not include the initialisation of the data directory."""
        self._processes.allow_start()
        if self.alive():
            raise RuntimeError(f"{self._name} runs already")
        try:
            if not self.initialised and self._is_taken():  # no file contains it yet
                self._address = self._choose_address()
            self._initialise(self._launch.initialise)
            self._run_each(self._launch.before_start)
            if self._is_taken():
                raise self._port_taken()
            self._spawn([self._program(self._launch.binary), *self._template().command(self._launch.command)])
        except OSError as reason:
            raise self._as_shortage(reason) from None

    def empty(self) -> None:
        self._directory().empty()
        self.initialised = False

    def set_up(self, commands: Sequence[Sequence[str]]) -> None:
        """Make the data directory again by these commands, in place of those that the store's file has. The server does not run.

        Raises:
            StoreDied: a command fails.
            NotAvailable: one of the programs is not installed.
        """
        self.empty()
        self._processes.allow_start()
        try:
            self._initialise(commands)
        except OSError as reason:
            raise self._as_shortage(reason) from None

    def stop(self) -> None:
        process = self._processes.leader
        if process is None:
            return
        self.resume()
        number = signal.Signals[self._launch.stop]
        self._processes.signal_stop(number)
        self._wait(process, f"{self._name} did not end after {number.name} within")
        # Processes that remain would keep files open during the next start.
        self.kill()

    def kill(self) -> None:
        """A start in progress in another thread runs no further command."""
        self._paused = False
        self._processes.kill()

    def cut_power(self) -> None:
        """Drop what was not synced, and all of `${run}` and of shared memory, as a boot does; the files that the store's file describes
        stay."""
        super().cut_power()
        self._processes.remove_remains()
        self._directory().empty_run(but=self._launch.files)

    def kill_nodes(self, names: Sequence[str]) -> None:  # noqa: ARG002 - there are none
        """Raise `NotAvailable`: see `cannot`."""
        raise NotAvailable(NO_NODES, lack=Lack.CLUSTER)

    def wait_whole(self) -> None:
        """Returns at once."""

    def pause(self) -> None:
        self._processes.freeze()
        self._paused = True

    def resume(self) -> None:
        if self._paused:
            self._processes.thaw()
            self._paused = False

    def alive(self) -> bool:
        process = self._processes.leader
        return process is not None and process.poll() is None

    def check_alive(self) -> None:
        if self._processes.leader is None:
            raise self._end_cause.store_error(f"{self._name} does not run")
        code = self._processes.exit_status()
        if code is not None:
            raise self._error_for(f"{self._name} {describe_exit(code)}", shell_status(code))
        if (lacking := self._end_cause.over_limit()) is not None:
            raise self._end_cause.shortage_error(f"a process of {self._name} ended", lacking)
        super().check_alive()

    def log_tail(self) -> str:
        return tail(self._dir.log, self._launch.password) if self._dir else ""

    @property
    def _processes(self) -> ServerProcesses:
        assert self._made is not None, "made with the handle"
        return self._made

    def _find_programs(self) -> Mapping[str, str]:
        """The paths of its programs, by name. Raises `NotAvailable`, also if its user may not enter its directory."""
        if self._user is not None:
            check_traversable(self._base(), self._user)
        return find_programs(self._launch, self._name)

    def _program(self, name: str) -> str:
        """The path of one program. Raises `NotAvailable`."""
        return self._programs.get(name) or find_program(name, self._launch, self._name)

    def _make_processes(self, directory: WorkDir) -> ServerProcesses:
        request, node = self._request, self._request.node
        memory = directory.limit_memory(request.memory) if request.memory is not None else None
        self._end_cause.memory = memory
        return ServerProcesses(
            self._name,
            directory,
            self._end_cause,
            user=self._user,
            install=self._launch.install,
            cores=request.cores,
            memory=memory,
            namespace=node.namespace if node is not None else None,
            fork_server=self._fork_server,
        )

    def _places(self, directory: WorkDir) -> Mapping[str, str]:
        """What `${data}`, `${run}` and `${python}` stand for."""
        return {"data": str(directory.data), "run": str(directory.run), "python": sys.executable}

    def _initialise(self, commands: Sequence[Sequence[str]]) -> None:
        """Write the configuration files and run the commands, once."""
        if self.initialised:
            return
        directory = self._directory()
        for file, text in self._template().table(self._launch.files).items():
            # A previous server may have put a link in its place, to a file that storeproof may write to and the server may not.
            (directory.run / file).unlink(missing_ok=True)
            with (directory.run / file).open("x", encoding="utf-8") as fresh:
                fresh.write(text)
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            for path in (directory.data, directory.run, *directory.run.iterdir()):
                os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
        self._run_each(commands)
        self.initialised = True

    def _run_each(self, commands: Sequence[Sequence[str]]) -> None:
        """Run commands one after another, as the server's user; each must end with 0."""
        template = self._template()
        for command in commands:
            process = self._spawn([self._program(command[0]), *template.command(command[1:])])
            code = self._wait(process, f"{self._name}: {command[0]} did not end within")
            if code != 0:
                raise self._error_for(f"{self._name}: {command[0]} {describe_exit(code)}", shell_status(code))
            self._processes.leader = None

    def _template(self) -> Template:
        values = {
            **self._places(self._directory()),
            "port": str(self._address.port),
            **self._node_values(),
            **{f"port.{name}": str(port) for name, port in self._address.ports.items()},
            "user": self._launch.user or "",
            "password": self._launch.password or "",
        }
        return Template(self._name, values, self._launch.setting, self._request.settings)

    def _choose_address(self) -> Address:
        launch, node = self._launch, self._request.node
        if node is not None:
            return Address(node.host, node.port, launch.user, launch.password, ours=True)
        port, *further = ports.free_ports(1 + len(launch.ports))
        return Address(_HOST, port, launch.user, launch.password, ports=dict(zip(launch.ports, further, strict=True)), ours=True)

    def _is_taken(self) -> bool:
        """Whether another process listens on its port. In a namespace of a cluster there are no other processes."""
        return self._request.node is None and ports.is_listened_on(self._address.port)

    def _node_values(self) -> dict[str, str]:
        node = self._request.node
        if node is None:
            return {}
        return {"address": node.host, **{f"address.{name}": address for name, address in node.addresses.items()}}

    def _spawn(self, command: Sequence[str]) -> Leader:
        directory = self._directory()
        self._end_cause.begin([directory.root], data=self._disk is None, inherits=True)
        self._log_begins = directory.log.stat().st_size
        self._began = time.monotonic()
        return self._processes.spawn(command)

    def _wait(self, process: Leader, what: str) -> int:
        """Wait until the process has ended; return its return code. `what`: the beginning of the message for a timeout."""
        deadline = Deadline(self._launch.start_seconds, self._progress)
        while True:
            try:
                return process.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                self._end_cause.sample()
            if deadline.has_passed():
                raise timeout_error(deadline, what, "it still runs", self._error_for)

    def _check_runs(self) -> None:
        self._end_cause.sample()
        if self._processes.leader is None:
            raise self._end_cause.store_error(f"{self._name} was not started")
        code = self._processes.leader.poll()
        if code is None:
            return
        if self._is_taken():
            raise self._port_taken()
        raise self._error_for(f"{self._name} {describe_exit(code)} before it answered", shell_status(code))

    def _confirm_ready(self) -> None:
        """Check that the listener is the server that was started: a run once reported "0 lost" after reading from another server."""
        self._check_runs()
        if self._request.node is None and not self._listens():
            raise self._port_taken()
        # Not earlier: finding its processes takes longer than some servers need to start.
        self._processes.note_shared_files()
        self._processes.hold_in_limits()

    def _listens(self) -> bool:
        """Whether one of its processes has the port: nearly always the leader, so that the others need not be looked for."""
        leader, port = self._processes.leader, self._address.port
        return (leader is not None and ports.is_listener([leader.pid], port)) or ports.is_listener(self._pids(), port)

    def _data_folder(self) -> Path:
        return self._directory().data

    def _seen_pids(self) -> Sequence[int]:
        return self._pids()

    def _places_to_write(self) -> Sequence[Place]:
        directory = self._directory()
        seen = Path(self._places(directory)["data"]).parent  # in a container it has another path than here
        own = (directory.data, directory.run, directory.log)
        return [*(Place(f"{seen}/{each.name}", each.stat().st_dev) for each in own), SHARED_MEMORY]

    def _make_meter(self) -> UsageMeter:
        self._processes.hold_in_limits()
        return UsageMeter(self._pids(), self.data)

    def _port_taken(self) -> StoreproofError:
        """The error if another process listens on its port. It does not blame the store."""
        port = self._address.port
        return self._end_cause.machine_error(
            f"{self._name}: port {port} is already in use by {ports.describe_listener(port)}", "end it, or run again"
        )

    def _progress(self) -> int | None:
        return progress_of(self._pids())

    def _pids(self) -> Sequence[int]:
        return [each.pid for each in self._processes.members()] if self._dir else ()

    def _output(self) -> str:
        return read_since(self._directory().log, self._log_begins)

    def _ended_by_us(self) -> bool:
        return self._processes.struck

    def _remove(self, directory: WorkDir) -> None:
        # If it cannot be killed, its directory and marker stay, and the next run tries again.
        with contextlib.suppress(MachineFailed, OSError):
            if self._made is not None:
                self._made.kill()
                self._made.remove_remains()
            directory.end_limit()
            if self._disk is not None:
                self._disk.close()
            if directory.keep:
                registry.kept.append(f"{self._name}: data and log are in {directory.root}; remove them with: rm -r {directory.root}")
            else:
                directory.remove()
