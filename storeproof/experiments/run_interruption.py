"""Runs the interruptions of a server of a composite store, or of both, on a store of their own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Final

from storeproof.contract import Address, Session, adapter_of
from storeproof.errors import NotAvailable
from storeproof.experiments.durability.interruption_summary import InterruptionSummary
from storeproof.experiments.durability.part_interruptions import PartInterruptions
from storeproof.experiments.fault_experiment import Subject, on_own_stores
from storeproof.faults.interruption import AtOnce, Interruption, PartCutOff, PartPause, Way
from storeproof.launch.handle import FaultMeans, Handle
from storeproof.launch.link import NetworkLink
from storeproof.launch.several.composite import CompositeHandle
from storeproof.outcome import Lack
from storeproof.spec.store import FRONT, HOME, Role
from storeproof.store_under_test import StoreUnderTest
from storeproof.store_under_test.first_contact import connect

_COPIED: Final = ("single_key", "hash10", "document10")
"""Models whose records have copies in the front; the first that the store claims is used."""

_PAUSES: Final = 1
"""Rounds in which a server is paused: none can end before a client's time is up, after many seconds."""


def run_interruption(sut: StoreUnderTest, roles: Sequence[Role], way: Way, case: str) -> InterruptionSummary:
    """All rounds of an interruption of the servers with these roles, at the same moment.
    Raises `NotAvailable`: a server cannot be paused here, or the store claims no records of which copies are kept."""
    model = next((name for name in _COPIED if name in sut.target.store.claims.models), None)
    if model is None:
        raise NotAvailable(f"{sut.target.id} claims no model whose records have copies in the front: {', '.join(_COPIED)}", lack=Lack.PARTS)
    who = f"the {roles[0]}" if len(roles) == 1 else "each server"
    summary = InterruptionSummary(what=f"{who} was interrupted", stale_possible=sut.target.stale_reads)
    rounds = _PAUSES if way == "pause" else sut.scale.durability.rounds

    def attempt(handle: Handle) -> None:
        assert isinstance(handle, CompositeHandle), "the case is one of composite stores"
        with ExitStack() as opened:
            interruption, address = _interruption(handle, roles, way, opened)
            summary.what = f"{who} {interruption.done}"
            seed = f"{sut.seed} {sut.target.named} {case} {len(summary.spoiled)}"
            subject = Subject(handle, lambda _: sut.connect(address), random.Random(seed), lambda text: sut.progress(f"{case} · {text}"))
            PartInterruptions(
                subject,
                interruption,
                sut.layout(model),
                sut.scale.durability.clients,
                rounds,
                patient=way == "pause" or FRONT in roles,  # of the home a pause shows it
                home=lambda: _home(handle),
                summary=summary,
            ).run()

    purpose = f"the interruption of its {' and its '.join(roles)}"
    summary.given_up = not on_own_stores(lambda: sut.launch(purpose), attempt, summary.spoiled, rounds)
    return summary


def _interruption(handle: CompositeHandle, roles: Sequence[Role], way: Way, opened: ExitStack) -> tuple[Interruption, Address]:
    """The interruption, and the address of the composite store for clients that it strikes; `opened` closes the links."""
    address = handle.address
    if way == "pause":
        for role in roles:
            if lacking := handle.part(role).cannot(FaultMeans.PAUSE):
                raise NotAvailable(f"its {role}: {lacking}", lack=Lack.PARTS)
        return AtOnce([PartPause(handle.part(role)) for role in roles]), address
    links: dict[str, NetworkLink] = {role: opened.enter_context(closing(NetworkLink(handle.part(role).address))) for role in roles}
    parts = tuple(replace(each, address=links[each.role].address) if each.role in links else each for each in address.parts)
    return AtOnce([PartCutOff(link, way) for link in links.values()]), replace(address, parts=parts)


def _home(handle: CompositeHandle) -> Session:
    part = next(each for each in handle.address.parts if each.role == HOME)
    return connect(adapter_of(part), part.address, part.options)
