"""Renders a result as JUnit XML, for the continuous integration that reads nothing else.

JUnit knows four ends of a case. `fail` and `error` keep their names; all that is not a pass becomes `skipped`,
never a pass, with the outcome as its type.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from storeproof.outcome import Outcome
from storeproof.printable import printable
from storeproof.report import formatting
from storeproof.result.model import OutcomeRecord, Result, StoreResult


def render_junit(result: Result) -> str:
    """The XML document."""
    root = ET.Element("testsuites", {"name": "storeproof", **_sums([each for store in result.stores for each in store.outcomes])})
    for store in result.stores:
        root.append(_suite(store, result))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(store: StoreResult, result: Result) -> ET.Element:
    suite = ET.Element("testsuite", {"name": formatting.name_of(store), "timestamp": result.run.started, **_sums(store.outcomes)})
    properties = ET.SubElement(suite, "properties")
    facts = {
        "edition": f"{result.edition.version} ({result.edition.hash})",
        "scale": result.run.scale,
        "version": store.version or "never reached",
        "topology": store.topology,
        "durability.claimed": store.durability.claimed,
        "durability.proven": store.durability.shown,
        **{f"profile.{each.profile}": each.verdict for each in store.profiles},
    }
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=printable(value))
    for each in store.outcomes:
        suite.append(_case(store, each))
    return suite


def _case(store: StoreResult, record: OutcomeRecord) -> ET.Element:
    case = ET.Element(
        "testcase", classname=f"{store.store}.{store.variant}.{record.stage}", name=printable(record.id), time=f"{record.seconds:.3f}"
    )
    if record.outcome is Outcome.PASS:
        return case
    tag = {Outcome.FAIL: "failure", Outcome.ERROR: "error"}.get(record.outcome, "skipped")
    detail = printable(record.detail) or "no detail was given"
    ending = ET.SubElement(case, tag, type=record.outcome.value, message=detail.partition("\n")[0])
    ending.text = detail
    return case


def _sums(outcomes: list[OutcomeRecord]) -> dict[str, str]:
    failures = sum(each.outcome is Outcome.FAIL for each in outcomes)
    errors = sum(each.outcome is Outcome.ERROR for each in outcomes)
    passes = sum(each.outcome is Outcome.PASS for each in outcomes)
    return {
        "tests": str(len(outcomes)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(len(outcomes) - failures - errors - passes),
        "time": f"{sum(each.seconds for each in outcomes):.3f}",
    }
