"""The tools of a forger: one who only changes bytes, and one who writes all hashes again."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from storeproof.conformance.archive import MANIFEST, PRODUCT, RESULT, archive_of
from storeproof.conformance.manifest import manifest_of
from storeproof.conformance.reasons import Reason
from storeproof.evidence import EVIDENCE, StoreEvidence, evidence_file, member_of, read_evidence
from storeproof.result.json_file import written
from storeproof.result.model import EditionUsed, Result
from tests.conformance.true_bundle import TrueBundle
from tests.evidence.packing import as_a_run_packs

Json = dict[str, Any]
Forge = Callable[[TrueBundle, Path], None]
"""Writes the forged file."""


class Forgery(NamedTuple):
    """One forged bundle."""

    name: str
    how: str
    """How it is forged."""
    forge: Forge
    reason: Reason
    """The name of the reason for which it is refused."""
    says: str
    """A part of the message."""


def sealed(parts: Mapping[str, bytes]) -> bytes:
    """A bundle with a manifest that is right for these parts."""
    try:
        result = json.loads(parts[RESULT])
        edition, version = EditionUsed(**result["edition"]), result["run"]["storeproof"]
    except (KeyError, RecursionError):
        edition, version = EditionUsed(version="1", hash="1"), "1"
    return archive_of({MANIFEST: manifest_of(parts, edition, version), **parts})


def packed(entries: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """Any tar archive, as the bundle's are: without the padding of tapes."""
    found = b""
    for entry, content in entries:
        entry.size = entry.size or len(content)
        found += entry.tobuf(tarfile.USTAR_FORMAT) + content + b"\0" * (-len(content) % 512)
    return found + b"\0" * 1024


def entries_of(bundle: TrueBundle) -> list[tuple[tarfile.TarInfo, bytes]]:
    """The entries of the true bundle, to change or to add to."""
    with tarfile.open(fileobj=io.BytesIO(bundle.file.read_bytes())) as archive:
        return [(tarfile.TarInfo(each.name), archive.extractfile(each).read()) for each in archive]  # type: ignore[union-attr]


def with_entry(name: str, content: bytes = b"", **fields: Any) -> Forge:
    """One more entry, with these fields in its header."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        entry = tarfile.TarInfo(name)
        for field, value in fields.items():
            setattr(entry, field, value)
        file.write_bytes(packed([*entries_of(bundle), (entry, content)]))

    return forge


def with_parts(change: Callable[[dict[str, bytes]], object]) -> Forge:
    """Other parts, and a manifest that is right for them."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        parts = dict(bundle.parts)
        change(parts)
        file.write_bytes(sealed(parts))

    return forge


def result_in(result: Json) -> bytes:
    """As a run writes it, as far as it is a result."""
    try:
        return written(Result.model_validate(result))
    except ValidationError:
        return json.dumps(result, indent=1).encode()


def with_manifest(change: Callable[[Json], object]) -> Forge:
    """The true parts with another manifest."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        manifest = json.loads(entries_of(bundle)[0][1])
        change(manifest)
        content = f"{json.dumps(manifest, indent=1)}\n".encode()
        file.write_bytes(archive_of({MANIFEST: content, **bundle.parts}))

    return forge


def with_result(change: Callable[[Json], object]) -> Forge:
    """Another result, and a manifest that is right for it."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        result = bundle.result
        change(result)
        file.write_bytes(sealed({**bundle.parts, RESULT: result_in(result)}))

    return forge


def with_store(change: Callable[[Json], object]) -> Forge:
    """As `with_result`, with a change of its only store."""
    return with_result(lambda result: change(result["stores"][0]))


def with_product(**fields: str) -> Forge:
    """Another product.yaml, with other fields."""

    def change(parts: dict[str, bytes]) -> None:
        lines = parts[PRODUCT].decode().splitlines()
        kept = [line for line in lines if line.partition(":")[0] not in fields]
        parts[PRODUCT] = "".join(f"{line}\n" for line in [*kept, *(f'{name}: "{value}"' for name, value in fields.items())]).encode()

    return with_parts(change)


def with_evidence(change: Callable[[list[Json]], object], and_store: Callable[[Json], object] = lambda _: None) -> Forge:
    """Other histories, with their hash in the result, and a manifest that is right for both; `and_store`: what else is changed."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        lines = bundle.lines
        change(lines)
        content = as_a_run_packs(lines)
        file.write_bytes(sealed(with_histories(bundle, content, and_store)))

    return forge


def with_histories(bundle: TrueBundle, content: bytes, and_store: Callable[[Json], object] = lambda _: None) -> dict[str, bytes]:
    """The parts with this evidence, which is packed, and its hash in the result."""
    result = bundle.result
    result["run"]["evidence"] = hashlib.sha256(content).hexdigest()
    and_store(result["stores"][0])
    return {**bundle.parts, EVIDENCE: content, RESULT: result_in(result)}


def stores_of(bundle: TrueBundle) -> list[StoreEvidence]:
    """The histories, to change."""
    return list(read_evidence(io.BytesIO(bundle.parts[EVIDENCE]), bundle.result["run"]["id"]))


def with_stores(
    change: Callable[[list[StoreEvidence]], object], and_store: Callable[[Json, list[StoreEvidence]], object] = lambda *_: None
) -> Forge:
    """As `with_evidence`, with a change of what is read from it."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        stores = stores_of(bundle)
        change(stores)
        content = evidence_file(bundle.result["run"]["id"], map(member_of, stores))
        file.write_bytes(sealed(with_histories(bundle, content, lambda store: and_store(store, stores))))

    return forge


def of_case(lines: list[Json], case: str) -> list[Json]:
    """The lines of a case, of its only store."""
    begin = next(number for number, line in enumerate(lines) if line.get("case") == case)
    end = next((number for number, line in enumerate(lines[begin + 1 :], begin + 1) if line["line"] == "store"), len(lines))
    return lines[begin:end]


def rounds_of(lines: list[Json], case: str) -> list[Json]:
    """The rounds of a case."""
    return [line for line in of_case(lines, case) if line["line"] == "round"]
