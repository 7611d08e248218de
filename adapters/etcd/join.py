"""What a member with an empty disk does before its first start: `python -m storeproof.adapters.etcd.join FLAGS`, the flags of its server.

A cluster that it was in before must first forget it: its log is gone, and with it what it had promised the others, so it may come back
only under another id (https://etcd.io/docs/v3.4/op-guide/runtime-configuration/). It is removed and added, and etcd runs once with
`--initial-cluster-state=existing`; from then on its directory says to which cluster it belongs. Where the cluster is new there is nothing
to do. Which of them it is, the other members say, by what etcd itself asks before it starts a new cluster (`/members` of a peer).
"""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Final
from urllib.parse import urlsplit

from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from storeproof.adapters.etcd.link import Link, number
from storeproof.contract import Address, Refused, Unknown

_ANSWER_SECONDS: Final = 1.0
_OK: Final = 200
_LOOK_SECONDS: Final = 0.1
_LIMIT_SECONDS: Final = 60.0
"""The others take a member only when they have been connected for some seconds."""


def main(flags: Sequence[str]) -> None:
    """Join the cluster, if the others have one that this member was in or was added to."""
    parser = ArgumentParser(allow_abbrev=False)
    for flag in ("--initial-cluster", "--initial-advertise-peer-urls", "--advertise-client-urls"):
        parser.add_argument(flag, required=True)
    given, _ = parser.parse_known_args(flags)
    own = given.initial_advertise_peer_urls
    others = [url for _, _, url in (each.partition("=") for each in given.initial_cluster.split(",")) if url != own]
    client = urlsplit(given.advertise_client_urls)
    told = [found for found in (_told_by(url) for url in others) if found is not None]
    if any(_was_member(own, members) for members in told):
        hosts = [Address(str(urlsplit(url).hostname), int(client.port or 0)) for url in others]
        _until(lambda: _add_again(own, hosts))
        _start_once(flags, Address(str(client.hostname), int(client.port or 0)))


def _told_by(peer: str) -> list[dict[str, Any]] | None:
    """The members, by one of them; None if it does not answer."""
    try:
        reply = PoolManager(retries=False, timeout=_ANSWER_SECONDS).request("GET", f"{peer}/members")
    except HTTPError:
        return None
    if reply.status != _OK:
        return None
    found: list[dict[str, Any]] = reply.json()
    return found


def _was_member(own: str, members: Sequence[dict[str, Any]]) -> bool:
    """Whether a cluster that runs has had this one: as a member that told clients where it is, or as one that was removed or added since.
    One that is to start with the others has a name and has told nothing yet."""
    mine = next((each for each in members if own in each["peerURLs"]), None)
    return mine is None or bool(mine.get("clientURLs")) or not mine.get("name")


def _add_again(own: str, hosts: Sequence[Address]) -> None:
    """Remove the member under this peer URL if it has ever started, and add it if it is not there. Raises `Unknown` if none does it."""
    missing = "no member answers"
    for host in hosts:
        try:
            with closing(Link(host, _ANSWER_SECONDS)) as link:
                for each in link.ask("cluster/member/list")["members"]:
                    if own in each["peerURLs"]:
                        if not each.get("name"):
                            return
                        link.ask("cluster/member/remove", ID=each["ID"])
                link.ask("cluster/member/add", peerURLs=[own])
                return
        except (Refused, Unknown) as reason:
            missing = str(reason)
    raise Unknown(missing)


def _start_once(flags: Sequence[str], own: Address) -> None:
    server = subprocess.Popen(["etcd", *flags, "--initial-cluster-state=existing"])

    def follows() -> None:
        if server.poll() is not None:
            raise SystemExit(f"etcd ended with {server.returncode} while it joined the cluster")
        with closing(Link(own, _ANSWER_SECONDS)) as link:
            if number(link.ask("maintenance/status"), "leader") == 0:
                raise Unknown("it has no leader")

    try:
        _until(follows)
    finally:
        server.terminate()
        server.wait()


def _until(step: Callable[[], None]) -> None:
    end = time.monotonic() + _LIMIT_SECONDS
    while True:
        try:
            return step()
        except Unknown as reason:
            if time.monotonic() > end:
                raise SystemExit(f"this member cannot join the cluster: {reason}") from None
        time.sleep(_LOOK_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1:])
