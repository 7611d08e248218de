"""All reports of a run are written, the JSON first."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.report import write_reports
from storeproof.result.json_file import read_result
from tests.report.sample import TARGETS, sample_result


@pytest.mark.slow
def test_all_files_are_written(tmp_path: Path) -> None:
    """And nothing else is left."""
    result = sample_result(TARGETS[:1])
    write_reports(result, tmp_path / "new")
    names = sorted(each.name for each in (tmp_path / "new").iterdir())
    assert names == ["junit.xml", "latency.hlog", "report.html", "report.md", "result.json"]
    assert read_result(tmp_path / "new") == result


def test_the_result_is_safe_when_rendering_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is not lost; `storeproof report` renders it again."""
    monkeypatch.setattr("storeproof.report.html.render_html", lambda _result, against: 1 / 0)
    result = sample_result(TARGETS[:1])
    with pytest.raises(ZeroDivisionError):
        write_reports(result, tmp_path)
    assert read_result(tmp_path) == result
