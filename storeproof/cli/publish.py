"""`storeproof publish`."""

from __future__ import annotations

from pathlib import Path

from storeproof.errors import UsageError
from storeproof.regular_file import exists
from storeproof.result.json_file import COMPRESSED, NAME, compressed, content_of, files_of, write_bytes
from storeproof.result.needs.published import INDEX, write_index


def publish(reports: Path) -> None:
    """Compress each result in the folders of a directory but `latest`, write their index, and print how many were compressed.
    Raises `UsageError`: a result cannot be read or was changed after its run, or nothing can be written."""
    if not exists(reports) or not reports.is_dir():
        raise UsageError(f"{reports} is no directory; name one whose folders hold results")
    plain = [file for file in files_of(reports) if file.name == NAME and file.parent.name != "latest"]
    try:
        for file in plain:
            write_bytes(file.with_name(COMPRESSED), compressed(content_of(file)))
            file.unlink()
        write_index(reports)
    except OSError as reason:
        raise UsageError(f"{reports} cannot be written: {reason}; name another directory") from None
    print(f"compressed {len(plain)} of the results in {reports}, and wrote {reports / INDEX}")
