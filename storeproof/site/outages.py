"""The outages of a variant, which have anchors on the page of their run."""

from __future__ import annotations

from storeproof import units
from storeproof.report.parts.outages import DEEDS, outage_table
from storeproof.report.tables import Cell, Table
from storeproof.result.model import StoreResult
from storeproof.site.names import outage_anchor


def outages_of(store: StoreResult, page: str = "") -> Table:
    """Each fault once. `page`: that of the run, to which the rows lead; empty on that page itself, where the anchors are."""
    found = {each.fault: each for each in reversed(store.outages)}
    rows = []
    for fault, each in reversed(found.items()):
        anchor = outage_anchor(store.store, store.variant, fault)
        load = f"{units.plural(each.clients, 'client')}, {each.rate} requests/s"
        rows.append(([Cell(DEEDS[fault], "", f"{page}#{anchor}", load, "" if page else anchor)], each))
    return outage_table(["what happened"], rows)
