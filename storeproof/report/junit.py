"""Renders a result as JUnit XML, for the continuous integration that reads nothing else.

JUnit knows four ends of a case. `fail` and `error` keep their names. What was not tried or not claimed is `skipped`, never a pass, with the
outcome as its type. A loss was not skipped: where it is a known failure it is a `failure`, and where the store did not promise to keep the
data the case has no such end, but its loss as a property and its findings as output. The same holds for a wrong answer to a case that
decides nothing.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from storeproof.outcome import Outcome
from storeproof.printable import printable
from storeproof.report import formatting
from storeproof.report.faults_without_guarantee import damage
from storeproof.report.parts.losses import harm_of
from storeproof.result.model import OutcomeRecord, Result, StoreResult

_ENDS = ("failure", "error", "skipped")
_UNCLAIMED = (Outcome.UNSUPPORTED, Outcome.UNDECLARED)


def render_junit(result: Result) -> str:
    root = ET.Element("testsuites", {"name": "storeproof"})
    root.extend([_suite(store, result) for store in result.stores])
    _sum_up(root)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(store: StoreResult, result: Result) -> ET.Element:
    suite = ET.Element("testsuite", {"name": formatting.name_of(store), "timestamp": result.run.started})
    facts = {
        "edition": f"{result.edition.version} ({result.edition.hash})",
        "scale": result.run.scale,
        "version": store.product,
        "topology": store.topology,
        "durability.claimed": store.durability.claimed,
        "durability.proven": store.durability.shown,
        **{f"profile.{each.profile}": each.verdict for each in store.profiles},
    }
    _properties(suite, facts)
    losses = _losses(store)
    suite.extend([_case(store, each, losses.get(each.id, "")) for each in store.outcomes])
    _sum_up(suite)
    return suite


def _case(store: StoreResult, record: OutcomeRecord, loss: str) -> ET.Element:
    case = ET.Element(
        "testcase", classname=f"{store.store}.{store.configuration}.{record.stage}", name=printable(record.id), time=f"{record.seconds:.3f}"
    )
    end = _end(record, lost=bool(loss))
    facts = ({"standing": str(record.standing)} if record.standing else {}) | ({"loss": loss} if loss else {})
    if facts:
        _properties(case, {"outcome": record.outcome, **facts})
    detail = printable(record.told) or "no detail was given"
    if end:
        ET.SubElement(case, end, type=record.outcome.value, message=detail.partition("\n")[0]).text = detail
    elif loss or record.outcome is Outcome.FAIL:
        ET.SubElement(case, "system-out").text = detail
    return case


def _end(record: OutcomeRecord, *, lost: bool) -> str:
    """The name of the element; empty where there is none."""
    outcome = record.outcome
    if outcome is Outcome.FAIL and not record.decides:
        return ""
    if outcome is Outcome.ERROR:
        return "error"
    if outcome is Outcome.FAIL or (lost and outcome is Outcome.KNOWN_FAIL):
        return "failure"
    return "" if outcome is Outcome.PASS or (lost and outcome in _UNCLAIMED) else "skipped"


def _losses(store: StoreResult) -> Mapping[str, str]:
    """What was lost or served wrongly, by the id of the case."""
    found = {f"durability.{each.guarantee}": harm_of(each) for each in store.durability.guarantees}
    found |= {
        f"performance.outage/{each.fault}": f"{each.lost} records lost; {each.acknowledged} writes acknowledged"
        for each in store.outages
        if each.lost
    }
    damaged = {each.id: damage(each) for each in store.outcomes}
    return {case: loss for case, loss in found.items() if loss} | {case: cell.text for case, cell in damaged.items() if cell}


def _properties(element: ET.Element, facts: Mapping[str, str]) -> None:
    properties = ET.SubElement(element, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=printable(value))


def _sum_up(element: ET.Element) -> None:
    """Count the cases and their ends, and add up their seconds: each store's share, also where rounds of several were interleaved."""
    cases = element.findall(".//testcase")
    element.set("tests", str(len(cases)))
    for attribute, end in zip(("failures", "errors", "skipped"), _ENDS, strict=True):
        element.set(attribute, str(sum(case.find(end) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.3f}")
