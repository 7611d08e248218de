"""Runs with dumps, as a user starts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.dumps import dump, head, many, page
from tests.end_to_end.running import leaves_nothing, run, run_all


@pytest.mark.slow
def test_a_wrong_dump_ends_with_one_message(tmp_path: Path) -> None:
    """Also one whose end is missing, which is known only once it was read."""
    cut = dump(tmp_path, *many(300, 900), name="cut.xml.bz2")
    cut.write_bytes(cut.read_bytes()[:-100])
    empty = dump(tmp_path, page(1, "Talk:A", "Text", space=1), name="empty.xml")
    wrong = (
        (tmp_path / "none.xml", "none.xml does not exist; allowed: a MediaWiki export"),
        (cut, "cut.xml.bz2 ends in the middle of a page; download it again"),
        (empty, "empty.xml has no article: 1 pages of other namespaces"),
    )
    for done, (_, message) in zip(
        run_all(tmp_path, [[f"--corpus={path}", "-k", "corpus"] for path, _ in wrong], whole=True), wrong, strict=True
    ):
        assert done.code == pytest.ExitCode.USAGE_ERROR, done.said
        assert message in done.said, done.said
        assert "Traceback" not in done.said
        assert not (done.folder / "report").exists()
        leaves_nothing(done.folder)


@pytest.mark.slow
def test_the_articles_of_dumps_are_measured_and_named(tmp_path: Path) -> None:
    """The result says which they were, and not where."""
    german = dump(tmp_path, *(page(number, f"Seite {number}", "Der Fluss fließt ins Meer. [[Kategorie:Natur]]") for number in range(1, 60)))
    english = dump(tmp_path, *many(400, 300), name="enwiki.xml.bz2", first=head("en", ()))
    tried = "(stateful and corpus) or (text and word and not prefix) or with-facets or (facets and one) or corpus-browse"
    done = run(tmp_path / "run", f"--corpus={german}", f"--corpus={english}", "-k", tried, whole=True)
    assert done.code == 0, done.said
    assert [(each["name"], each["language"], each["pages"]) for each in done.result["run"]["corpus"]] == [
        ("dewiki.xml", "de", 59),
        ("enwiki.xml.bz2", "en", 250),
    ]
    measured = done.result["stores"][0]["measurements"]
    assert [each["workload"] for each in measured] == ["corpus-browse"] * 2
    for each in measured:
        assert each["verified"]
        assert each["corpus"].startswith("dewiki.xml (59 pages, ")
        reads = ["search", "facets", "page", "later-page", "resume", "view"]
        assert [part["name"] for part in each["parts"]] == [*reads, "bookmark", "update", "add", "delete"]
        assert (each["errors"], each["misses"]) == (0, 0)
    leaves_nothing(tmp_path / "run")
