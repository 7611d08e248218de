"""The manifest of a bundle: the SHA-256 of every other part. A signature is made over the file of the bundle itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from storeproof.conformance.archive import MANIFEST, PRODUCT, RESULT, Archive
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.printable import in_one_line
from storeproof.result.model import EditionUsed
from storeproof.result.part import ResultPart

FORMAT: Final = "1.1"
REQUIRED: Final = (PRODUCT, RESULT)


class PartOfBundle(ResultPart):
    """One part."""

    sha256: str
    size: int
    """Bytes."""


class Manifest(ResultPart):
    """The whole manifest."""

    format: str = FORMAT
    """Of the bundle."""
    storeproof: str
    """The version that wrote it."""
    edition: EditionUsed
    parts: dict[str, PartOfBundle]
    """All but the manifest, by name."""


def manifest_of(parts: Mapping[str, bytes], edition: EditionUsed, version: str) -> bytes:
    """The manifest of these parts."""
    entries = {name: PartOfBundle(sha256=hashlib.sha256(content).hexdigest(), size=len(content)) for name, content in sorted(parts.items())}
    manifest = Manifest(storeproof=version, edition=edition, parts=entries)
    return _written(manifest)


def checked_manifest(archive: Archive) -> Manifest:
    """The manifest of an archive, whose parts are all as it says.

    Raises:
        ClaimRefused: it is not there or is none, lists other parts than there are, or one of them was changed.
    """
    if MANIFEST not in archive.places:
        raise ClaimRefused(Reason.PART, f"{MANIFEST} is missing")
    try:
        manifest = Manifest.model_validate_json(archive.read(MANIFEST))
    except ValidationError as breaches:
        first = breaches.errors(include_url=False, include_input=False)[0]
        where = in_one_line(".".join(str(part) for part in first["loc"]), 60)
        raise ClaimRefused(Reason.MANIFEST, f"{MANIFEST} is none: {where}: {first['msg']}") from None
    if manifest.format != FORMAT:
        found = in_one_line(manifest.format, 20)
        raise ClaimRefused(Reason.MANIFEST, f"the bundle has format {found}; this version reads {FORMAT}; make it again of its run")
    if MANIFEST in manifest.parts:
        raise ClaimRefused(Reason.MANIFEST, f"{MANIFEST} lists itself, and no file can hold its own hash")
    for name in REQUIRED:
        if name not in archive.places:
            raise ClaimRefused(Reason.PART, f"{name} is missing")
    for name in sorted({*manifest.parts} ^ {*archive.places} - {MANIFEST}):
        where = "is in the manifest and not in the archive" if name in manifest.parts else "is in the archive and not in the manifest"
        raise ClaimRefused(Reason.MANIFEST, f"{in_one_line(name, 60)} {where}")
    for name, entry in manifest.parts.items():
        if entry.size != archive.places[name][1] or entry.sha256 != archive.digest(name):
            raise ClaimRefused(Reason.HASH, f"{name} is not the one that the manifest was made of: it was changed afterwards")
    if _written(manifest) != archive.read(MANIFEST):
        raise ClaimRefused(Reason.MANIFEST, f"{MANIFEST} is not written as `storeproof bundle` writes it")
    return manifest


def _written(manifest: Manifest) -> bytes:
    """As it is written."""
    return f"{manifest.model_dump_json(indent=1)}\n".encode()
