"""A pytest plugin for a run inside a test: one client after another sends the load, and each value has the model's size.

So all states of a recording can be tried, and each run has the same ones.
Where the store has times to live or an index, half of the requests are for them.
"""

from __future__ import annotations

from storeproof.contract import Layout
from storeproof.experiments.crash_states import recorded_load, run_crash_states
from storeproof.experiments.durability import record_writes


def _as_it_is(layout: Layout) -> Layout:
    return layout


def _one_after_another(self: recorded_load.LoadClients, requests: int) -> None:
    self.send(requests, recorded_load.send)


run_crash_states.of_all_sizes = _as_it_is  # type: ignore[attr-defined]
recorded_load.LoadClients.send_together = _one_after_another  # type: ignore[method-assign]
record_writes._EXPIRING = 0.5  # type: ignore[misc]
record_writes._INDEXED = 0.5  # type: ignore[misc]
