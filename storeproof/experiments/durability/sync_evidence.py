"""Without a power cut: checks whether each acknowledgement waits for a sync. This is evidence, not proof.

The sync may be of the wrong file or come before the write, a directory may not be synced, and strace does not see every kind of sync. So it
neither proves nor refutes the guarantee, which stays `not_run`; the detail says what was seen.
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
from storeproof.outcome import Lack
from storeproof.store_under_test import StoreUnderTest

_WRITES: Final = 100
_SECONDS: Final = 10.0
_REMEDY: Final = "leave out --power-cut=strace"


def look(sut: StoreUnderTest, guarantee: str) -> NotAvailable:
    """Trace the syncs of a cleanly restarted store while one client writes. Returns what was seen, as the reason for `not_run`.

    Raises:
        NotAvailable: the store's processes cannot be traced.
        StoreDied: the store did not start.
    """
    handle = sut.launch("tracing its syncs")
    try:
        if not handle.pids or handle.data is None:
            reason = f"strace can trace only a store that runs as a local process, not as {handle.kind}"
            return NotAvailable(reason, "use --launch=process", Lack.DISK)
        subject = Subject(handle, sut.connect, random.Random(f"{sut.seed} {guarantee} syncs"))
        clients = Clients(subject, layouts_of(sut, handle))
        clients.prepare()
        handle.stop()  # as before a power cut: not the first start of a new store
        handle.start()
        with SyncWatch(handle.pids, handle.data) as watch:
            # Connect after strace attached, so that a process that serves only this client is traced too.
            client = clients.writer(1)
            deadline = time.monotonic() + _SECONDS
            for _ in range(_WRITES):
                if not client.step() or time.monotonic() > deadline:
                    break
            seen = watch.collect()
            client.close()
    finally:
        handle.close()
    # Without deletes: deleting an absent key writes nothing, so it has no sync to wait for.
    asked = [
        (each.invoked, each.completed)
        for each in clients.recorder.operations()
        if each.outcome == "ok" and each.completed is not None and each.action != "delete"
    ]
    return NotAvailable(evidence(len(asked), count_synced(asked, seen.syncs), seen), _REMEDY, Lack.DISK)


def evidence(acknowledged: int, synced: int, seen: SyncTrace) -> str:
    """What was seen, and how strong that evidence is."""
    text = f"no power cut; strace saw a sync between request and reply of {synced} of {acknowledged} acknowledged writes"
    if seen.hidden:
        return f"{text}, but the store uses io_uring, whose operations strace does not see: no evidence"
    if not acknowledged:
        return f"{text}: no evidence"
    if synced == acknowledged:
        return f"{text}: evidence for the guarantee, but no proof"
    return f"{text}: evidence against the guarantee, but no refutation"
