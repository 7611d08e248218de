"""`storeproof publish`."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.result.json_file import COMPRESSED, NAME, content_of, write_result
from storeproof.result.needs.published import INDEX, index_of
from tests.cli.test_commands import Run
from tests.cli.test_decide import whole
from tests.result.claimed import result
from tests.result.needs.needed import SHAPE, known


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)


def test_results_are_compressed_once_and_indexed(run: Run, tmp_path: Path) -> None:
    """To the byte what the run wrote; the latest run of the user is not published."""
    for name in ("one", "latest"):
        write_result(result(whole(known("redis:aof-always", cases=[SHAPE]))), tmp_path / name / NAME)
    content = (tmp_path / "one" / NAME).read_bytes()
    code, out, _ = run("publish", tmp_path)
    assert (code, out.startswith("compressed 1 of the results")) == (0, True)
    assert [each.name for each in (tmp_path / "one").iterdir()] == [COMPRESSED]
    assert content_of(tmp_path / "one" / COMPRESSED) == content
    assert [each.name for each in (tmp_path / "latest").iterdir()] == [NAME]
    assert content_of(tmp_path / INDEX).decode() == index_of(tmp_path)
    assert len(index_of(tmp_path).splitlines()) == 1
    assert run("publish", tmp_path)[1].startswith("compressed 0 of the results")


def test_what_is_no_directory_of_results_is_one_message(run: Run, tmp_path: Path) -> None:
    """And nothing is written."""
    assert run("publish", tmp_path / "none")[::2] == (
        4,
        f"storeproof: {tmp_path / 'none'} is no directory; name one whose folders hold results\n",
    )
    assert list(tmp_path.iterdir()) == []
