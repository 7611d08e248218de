"""`storeproof site`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from storeproof import units
from storeproof.site import build_site
from storeproof.site.content import gather
from storeproof.site.folder import check_folder, write_site
from storeproof.site.sources import read_sources
from storeproof.spec import load_spec


def site(paths: Sequence[Path], out: Path) -> None:
    """Write the site of the results, and print what was written.

    Raises:
        UsageError: a result cannot be read, or the folder holds something else or cannot be written.
    """
    check_folder(out)
    content = gather(read_sources(paths), load_spec())
    files = build_site(content)
    write_site(files, out)
    pages = sum(name.endswith(".html") for name in files)
    first = sum(len(files[name].encode()) for name in ("index.html", "site.css", "site.js"))
    print(
        f"wrote {units.plural(pages, 'page')} on {units.plural(len(content.variants), 'variant')} "
        f"from {units.plural(len(content.sources), 'result')} to {out}; first load {first / 1000:.0f} kB"
    )
    print(f"open {out / 'index.html'}")
