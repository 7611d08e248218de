"""Redis in a container of the project's own image, one command of it, and what of it is in the engine."""

from __future__ import annotations

import socket

from storeproof.contract import Address, Unknown
from storeproof.machine import container_engine
from storeproof.machine.owner import this_process
from storeproof.spec import ContainerLaunch

IMAGE = "storeproof/redis"
REDIS = ContainerLaunch(image=IMAGE, port=6379, data="/data", command=("redis-server", "--dir", "/data", "${settings}"))
SETTINGS = {"appendonly": "yes", "appendfsync": "always"}


def command(address: Address, *words: str) -> str:
    """One Redis command; its reply as it came."""
    try:
        with socket.create_connection((address.host, address.port), timeout=2) as connection:
            connection.sendall(f"{' '.join(words)}\r\n".encode())
            return connection.recv(1000).decode()
    except OSError as reason:
        raise Unknown(str(reason)) from None


def pinged(address: Address) -> None:
    if command(address, "PING") != "+PONG\r\n":
        raise Unknown("no pong")


def names(kind: str = "container") -> set[str]:
    """The containers (or volumes) of this process."""
    things = (
        container_engine.client().volumes.list()
        if kind == "volume"
        else container_engine.client().containers.list(all=True, ignore_removed=True)
    )
    return {thing.name for thing in things if thing.name.startswith(f"storeproof-{this_process().pid}-")}
