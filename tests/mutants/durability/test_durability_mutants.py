"""Stores that lie about what they keep: each is caught by the fault and the finding that are meant for it, and honest ones pass.

They are real servers, real clusters and one embedded store, tried by the suites as a vendor's store is. Nothing is read back of the
settings of single servers; those of clusters are as their files say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.mutants.durability import cluster_lies, host_lies, server_lies, trials
from tests.mutants.durability.lie import Found, Lie

Seen = Mapping[str, Found]

_SETS: Mapping[str, tuple[Sequence[Lie], Sequence[Lie]]] = {
    "hosts": (host_lies.LIES, host_lies.HONEST),
    "servers": (server_lies.LIES, server_lies.HONEST),
    "clusters": (cluster_lies.LIES, ()),
}
_seen: dict[str, Seen] = {}


def _of(name: str, number: int) -> list[object]:
    marks = [pytest.mark.slow, *([] if name == "hosts" else [pytest.mark.servers])]
    return [pytest.param(name, lie, id=lie.name, marks=marks) for lie in _SETS[name][number]]


@pytest.fixture
def seen(which: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """By name: what was found of each liar and each honest store. One run of all."""
    if which == "clusters":
        request.getfixturevalue("networks")
    if which not in _seen:
        mutants, honest = _SETS[which]
        _seen[which] = trials.found(mutants, tmp_path_factory.mktemp(which), to_the_end=honest)
    return _seen[which]


@pytest.mark.parametrize(("which", "lie"), [each for name in _SETS for each in _of(name, 0)])
def test_the_lie_is_caught_by_what_is_meant_for_it(which: str, lie: Lie, seen: Seen) -> None:
    """The guarantee that it claims fails, for the right reason and for no other."""
    found = seen[lie.name]
    assert found.caught(lie), f"{lie.name}: {found.outcome}, {set(found.kinds)}: {found.detail}"


@pytest.mark.parametrize(("which", "lie"), [each for name in _SETS for each in _of(name, 1)])
def test_the_honest_store_raises_no_alarm(which: str, lie: Lie, seen: Seen) -> None:
    """The same stores, the same faults, the same load, without the lie."""
    assert seen[lie.name].outcome == "pass", f"{lie.name}: {seen[lie.name].detail}"


@pytest.mark.parametrize("which", [pytest.param(name, marks=_of(name, 0)[0].marks) for name in _SETS])  # type: ignore[attr-defined]
def test_the_score(which: str, seen: Seen, capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, with what caught each."""
    mutants, honest = _SETS[which]
    score, clean = sum(seen[lie.name].caught(lie) for lie in mutants), sum(seen[each.name].outcome == "pass" for each in honest)
    with capsys.disabled():
        print(f"\n{trials.table(mutants, seen)}")
        print(f"durability mutants ({which}): {score} of {len(mutants)} caught; {clean} of {len(honest)} honest stores pass")
    assert (score, clean) == (len(mutants), len(honest))
