"""Where no power can be cut: whether each acknowledgement waits for a sync. Evidence, and no proof.

A sync may be of the wrong file or come before the write, a directory may be forgotten, and a store may sync in a way that strace does not
see: so nothing is proven, and nothing refuted either. What is seen is said, and the guarantee stays `not_run`.
"""

from __future__ import annotations

import random
import time
from typing import Final

from storeproof.disk.strace import SyncTrace, SyncWatch, count_synced
from storeproof.errors import NotAvailable
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.layouts import layouts_of
from storeproof.experiments.fault_experiment import Subject
from storeproof.store_under_test import StoreUnderTest

_WRITES: Final = 100
_SECONDS: Final = 10.0
_REMEDY: Final = "leave out --power-cut=strace"


def look(sut: StoreUnderTest, guarantee: str) -> NotAvailable:
    """One client, one write at a time, on a store that was restarted cleanly; what was seen, as the reason why nothing was cut.

    Raises:
        NotAvailable: its processes cannot be looked at.
        StoreDied: it did not start.
    """
    handle = sut.launch("a look at its syncs")
    try:
        if not handle.pids or handle.data is None:
            return NotAvailable(f"the syncs of a store are looked at in processes of our own, not by {handle.kind}", "--launch=process")
        subject = Subject(handle, sut.connect, random.Random(f"{sut.seed} {guarantee} syncs"))
        clients = Clients(subject, layouts_of(sut, handle))
        clients.prepare()
        handle.stop()  # as before a cut: a store that has lived, not one that has just been made
        handle.start()
        with SyncWatch(handle.pids, handle.data) as watch:
            # After it, so that a process that serves this one client is followed too.
            client = clients.writer(1)
            deadline = time.monotonic() + _SECONDS
            for _ in range(_WRITES):
                if not client.step() or time.monotonic() > deadline:
                    break
            seen = watch.collect()
            client.close()
    finally:
        handle.close()
    # Not deletes: one of a key that is not there writes nothing, and has nothing to wait for.
    asked = [
        (each.invoked, each.completed)
        for each in clients.recorder.operations()
        if each.outcome == "ok" and each.completed is not None and each.action != "delete"
    ]
    return NotAvailable(evidence(len(asked), count_synced(asked, seen.syncs), seen), _REMEDY)


def evidence(acknowledged: int, synced: int, seen: SyncTrace) -> str:
    """What was seen, and what it is worth."""
    text = f"nothing was cut; strace saw its data synced between request and reply of {synced} of {acknowledged} acknowledged writes"
    if seen.hidden:
        return f"{text}, and that it uses io_uring, behind which it sees nothing: no evidence"
    if not acknowledged:
        return f"{text}: no evidence"
    if synced == acknowledged:
        return f"{text}: evidence for the promise, and no proof of it"
    return f"{text}: evidence against the promise, and no refutation of it"
