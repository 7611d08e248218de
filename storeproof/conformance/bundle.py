"""Makes a bundle of a run: the parts, and the manifest of their hashes. What would not be verified is not bundled."""

from __future__ import annotations

import io
import json
from pathlib import Path

import storeproof
from storeproof.conformance.archive import MANIFEST, PRODUCT, RESULT, SOURCES, archive_of, most_of, read_archive
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.manifest import manifest_of
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.verify import Verified, verify_archive
from storeproof.conformance.wholeness import only_store
from storeproof.errors import UsageError
from storeproof.evidence import EVIDENCE
from storeproof.printable import in_one_line
from storeproof.regular_file import Unreadable, exists, open_regular
from storeproof.result.json_file import content_of, file_in, read_result
from storeproof.result.model import StoreResult
from storeproof.result.sources import CARRIED, OWN, sources_of
from storeproof.spec import Target


def make_bundle(run: Path, product: Path, own: Path | None, known: KnownJudges) -> tuple[bytes, Verified]:
    """The bundle of a run, and what its verification says.

    Args:
        run: the report directory, or the `result.json` in it.
        product: `product.yaml`.
        own: a vendor's store file, where the store is none of the project.

    Raises:
        UsageError: a file is missing or cannot be read.
        ClaimRefused: no claim can be made of the run; why, in one message.
    """
    file = file_in(run) if exists(run) and run.is_dir() else run
    result = read_result(file)
    store = only_store(result)
    target = _target(store, own, known.in_edition(result.edition))
    if not exists(product):
        raise UsageError(f"{product} does not exist; write it, all but product and version in your own words:\n{_product(store, target)}")
    parts = {PRODUCT: _content(PRODUCT, product), RESULT: _content(RESULT, file)}
    if result.run.evidence is not None:
        parts[EVIDENCE] = _content(EVIDENCE, file.with_name(EVIDENCE))
    parts |= _carried_sources(store, target)
    whole = archive_of({MANIFEST: manifest_of(parts, result.edition, storeproof.__version__), **parts})
    return whole, verify_archive(read_archive(io.BytesIO(whole)), known)


def _target(store: StoreResult, own: Path | None, known: KnownJudges) -> Target:
    """The store of the run, by its file."""
    if own is None and any(name.startswith(OWN) for name in store.sources):
        raise UsageError(f"{store.store} is described by a file of your own, which belongs into the bundle; name it: --store FILE.yaml")
    return known.target(store.store, store.variant) if own is None else known.own_target(own, store.variant)


def _carried_sources(store: StoreResult, target: Target) -> dict[str, bytes]:
    """The files of the store that go into the bundle."""
    names = [name for name in store.sources if name.startswith(CARRIED)]
    paths = sources_of(target)
    if missing := [name for name in names if name not in paths]:
        raise ClaimRefused(Reason.STORE_FILE, f"{target.file} is not the file of this run: it has no {missing[0]}")
    return {f"{SOURCES}{name}": _content(f"{SOURCES}{name}", paths[name]) for name in names}


def _product(store: StoreResult, target: Target) -> str:
    """A `product.yaml` to begin with: what the server reported, and an example of all else."""
    name = target.store.product
    version = in_one_line(str(store.version).removeprefix(f"{name} "), 120)
    library = target.store.wire == "embedded"
    fields = {
        "format": "1.0",
        "organization": "Example Ltd.",
        "product": name,
        "version": version,
        "url": "https://example.org/store",
        "contact": "conformance@example.org",
        "mode": "embedded" if library else "self-managed",
    }
    return "\n".join(f"{field}: {json.dumps(value, ensure_ascii=False)}" for field, value in fields.items())


def _content(name: str, path: Path) -> bytes:
    """A part, from its file."""
    most = most_of(name)
    try:
        if name == RESULT:
            content = content_of(path)
        else:
            with open_regular(path) as file:
                content = file.read(most + 1)
    except Unreadable as reason:
        raise UsageError(f"{path} {reason}; a bundle is made of the report directory of a run, as the run left it") from None
    if len(content) > most:
        raise ClaimRefused(Reason.SIZE, f"{path} has more than {most:,} bytes, the most of a bundle's part")
    return content
