"""Which of the programs that are installed start a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from storeproof.machine.programs import find_programs
from storeproof.spec.store import ProcessLaunch


def test_programs_are_those_of_one_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer server that PATH has first lacks one of them: the older one is taken, with all of its own. Without it, each is any."""
    newer, older, elsewhere = (tmp_path / name for name in ("newer", "older", "elsewhere"))
    usr = tmp_path / "usr"
    for shelf, names in ((newer, ("server", "init")), (older, ("server", "init", "copy")), (elsewhere, ("copy",)), (usr, ("touch",))):
        shelf.mkdir()
        for name in names:
            (shelf / name).touch(0o755)
    monkeypatch.setenv("PATH", f"{newer}:{elsewhere}:{usr}")

    def found(**more: Any) -> list[str]:
        launch = ProcessLaunch(binary="server", initialise=[["init"], ["touch"]], install="-", command=(), **more)
        return [Path(path).parent.name for path in find_programs(launch, "small").values()]

    assert found() == ["newer", "newer", "usr"]
    assert found(programs=["copy"]) == ["newer", "elsewhere", "newer", "usr"]
    assert found(programs=["copy"], search=(str(older),)) == ["older", "older", "older", "usr"]
