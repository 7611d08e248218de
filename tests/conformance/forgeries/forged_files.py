"""Forgeries of the archive, its manifest and its product: of the file rather than of what it says."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

from storeproof.conformance.archive import MANIFEST, PRODUCT, RESULT
from storeproof.conformance.reasons import Reason
from storeproof.evidence import EVIDENCE, evidence_file
from tests.conformance.forging import (
    Forgery,
    Json,
    entries_of,
    packed,
    sealed,
    with_entry,
    with_histories,
    with_manifest,
    with_parts,
    with_product,
)
from tests.conformance.true_bundle import TrueBundle

_ZEROS = b"\0" * (1 << 20)


def two_gigabytes(_: TrueBundle, file: Path) -> None:
    """A hole: it takes no room on the disk."""
    file.touch()
    os.truncate(file, 2 << 30)


def gzip_bomb(_: TrueBundle, file: Path) -> None:
    """A hundred kilobytes for a hundred megabytes."""
    with gzip.open(file, "wb", compresslevel=1) as out:
        for _number in range(100):
            out.write(_ZEROS)


def zip_bomb(_: TrueBundle, file: Path) -> None:
    """The same as a zip, under the name of the result."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open(RESULT, "w") as out:
        for _number in range(100):
            out.write(_ZEROS)


def evidence_bomb(bundle: TrueBundle, file: Path) -> None:
    """In the one part that is compressed: a line of two hundred megabytes."""
    packed_zeros = io.BytesIO()
    packed_zeros.write(evidence_file(bundle.result["run"]["id"], []))
    with gzip.GzipFile(fileobj=packed_zeros, mode="wb", compresslevel=1, mtime=0) as out:
        for _number in range(200):
            out.write(_ZEROS)
    file.write_bytes(sealed(with_histories(bundle, packed_zeros.getvalue())))


def empty(_: TrueBundle, file: Path) -> None:
    """No byte."""
    file.touch()


def cut_off(bundle: TrueBundle, file: Path) -> None:
    """Its last third is missing."""
    content = bundle.file.read_bytes()
    file.write_bytes(content[: len(content) * 2 // 3])


def appended(bundle: TrueBundle, file: Path) -> None:
    """Something after the end, where no reader of tar looks."""
    file.write_bytes(bundle.file.read_bytes() + b"and more")


def reordered(bundle: TrueBundle, file: Path) -> None:
    """The manifest comes last."""
    first, *others = entries_of(bundle)
    file.write_bytes(packed([*others, first]))


def twice(bundle: TrueBundle, file: Path) -> None:
    """A second result, which a careless reader would take."""
    entries = entries_of(bundle)
    other = (tarfile.TarInfo(RESULT), b"{}")
    file.write_bytes(packed([*entries, other]))


def hidden_in_padding(bundle: TrueBundle, file: Path) -> None:
    """A byte between two parts."""
    content = bytearray(bundle.file.read_bytes())
    size = len(entries_of(bundle)[0][1])
    assert size % 512
    content[512 + size] = 1
    file.write_bytes(content)


def changed_byte(name: str, at: int) -> Forgery:
    """One byte of a part, as damage or a careless forger changes it."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        entries = entries_of(bundle)
        changed = []
        for entry, content in entries:
            damaged = bytearray(content)
            if entry.name == name:
                damaged[at] ^= 1
            changed.append((entry, bytes(damaged)))
        file.write_bytes(packed(changed))

    return Forgery(f"a byte of {name}", "one bit is flipped", forge, Reason.HASH, f"{name} is not the one that the manifest was made of")


def _without(name: str) -> Forgery:
    reason = Reason.PART
    if name == MANIFEST:

        def forge(bundle: TrueBundle, file: Path) -> None:
            file.write_bytes(packed(entries_of(bundle)[1:]))

        return Forgery("without a manifest", "the manifest is taken out", forge, reason, f"{MANIFEST} is missing")
    return Forgery(
        f"without {name}", "taken out, and out of the manifest", with_parts(lambda parts: parts.pop(name)), reason, f"{name} is missing"
    )


def _list_itself(manifest: Json) -> None:
    manifest["parts"][MANIFEST] = {"sha256": "0" * 64, "size": 100}


def _list_more(manifest: Json) -> None:
    manifest["parts"]["sources/own/more.py"] = {"sha256": "0" * 64, "size": 100}


def _alias_bomb(parts: dict[str, bytes]) -> None:
    levels = "".join(f"l{number}: &l{number} [{', '.join([f'*l{number - 1}'] * 9)}]\n" for number in range(1, 12))
    parts[PRODUCT] = f"l0: &l0 [x, x]\n{levels}".encode()


FILES = (
    Forgery("two gigabytes of zeros", "a sparse file", two_gigabytes, Reason.SIZE, "it has 2,147,483,648 bytes; a bundle has at most"),
    Forgery("gzip bomb", "zeros in gzip", gzip_bomb, Reason.ARCHIVE, "it is not a tar archive"),
    Forgery("zip bomb", "zeros in a zip", zip_bomb, Reason.ARCHIVE, "it is not a tar archive"),
    Forgery("bomb of evidence", "zeros in the part that is compressed", evidence_bomb, Reason.EVIDENCE, "all lines are longer than"),
    Forgery("empty", "an empty file", empty, Reason.ARCHIVE, "it is not a tar archive"),
    Forgery("cut off", "the end is missing", cut_off, Reason.ARCHIVE, "is cut off"),
    Forgery("appended", "bytes after the end", appended, Reason.ARCHIVE, "something follows the last part"),
    Forgery("reordered", "the manifest at the end", reordered, Reason.ARCHIVE, "not in the order"),
    Forgery("path traversal", "an entry `../../x`", with_entry("../../x", b"x"), Reason.PATH, "../../x leads out of the archive"),
    Forgery("absolute path", "an entry `/etc/x`", with_entry("/etc/x", b"x"), Reason.PATH, "/etc/x leads out of the archive"),
    Forgery(
        "symbolic link",
        "an entry that points to /etc/passwd",
        with_entry("sources/own/x.py", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        Reason.LINK,
        "sources/own/x.py is a symbolic link",
    ),
    Forgery(
        "hard link",
        "an entry that is the result once more",
        with_entry("sources/own/x.py", type=tarfile.LNKTYPE, linkname=RESULT),
        Reason.LINK,
        "is a link to another entry",
    ),
    Forgery("device", "an entry that is a device", with_entry("sources/own/x", type=tarfile.CHRTYPE), Reason.LINK, "is a device"),
    Forgery("extended header", "a header of pax", with_entry("x", b"11 path=x\n", type=tarfile.XHDTYPE), Reason.LINK, "an extension"),
    Forgery("duplicate entries", "a second result.json", twice, Reason.DUPLICATE, "result.json twice"),
    Forgery("unknown part", "an entry `setup.py`", with_entry("setup.py", b"x"), Reason.PART, "setup.py is not a part of a bundle"),
    Forgery(
        "two declared gigabytes", "a header that promises them", with_entry("sources/own/x", size=2 << 30), Reason.SIZE, "has 2,147,483,648"
    ),
    Forgery(
        "owner in a header",
        "a header with an owner",
        with_entry("sources/own/x", b"x", uid=7),
        Reason.ARCHIVE,
        "the header of sources/own/x",
    ),
    Forgery("hidden in padding", "a byte between two parts", hidden_in_padding, Reason.ARCHIVE, "is followed by something"),
    changed_byte(RESULT, 5_000),
    changed_byte(EVIDENCE, 100),
    _without(MANIFEST),
    _without(RESULT),
    Forgery("manifest that hashes itself", "it lists itself", with_manifest(_list_itself), Reason.MANIFEST, "lists itself"),
    Forgery(
        "manifest with more", "it lists a part that is not there", with_manifest(_list_more), Reason.MANIFEST, "is in the manifest and not"
    ),
    Forgery(
        "part beside the manifest",
        "a file that the manifest does not list",
        with_entry("sources/own/x.py", b"x"),
        Reason.MANIFEST,
        "sources/own/x.py is in the archive and not in the manifest",
    ),
    Forgery(
        "manifest of another edition",
        "it names one, and the result another",
        with_manifest(lambda manifest: manifest["edition"].update(version="2026.11.1")),
        Reason.MANIFEST,
        "names another edition",
    ),
    Forgery("another version", "product.yaml has a newer one", with_product(version="99.1"), Reason.PRODUCT, "is about SQLite 99.1"),
    Forgery("another product", "product.yaml has another name", with_product(product="Shelf"), Reason.PRODUCT, "is about Shelf"),
    Forgery("product without contact", "an empty field", with_product(contact=""), Reason.PRODUCT, "contact"),
    Forgery("aliases that explode", "YAML of a thousand million items", with_parts(_alias_bomb), Reason.PRODUCT, PRODUCT),
)
