"""Runs the interruptions of one server of a composite store, on a store of their own."""

from __future__ import annotations

import random
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Final

from storeproof.contract import Address, Session, adapter_of
from storeproof.errors import NotAvailable
from storeproof.experiments.durability.interruption_summary import InterruptionSummary
from storeproof.experiments.durability.part_interruptions import PartInterruptions
from storeproof.experiments.fault_experiment import Subject, on_own_stores
from storeproof.faults.interruption import Interruption, PartCutOff, PartPause, Way
from storeproof.launch.handle import Capability, Handle
from storeproof.launch.link import Link
from storeproof.launch.several.composite import CompositeHandle
from storeproof.spec.store import HOME, Role
from storeproof.store_under_test import StoreUnderTest
from storeproof.store_under_test.probing import connect

_COPIED: Final = ("single_key", "hash10", "document10")
"""Models whose records have copies in the front; the first that the store claims is used."""

_PAUSES: Final = 1
"""Rounds in which a server is paused: none can end before a client's time is up, after many seconds."""


def run_interruption(sut: StoreUnderTest, role: Role, way: Way, case: str) -> InterruptionSummary:
    """All rounds of an interruption of one server.

    Raises:
        NotAvailable: the server cannot be paused here, or the store claims no records of which copies are kept.
    """
    model = next((name for name in _COPIED if name in sut.target.store.claims.models), None)
    if model is None:
        raise NotAvailable(f"{sut.target.id} claims no model whose records have copies in the front: {', '.join(_COPIED)}")
    summary = InterruptionSummary(what=f"the {role} was interrupted", stale_possible=sut.target.stale_reads)
    rounds = _PAUSES if way == "pause" else sut.scale.durability.rounds

    def attempt(handle: Handle) -> None:
        assert isinstance(handle, CompositeHandle), "the case is one of composite stores"
        with ExitStack() as opened:
            interruption, address = _interruption(handle, role, way, opened)
            summary.what = f"the {role} {interruption.done}"
            seed = f"{sut.seed} {sut.target.id} {case} {len(summary.spoiled)}"
            subject = Subject(handle, lambda _: sut.connect(address), random.Random(seed), lambda text: sut.progress(f"{case} · {text}"))
            PartInterruptions(
                subject,
                interruption,
                sut.layout(model),
                sut.scale.durability.clients,
                rounds,
                home=lambda: _home(handle),
                summary=summary,
            ).run()

    summary.given_up = not on_own_stores(lambda: sut.launch(f"the interruption of its {role}"), attempt, summary.spoiled, rounds)
    return summary


def _interruption(handle: CompositeHandle, role: Role, way: Way, opened: ExitStack) -> tuple[Interruption, Address]:
    """The interruption, and the address of the composite store for clients that it strikes; `opened` closes the link."""
    part, address = handle.part(role), handle.address
    if way == "pause":
        if reason := part.cannot(Capability.PAUSE):
            raise NotAvailable(f"its {role}: {reason}")
        return PartPause(part), address
    link = opened.enter_context(closing(Link(part.address)))
    parts = tuple(replace(each, address=link.address) if each.role == role else each for each in address.parts)
    return PartCutOff(link, way), replace(address, parts=parts)


def _home(handle: CompositeHandle) -> Session:
    """A session with the home alone."""
    part = next(each for each in handle.address.parts if each.role == HOME)
    return connect(adapter_of(part), part.address, part.options)
