"""What `--cores` and `--memory` say is read, and what cannot be given is a wrong use of the command."""

from __future__ import annotations

import pytest

from storeproof.errors import UsageError
from storeproof.machine.cores import CoreSplit, split
from storeproof.plugin import resources as module
from storeproof.plugin.resources import resources

MIB = 2**20


@pytest.fixture
def eight(monkeypatch: pytest.MonkeyPatch) -> CoreSplit:
    """A machine of eight cores."""
    found = split(range(8))
    monkeypatch.setattr(module, "split_of_this_machine", lambda: found)
    return found


def test_without_options_the_cores_are_parted(eight: CoreSplit) -> None:
    """And memory is not limited."""
    found = resources(None, None, ())
    assert (found.split, found.cores, found.memory) == (eight, None, None)


def test_what_is_given(eight: CoreSplit) -> None:
    """Cores of the server's share, and memory in bytes."""
    found = resources(2, "512MiB", ())
    assert found.split == eight.giving(2)
    assert (found.cores, found.memory) == (2, 512 * MIB)
    assert resources(None, "1GiB", ()).memory == 1024 * MIB


def test_too_many_cores(eight: CoreSplit) -> None:
    """The message says how many there are, and where the others went."""
    with pytest.raises(UsageError, match=r"--cores 7: a store can be given 1 to 6 cores here; the load generator has 2 for itself"):
        resources(7, None, ())


@pytest.mark.parametrize("text", ["8", "8G", "8 GiB", "8gib", "-1GiB", "0MiB", "1.5GiB", ""])
def test_what_is_no_size(text: str) -> None:
    """The message has two that are."""
    with pytest.raises(UsageError, match="such as 512MiB or 8GiB; found"):
        resources(None, text, ())


def test_more_memory_than_there_is() -> None:
    """A limit that limits nothing is not what was meant."""
    with pytest.raises(UsageError, match="--memory 999999GiB is more than this machine has: "):
        resources(None, "999999GiB", ())


@pytest.mark.parametrize(("cores", "memory"), [(1, None), (None, "64MiB")])
def test_an_endpoint_is_given_nothing(cores: int | None, memory: str | None) -> None:
    """Its server is the user's: to ignore the option would be to lie."""
    with pytest.raises(UsageError, match="for servers that storeproof starts, and redis is an endpoint; leave them out"):
        resources(cores, memory, ("redis",))


def test_beside_an_endpoint_nothing_is_parted(eight: CoreSplit) -> None:
    """All stores of a run have the same, and that one's server stays where it is."""
    found = resources(None, None, ("redis",)).split
    assert found == CoreSplit(tuple(range(8)), tuple(range(8)), "redis: the server is not ours")
