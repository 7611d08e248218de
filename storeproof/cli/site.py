"""`storeproof site`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from storeproof import units
from storeproof.errors import UsageError
from storeproof.machine.garbage import without_garbage
from storeproof.result.consistency import check_agrees
from storeproof.result.needs.decision import Decision, decide
from storeproof.result.needs.joined_results import ReadResult
from storeproof.site import build_site
from storeproof.site.folder import check_folder, write_site
from storeproof.site.site_content import gather
from storeproof.site.sources import SourceResult, read_sources
from storeproof.spec import SPEC_ROOT, Spec, load_spec
from storeproof.spec.questions.read_needs import read_needs


def site(paths: Sequence[Path], out: Path, needs: Sequence[Path]) -> None:
    """Write the site of the results, and print what was written.

    Raises:
        UsageError: a result cannot be read or was changed after its run, needs cannot be judged by the results, or the folder holds
            something else or cannot be written.
        SpecError: a needs file has errors.
    """
    check_folder(out)
    with without_garbage():
        spec, sources = load_spec(), read_sources(paths)
        for each in sources:
            check_agrees(each.file, each.result)
        content = gather(sources, spec, _decisions(needs, sources, spec))
        files = build_site(content)
    write_site(files, out)
    pages = sum(name.endswith(".html") for name in files)
    first = sum(len(files[name].encode()) for name in ("index.html", "site.css", "site.js"))
    print(
        f"wrote {units.plural(pages, 'page')} on {units.plural(len(content.variants), 'variant')} "
        f"from {units.plural(len(content.sources), 'result')} to {out}; first load {first / 1000:.0f} kB"
    )
    print(f"open {out / 'index.html'}")


def _decisions(given: Sequence[Path], sources: Sequence[SourceResult], spec: Spec) -> list[Decision]:
    """On the needs files that are given; without one, on the examples of this checkout of which the results hold a candidate."""
    results = [ReadResult(each.file, each.result) for each in sources]
    found: dict[str, Decision] = {}
    checkout = SPEC_ROOT.parent
    for file in given or sorted((checkout / "examples").glob("*.yaml")):
        needs = read_needs(file, spec)
        if needs.decision in found:
            raise UsageError(f"{file} is the second needs file with the decision {needs.decision}; name it differently")
        try:
            found[needs.decision] = decide(needs, results, spec, str(file if given else file.relative_to(checkout)))
        except UsageError:
            if given:
                raise
    return list(found.values())
