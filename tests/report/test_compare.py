"""A comparison in the terminal says where it shows nothing, and why."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

from rich.console import Console

from storeproof.report.compare import print_comparison
from storeproof.result.compare import compare
from storeproof.result.model import Citation, NoiseFloor
from tests.result.test_compare import rounds, side

FAST, SLOW = {"rounds": rounds(1080, 1081, 1079)}, {"rounds": rounds(1000, 1001, 999)}


def _shown(one: dict[str, Any], other: dict[str, Any]) -> str:
    screen = StringIO()
    print_comparison(compare(side(**one), side(**other)), Console(file=screen, width=160))
    return screen.getvalue()


def test_what_is_within_the_noise_says_so() -> None:
    """And how far it reaches; without a floor nothing is said of one."""
    noisy = {"environment": {"noise": NoiseFloor(ratio=0.99, low=0.9, high=1.05)}}
    shown = _shown(FAST | noisy, SLOW)
    assert "no difference shown: within the noise of the machine" in shown
    assert "noise floor of the machine: 1.111×" in shown
    quiet = _shown(FAST, SLOW)
    assert "1.08×" in quiet
    assert "noise" not in quiet
    assert "no difference" not in quiet


def test_a_cited_proof_names_the_run_that_proved_it() -> None:
    """In the heading of its side, with the scale; one of the run itself names none."""
    proven = side()
    cited = Citation(run="r1", started="", scale="full", seed=1, sha256="")
    durability = proven.store.durability.model_copy(update={"cited": cited})
    citing = replace(proven, store=proven.store.model_copy(update={"durability": durability}))
    screen = StringIO()
    print_comparison(compare(proven, citing), Console(file=screen, width=200))
    one, other = screen.getvalue().splitlines()[:2]
    assert "durability proven: process_crash, scale standard" in one
    assert "durability proven: process_crash (cited from run r1, scale full), scale standard" in other


def test_how_it_was_measured_is_told() -> None:
    """What tells two measurements of one workload apart stands beside them."""
    many = {"pipeline": 4, "record": "size-1000", "load_model": "open", "rate": 500.0}
    assert "500/s offered, 4 in flight, 1,000 bytes" in _shown(FAST | many, SLOW | many)
    assert "number of requests in flight differs: 4 against 1" in _shown(FAST | many, SLOW)
