"""`storeproof schema`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from storeproof.errors import UsageError
from storeproof.result.json_file import result_schema
from storeproof.spec.kinds import schemas
from storeproof.spec.loader import SPEC_ROOT
from storeproof.spec.questions.product import Product
from storeproof.spec.questions.read_needs import needs_schema
from storeproof.spec.reading.json_schema import schema_of


def all_schemas() -> dict[str, str]:
    product = schema_of("product", Product, ".".join(map(str, Product.FORMAT)))
    return {**schemas(), "needs.json": needs_schema(), "product.json": product, "result.json": result_schema()}


def write_schemas(directory: Path | None = None) -> int:
    """Write the schemas, and remove those of file kinds that no longer exist; returns 0.
    Raises `UsageError`: the directory cannot be written."""
    target = directory or SPEC_ROOT / "schema"
    wanted = all_schemas()
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in wanted.items():
            (target / name).write_text(text, encoding="utf-8")
        for stale in _extra(target, wanted):
            stale.unlink()
    except OSError as reason:
        raise UsageError(f"{target} cannot be written: {reason}; name another directory with --directory") from None
    print(f"wrote {len(wanted)} schemas to {target}")
    return 0


def check_schemas(directory: Path | None = None) -> int:
    """Print every file that differs from what would be written; returns 0 if there is none, else 1."""
    target = directory or SPEC_ROOT / "schema"
    drift, wanted = [], all_schemas()
    for name, text in wanted.items():
        path = target / name
        if not path.is_file():
            drift.append(f"{path}: missing")
        elif path.read_text(encoding="utf-8") != text:
            drift.append(f"{path}: differs from the models")
    drift += [f"{path}: no model has this schema" for path in _extra(target, wanted)]
    for line in drift:
        print(line)
    print("run `storeproof schema` and commit what it writes" if drift else f"the schemas in {target} are up to date")
    return 1 if drift else 0


def _extra(directory: Path, wanted: Collection[str]) -> list[Path]:
    return [path for path in sorted(directory.glob("*.json")) if path.name not in wanted]
