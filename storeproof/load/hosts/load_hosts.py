"""The hosts of `--hosts`: the workers of a Dask scheduler, which the user started, each with the same storeproof as this one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from storeproof.contract.address import Address
from storeproof.errors import NotAvailable, UsageError
from storeproof.load.choose_engine import Engines
from storeproof.load.engine import EngineWanted, LoadFailed, Plan
from storeproof.load.hosts.hosts_engine import HostsEngine, shares
from storeproof.load.hosts.load_host import Chosen, LoadHost
from storeproof.load.hosts.remote_host import ANSWER_SECONDS, RemoteHost, close_all, tell, wait_for
from storeproof.spec.store import Target

_CONNECT_SECONDS: Final = 10.0
_MADE_SECONDS: Final = 60.0
"""For a host to import storeproof for the first time."""


class LoadHosts:
    """The scheduler's workers at the moment of connecting. One that comes later has no load, and one that goes is an error."""

    def __init__(self, scheduler: str, identity: Callable[[], Mapping[str, str]]) -> None:
        """
        Args:
            scheduler: its address, as `dask scheduler` prints it.
            identity: digests of what judges and puts on the load; a host where they differ would put on another load.

        Raises:
            UsageError: the address is none, or open to anyone; nothing answers there; there are no workers, or one has another storeproof.
            NotAvailable: Dask is not installed.
        """
        refuse_open(scheduler)
        if find_spec("distributed") is None:
            raise NotAvailable("--hosts needs Dask's scheduler and workers", "pip install 'storeproof[dask]'")
        from distributed import Client  # only here: it is optional, and takes half a second

        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what it would say of a lost worker is in the case's own message
        try:
            self._client = Client(scheduler, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as reason:
            raise UsageError(f"--hosts={scheduler}: no Dask scheduler answers there: {reason}") from None
        try:
            self._workers = self._found(scheduler)
            self._check(identity)
        except BaseException:
            self.close()
            raise

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the workers, in the order in which clients are shared out."""
        return tuple(self._workers)

    def engines(self, target: Target, address: Address, wanted: EngineWanted) -> HostEngines:
        """The engines of all hosts for one store. Raises `NotAvailable`: a host has not the wanted one."""
        made = {
            name: self._client.submit(
                LoadHost, target, address, wanted, workers=[worker], allow_other_workers=False, actor=True, pure=False, retries=0
            )
            for name, worker in self._workers.items()
        }
        return HostEngines([RemoteHost(name, _result(name, each, _MADE_SECONDS)) for name, each in made.items()])

    def close(self) -> None:
        """End the connection. The scheduler and its workers are the user's, and stay."""
        self._client.close(timeout=ANSWER_SECONDS)

    def _found(self, scheduler: str) -> dict[str, str]:
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        if not known:
            raise UsageError(f"--hosts={scheduler}: it has no workers; start one on each host: dask worker {scheduler} --nthreads 1")
        return {str(each["name"]): address for address, each in sorted(known.items(), key=lambda item: str(item[1]["name"]))}

    def _check(self, identity: Callable[[], Mapping[str, str]]) -> None:
        ours = dict(identity())
        asked = {
            name: self._client.submit(identity, workers=[worker], allow_other_workers=False, pure=False, retries=0)
            for name, worker in self._workers.items()
        }
        for name, each in asked.items():
            theirs = dict(_result(name, each, _MADE_SECONDS))
            if unlike := [what for what in ours.keys() | theirs.keys() if ours.get(what) != theirs.get(what)]:
                raise UsageError(f"--hosts: {name} has another storeproof (its {', '.join(sorted(unlike))}); install the same one there")


class HostEngines:
    """The engines of all hosts for one store. Their connections last from plan to plan."""

    def __init__(self, hosts: list[RemoteHost]) -> None:
        self._hosts = hosts

    @property
    def cores(self) -> int:
        """Cores of the host that has the fewest."""
        return int(min(host.answer(host.ask("cores")) for host in self._hosts))

    def choose(self, plan: Plan) -> tuple[HostsEngine, str]:
        """The engine for a plan whose collection is prepared and is empty, and why it is not the wire engine.

        Raises:
            LoadFailed: the hosts do not choose the same, or one is gone.
            NotAvailable, StoreSilent, Refused: as on one machine.
        """
        for host in self._hosts:
            host.read_clock()
        chosen: list[Chosen] = []
        for host, share in zip(self._hosts, shares(plan, len(self._hosts)), strict=False):
            tell([host], "choose", [(share,)])  # one after the other: each probes the collection with records of the same keys
            chosen += wait_for([host])
        if len({(each.name, each.fixed_numbers) for each in chosen}) > 1:
            said = "; ".join(f"{host.name}: {each.name} {each.reason}".rstrip() for host, each in zip(self._hosts, chosen, strict=False))
            raise LoadFailed(f"the hosts do not have the same load engine: {said}")
        return HostsEngine(self._hosts, chosen[0]), chosen[0].reason

    def close(self) -> None:
        """End all connections and processes on the hosts; never raises, and may be called twice."""
        close_all(self._hosts)


LoadEngines = Engines | HostEngines
"""The engines of this machine, or those of several hosts."""


def refuse_open(scheduler: str) -> None:
    """Refuse a scheduler that anyone could send code to.
    Raises `UsageError`: it is no address of a scheduler, or one without TLS on a network."""
    parts = urlsplit(scheduler)
    if parts.scheme not in ("tcp", "tls") or not parts.hostname:
        raise UsageError(f"--hosts takes the address of a Dask scheduler, such as tls://10.0.0.1:8786; found {scheduler!r}")
    if parts.scheme == "tcp" and not _is_loopback(parts.hostname):
        raise UsageError(
            f"--hosts={scheduler}: a scheduler without TLS runs the code of anyone who reaches its port; use tls://, or an SSH tunnel to "
            "127.0.0.1"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _result(name: str, asked: Any, seconds: float) -> Any:
    try:
        return asked.result(timeout=seconds)
    except (NotAvailable, UsageError):
        raise
    except Exception as reason:  # noqa: BLE001 - whatever kept the host from it is said
        raise LoadFailed(f"the load host {name} cannot be used: {type(reason).__name__}: {reason}") from None
