"""Stores whose servers no package registry has: where they are not at hand nothing is tried, and the run says what would help."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.spec import SPEC_ROOT
from tests.end_to_end.running import leaves_nothing, run

STORES = ("aerospike", "couchbase")


@pytest.mark.slow
@pytest.mark.parametrize("name", STORES)
def test_it_is_not_run_and_says_what_would_help(name: str, tmp_path: Path) -> None:
    """Without a container engine such a store is not run, and the message says how to get one."""
    # Without an engine, since one would fetch the server where it can.
    done = run(tmp_path, f"--store={name}", environment={"DOCKER_HOST": "tcp://127.0.0.1:1"})
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED, done.said
    assert set(done.counted) == {"not_run", "excluded"}  # excluded: what the scale leaves out
    for told in (done.outcomes["settings.readback"]["detail"], done.said):
        assert "no container engine answers" in told
        assert "apt-get install docker.io" in told
    leaves_nothing(tmp_path)


@pytest.mark.parametrize("name", STORES)
def test_whoever_reads_its_file_learns_that_no_server_was_asked(name: str) -> None:
    """The store's file and adapter say that they were not verified against a server."""
    assert "Not verified against a server" in (SPEC_ROOT / "stores" / f"{name}.yaml").read_text()
    assert "Not verified against a server" in (SPEC_ROOT.parent / "adapters" / name / "__init__.py").read_text()
