"""The archive: one for given parts, and nothing else in it."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from storeproof.conformance.archive import LIMITS, MANIFEST, PRODUCT, RESULT, archive_of, open_archive
from storeproof.conformance.reasons import ClaimRefused, Reason

PARTS = {RESULT: b"{}", PRODUCT: b"x" * 512, MANIFEST: b"", "sources/own/deep/a-file_1.py": b"y" * 1_000}


def test_parts_come_back_as_they_were_put_in(tmp_path: Path) -> None:
    """The manifest is the first one; an empty part, and one that fills a block, are read too."""
    file = tmp_path / "x.tar"
    file.write_bytes(archive_of(PARTS))
    with open_archive(file) as archive:
        assert next(iter(archive.places)) == MANIFEST
        assert {name: archive.read(name) for name in archive.places} == PARTS


def test_the_same_parts_make_the_same_archive() -> None:
    """Whatever their order is; no time, no owner."""
    assert archive_of(dict(reversed(PARTS.items()))) == archive_of(PARTS)


def test_tar_reads_it() -> None:
    """With the permissions of ordinary files."""
    with tarfile.open(fileobj=io.BytesIO(archive_of(PARTS))) as archive:
        assert {each.name for each in archive} == PARTS.keys()
        assert {(each.mode, each.mtime, each.uid) for each in archive} == {(0o644, 0, 0)}


@pytest.mark.parametrize(
    "name", ["", "a", "sources/own", "sources/own/.hidden", "sources/x.py", "sources/own/a//b", f"sources/own/{'n' * 100}"]
)
def test_other_names_are_no_parts(name: str) -> None:
    """They are refused when they are written, as when they are read."""
    with pytest.raises(ClaimRefused) as refused:
        archive_of({name: b""})
    assert refused.value.reason is Reason.PART


def test_a_part_has_a_limit() -> None:
    """One for each."""
    with pytest.raises(ClaimRefused, match=f"size: {PRODUCT} has"):
        archive_of({PRODUCT: b"x" * (LIMITS[PRODUCT] + 1)})


def test_every_byte_counts(tmp_path: Path) -> None:
    """Any other byte in a header or between parts makes it another archive, which is refused. One in five is tried, in two parts, so that
    each place of a header is."""
    parts = {name: PARTS[name] for name in (PRODUCT, "sources/own/deep/a-file_1.py")}
    whole, file = archive_of(parts), tmp_path / "x.tar"
    inside = {place for name in parts for place in _content(whole, name)}
    for place in range(0, len(whole), 5):
        if place not in inside:
            damaged = bytearray(whole)
            damaged[place] ^= 0x20
            file.write_bytes(damaged)
            with pytest.raises(ClaimRefused), open_archive(file):
                pass


def test_an_archive_that_is_cut_says_so_wherever_it_is_cut(tmp_path: Path) -> None:
    """After its first header, and before its end: within a header, between parts, and in a part that fills its last block."""
    whole, file = archive_of(PARTS), tmp_path / "x.tar"
    within, ends = range(tarfile.BLOCKSIZE, len(whole) - 2 * tarfile.BLOCKSIZE, 23), range(0, len(whole) - 2 * tarfile.BLOCKSIZE, 512)
    for length in (*within, *ends[1:]):
        file.write_bytes(whole[:length])
        with pytest.raises(ClaimRefused, match="is cut off"), open_archive(file):
            pass


def _content(whole: bytes, name: str) -> range:
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        found = archive.getmember(name)
        return range(found.offset_data, found.offset_data + found.size)
