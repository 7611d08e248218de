"""What is done to the traffic of a node: packets that are dropped, held back, or wait for a slow line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from storeproof.network.packet_queue import NUMBER

_QUEUE: Final = 4000
"""Packets that wait behind a slow link before any is dropped: more than the writes of a second."""


def arrival_rules(shares: Mapping[str, float], *, held: bool = False) -> str:
    """The rules for `iptables-restore` of a node that loses, of what each of these addresses sends, that share; they replace all other
    rules of its filter. 1: it does not hear that address.

    Dropping is done where packets arrive, not where they leave: a sender's own kernel reports a rule on its way out as an error, and a
    partition is silent.

    `held`: what is not dropped goes into the queue of the node's namespace, or on if no process has it.
    """
    drops = "".join(f"-A INPUT -s {source}/32 {_chance(share)}-j DROP\n" for source, share in shares.items() if share)
    queues = "".join(f"-A INPUT -s {source}/32 -j NFQUEUE --queue-num {NUMBER} --queue-bypass\n" for source in shares if held)
    return f"*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n{drops}{queues}COMMIT\n"


def slow_commands(device: str, kbits: Mapping[str, int]) -> str:
    """The commands for `tc -batch` by which packets to an address leave a device at its kilobits per second.

    All other packets are not touched: a limit on the whole device would delay replies to clients too, and they would then write less.
    """
    commands = [f"qdisc replace dev {device} root handle 1: htb"]
    for number, (address, kbit) in enumerate(kbits.items(), 1):
        commands += [
            f"class add dev {device} parent 1: classid 1:{number} htb rate {kbit}kbit ceil {kbit}kbit",
            f"qdisc add dev {device} parent 1:{number} handle {number}0: pfifo limit {_QUEUE}",
            f"filter add dev {device} parent 1: protocol ip prio 1 u32 match ip dst {address}/32 flowid 1:{number}",
        ]
    return "\n".join(commands) + "\n"


def _chance(share: float) -> str:
    return "" if share == 1 else f"-m statistic --mode random --probability {share:g} "
