"""The folder of a site: what is not the site's own is never changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from storeproof.errors import UsageError
from storeproof.site.folder import MARK, check_folder, write_site


def test_a_new_site_is_marked_and_an_older_one_is_replaced(tmp_path: Path) -> None:
    """Its files that are no longer written are removed, and a file that someone added stays."""
    folder = tmp_path / "a" / "site"
    write_site({"index.html": "old", "run/one.html": "1", "run/two.html": "2"}, folder)
    (folder / "CNAME").write_text("example.org")
    write_site({"index.html": "new", "run/two.html": "2"}, folder)
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "CNAME",
        "index.html",
        "run/two.html",
        MARK,
    ]
    assert (folder / "index.html").read_text() == "new"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    """As `mktemp -d` makes it."""
    check_folder(tmp_path)
    write_site({"index.html": "x"}, tmp_path)
    check_folder(tmp_path)


@pytest.mark.parametrize("mark", [None, "", "[]", "{}", "7", '{"files":', '{"files": 7}'])
def test_a_folder_with_something_else_is_refused_untouched(tmp_path: Path, mark: str | None) -> None:
    """With one message that says what to do."""
    (tmp_path / "thesis.txt").write_text("mine")
    if mark is not None:
        (tmp_path / MARK).write_text(mark)
    for attempt in (lambda: check_folder(tmp_path), lambda: write_site({"thesis.txt": "x"}, tmp_path)):
        with pytest.raises(UsageError, match=r"not empty and not a site .*; name a new or empty folder with --out$"):
            attempt()
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    """One message."""
    (tmp_path / "x").write_text("mine")
    with pytest.raises(UsageError, match="is a file; name a new or empty folder"):
        check_folder(tmp_path / "x")


def test_a_list_that_was_changed_by_hand_removes_nothing_outside(tmp_path: Path) -> None:
    """Neither by `..` nor by an absolute path."""
    outside, folder = tmp_path / "outside.txt", tmp_path / "site"
    outside.write_text("mine")
    write_site({"index.html": "x"}, folder)
    (folder / MARK).write_text(json.dumps({"format": "1.0", "files": ["../outside.txt", str(outside), "a/../../outside.txt", 7, "", "\0"]}))
    write_site({"index.html": "y"}, folder)
    assert outside.read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    """Of the command line, not a traceback."""
    (tmp_path / "x").write_text("a file")
    with pytest.raises(UsageError, match="name another folder with --out"):
        write_site({"index.html": "x"}, tmp_path / "x" / "site")
