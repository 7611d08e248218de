"""Claims that were submitted: `conformance/EDITION/ORGANIZATION-PRODUCT/`, each with one bundle and a README."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused
from storeproof.conformance.verify import Verified, verify
from storeproof.regular_file import Unreadable, read_text

README = "README.md"
_LONGEST = 1 << 20
"""Bytes of a README."""
_REPRODUCE = re.compile(r"^#+ Reproduce$", re.MULTILINE)


@dataclass(frozen=True)
class Submitted:
    """One folder."""

    folder: Path
    found: Verified | None
    """What the verification of its bundle says."""
    wrong: str
    """Why it is not accepted; empty where it is."""


def folders_of(root: Path) -> list[Path]:
    """The folders of the claims."""
    return sorted(path for path in root.glob("*/*") if path.is_dir())


def check_submitted(root: Path, known: KnownJudges) -> Iterator[Submitted]:
    """Verify each claim under `root`, in the order of their folders."""
    for folder in folders_of(root):
        found, wrong = _checked(folder, known)
        yield Submitted(folder, found, wrong)


def _checked(folder: Path, known: KnownJudges) -> tuple[Verified | None, str]:
    bundles = sorted(folder.glob("*.tar"))
    if len(bundles) != 1:
        return None, f"it has {len(bundles)} bundles (*.tar); one claim has one"
    try:
        found = verify(bundles[0], known)
    except ClaimRefused as refused:
        return None, f"{bundles[0].name} is refused: {refused}"
    except Unreadable as reason:
        return None, f"{bundles[0].name} {reason}"
    return found, misplaced(folder, found, known)


def misplaced(folder: Path, found: Verified, known: KnownJudges) -> str:
    """Why a claim that is verified is not accepted in its folder; empty where it is."""
    edition, named = found.result.edition.version, folder_name(found)
    if edition not in known.frozen:
        return f"it is of the draft {edition}; claims are submitted in a frozen edition: pytest suites/ --edition=NAME"
    if folder.parent.name != edition or not f"{folder.name}-".startswith(f"{named}-"):
        return f"it belongs into {edition}/{named}/, or {edition}/{named}-VARIANT/"
    try:
        text = read_text(folder / README, _LONGEST)
    except Unreadable as reason:
        return f"its {README} {reason}; it needs one with a section `Reproduce`"
    return "" if _REPRODUCE.search(text) else f"it has no {README} with a section `Reproduce`"


def folder_name(found: Verified) -> str:
    """`ORGANIZATION-PRODUCT`, in lower case, with a hyphen for what is neither a letter nor a digit."""
    product = found.product
    return re.sub(r"[^a-z0-9]+", "-", f"{product.organization} {product.product}".lower()).strip("-")
