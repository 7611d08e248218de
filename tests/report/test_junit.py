"""JUnit: `fail` and `error` keep their names, all else that is not a pass is skipped, with its outcome as the type."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from storeproof.outcome import Outcome
from storeproof.report.junit import render_junit
from tests.report.sample import TARGETS, sample_result


def test_every_outcome_has_its_element() -> None:
    """The document is well-formed whatever the details hold, and no outcome but `pass` looks like one."""
    result = sample_result(TARGETS[:2])
    root = ET.fromstring(render_junit(result))
    assert [suite.get("name") for suite in root] == ["sqlite:wal-full", "redis:aof-always"]
    for suite, store in zip(root, result.stores, strict=True):
        cases = suite.findall("testcase")
        assert [case.get("name") for case in cases] == [each.id for each in store.outcomes]
        for case, each in zip(cases, store.outcomes, strict=True):
            endings = list(case)
            if each.outcome is Outcome.PASS:
                assert endings == []
                continue
            (ending,) = endings
            assert ending.tag == {Outcome.FAIL: "failure", Outcome.ERROR: "error"}.get(each.outcome, "skipped")
            assert ending.get("type") == each.outcome
            assert (ending.get("message") or "").startswith(f"{each.outcome}: <script>")
            assert "get('k') -> b'0'" in (ending.text or "")


def test_the_sums_agree_with_the_cases() -> None:
    """Tools read the attributes, people the cases."""
    root = ET.fromstring(render_junit(sample_result()))
    for element in (root, *root):
        cases = element.findall(".//testcase")
        assert int(element.get("tests") or 0) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(name) or 0) == sum(case.find(tag) is not None for case in cases)


def test_a_run_without_stores_is_a_document_too() -> None:
    """With no case in it."""
    assert ET.fromstring(render_junit(sample_result([]))).get("tests") == "0"
