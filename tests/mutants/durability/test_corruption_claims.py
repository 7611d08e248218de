"""Who claims to notice damage and does not is caught at every seed; who does notice passes.

PostgreSQL without page checksums, as Debian's `initdb` makes it before version 18, serves what was changed in its tables, or leaves it out.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from storeproof.spec import SPEC_ROOT
from tests.end_to_end.running import start

pytestmark = [pytest.mark.slow, pytest.mark.servers]


@pytest.mark.parametrize("seed", range(1, 3))
def test_a_false_claim_is_caught_at_every_seed(tmp_path: Path, seed: int) -> None:
    """A store that claims to detect corruption and serves flipped bytes fails."""
    text = (SPEC_ROOT / "stores" / "postgresql.yaml").read_text().replace("\nclaims:\n", "\nclaims:\n  detects_corruption: true\n")
    file = tmp_path / "false.yaml"
    file.write_text(text.replace("store: postgresql\n", "store: false-claim\n"))
    with tempfile.TemporaryDirectory(prefix="storeproof-claims-") as data:
        Path(data).chmod(0o755)  # PostgreSQL's user must get through
        arguments = (f"--store={file}", "--launch=process", f"--data-dir={data}", f"--seed={seed}", "-k", "corruption and flip")
        done = start(tmp_path / "run", *arguments, suites="durability", whole=True)
        assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    found = done.outcomes["durability.corruption/flip"]
    assert found["outcome"] == "fail", found["detail"]
    assert "it served data that no client wrote" in found["detail"] or "records were missing, and nothing was reported" in found["detail"]


def test_a_true_claim_passes(tmp_path: Path) -> None:
    """A store that detects flipped bytes passes."""
    done = start(tmp_path / "run", "--store=redis:rdb", "--launch=process", "-k", "corruption and flip", suites="durability", whole=True)
    assert done.code == 0, done.said
    assert done.outcomes["durability.corruption/flip"]["outcome"] == "pass"
