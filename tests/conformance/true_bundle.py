"""A true bundle: of a real run of SQLite, of some cases of the mini-edition, which is frozen. All others count as beyond the scale."""

from __future__ import annotations

import atexit
import dataclasses
import gzip
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import storeproof
from storeproof.conformance.archive import MANIFEST, PRODUCT, RESULT, open_archive
from storeproof.conformance.bundle import make_bundle
from storeproof.conformance.expected_cases import ExpectedCase
from storeproof.conformance.known import KnownJudges, judge_here
from storeproof.evidence import EVIDENCE
from storeproof.spec import Scale, Target, load_spec
from storeproof.spec.editions.dispute import Dispute
from storeproof.spec.editions.freeze import freeze
from tests.end_to_end.running import run
from tests.mini_edition.edition import mini_edition

STORE = "sqlite:wal-full"
EDITION = "2020.01"
"""The edition of the claim: none of the project has this name."""
GUARANTEES = ("clean_restart", "process_crash")
SPEEDS = ("performance.single-get/0i/4c", "performance.single-put-distinct-100/0i/4c")
ROUNDS = 5
LATER = "walk.single_key"
"""A case of the suites that the edition does not have."""
CASES = (
    "settings.readback",
    *(f"capabilities.key_access.put-get/{number}" for number in ("001", "002", "004", "008")),
    "capabilities.key_access.delete/001",
    *(f"durability.{name}" for name in GUARANTEES),
    *SPEEDS,
)
"""What is tried: two capabilities, two faults, two numbers."""


class SomeCases(KnownJudges):
    """An edition of which the cases above must be tried, and all others may be left out."""

    def cases(self, scale: Scale, target: Target) -> dict[str, ExpectedCase]:
        every = super().cases(scale, target)
        assert every.keys() >= {*CASES}
        return {name: case if name in CASES else dataclasses.replace(case, beyond_scale=True) for name, case in every.items()}


WITHDRAWN = "capabilities.key_access.put-get/008"
"""A case of the true bundle that was withdrawn after its run."""
WITHDRAWAL = Dispute(
    format="1.0", dispute="wrong", case=WITHDRAWN, affected="none", reason="made up", state="withdrawn", decision="for these tests"
)


@cache
def frozen_root() -> Path:
    """The mini-edition with a frozen edition of the same demands, after which the suites got one more case. Made once per process."""
    root = Path(tempfile.mkdtemp(prefix="frozen-edition-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    shutil.copytree(mini_edition(), root, dirs_exist_ok=True)
    draft = load_spec(root)
    freeze(dataclasses.replace(draft, suite_cases=draft.suite_cases - {LATER}), EDITION, storeproof.__version__)
    return root


@cache
def known() -> SomeCases:
    """What the true bundle is held against: this installation, and another judge."""
    here = judge_here()
    other = here.model_copy(update={"judge": "another", "machinery": "1" * 64, "suites": "2" * 64})
    return SomeCases(load_spec(frozen_root()), here, (other,), (WITHDRAWAL,), frozen_root())


def own_file() -> Path:
    """The store's file that the true bundle was made with."""
    return frozen_root() / "stores" / "sqlite.yaml"


def product_of(version: str, **changed: str) -> str:
    """The text of a product.yaml."""
    fields = {
        "organization": "The SQLite project",
        "product": "SQLite",
        "version": version,
        "url": "https://sqlite.org",
        "contact": "someone@example.org",
        "mode": "embedded",
    } | changed
    return 'format: "1.0"\n' + "".join(f'{name}: "{value}"\n' for name, value in fields.items())


@dataclass(frozen=True)
class TrueBundle:
    """The bundle, and the report that it was made of."""

    file: Path
    report: Path
    parts: Mapping[str, bytes]
    """Without the manifest."""

    @property
    def result(self) -> dict[str, Any]:
        """A copy of the result, to change."""
        found: dict[str, Any] = json.loads(self.parts[RESULT])
        return found

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A copy of the lines of evidence, to change."""
        return [json.loads(line) for line in gzip.decompress(self.parts[EVIDENCE]).splitlines()]


def make(folder: Path) -> TrueBundle:
    """Run SQLite, and bundle the run."""
    done = run(folder / "run", f"--store={STORE}", f"--edition={EDITION}", cases={STORE: CASES}, edition=frozen_root())
    assert done.code == 0, done.said
    report = done.folder / "report"
    product = folder / PRODUCT
    product.write_text(product_of(done.result["stores"][0]["version"].removeprefix("SQLite ")))
    content, _ = make_bundle(report, product, own_file(), known())
    file = folder / "true.tar"
    file.write_bytes(content)
    with open_archive(file) as archive:
        parts = {name: archive.read(name) for name in archive.places if name != MANIFEST}
    return TrueBundle(file, report, parts)
