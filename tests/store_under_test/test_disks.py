"""On each of several disks a store is tried alike, with its data there."""

from __future__ import annotations

from pathlib import Path

from storeproof.experiments.struck_stores import seed_of
from storeproof.store_under_test import Options, StoreUnderTest
from tests.shipped import SHIPPED


def stores(**disks: Path) -> list[StoreUnderTest]:
    options = Options(SHIPPED.scales["smoke"], seed=3, disks=disks)
    return [StoreUnderTest(SHIPPED, each, options, lambda _: None) for each in options.on_disks(SHIPPED.targets(["sqlite"])[0])]


def test_each_has_a_name_and_its_directory() -> None:
    """The name tells them apart; on the command line the store has none of it."""
    one, two = stores(a=Path("/x"), b=Path("/y"))
    assert [each.target.id for each in (one, two)] == ["sqlite:wal-full@a", "sqlite:wal-full@b"]
    assert [each._request().data_dir for each in (one, two)] == [Path("/x"), Path("/y")]
    assert one.named == two.named == "sqlite:wal-full"
    assert one.options.directory == Path("/x"), "the first is told of, and measured"


def test_the_choices_are_the_same_on_each() -> None:
    """And as without a disk of a name: a round differs by the disk alone."""
    assert len({seed_of(each, "power_loss 0") for each in (*stores(a=Path("/x"), b=Path("/y")), *stores())}) == 1


def test_without_disks_nothing_changes() -> None:
    """One store, whose data is in the directory for temporary files."""
    (alone,) = stores()
    assert (alone.target.id, alone.target.disk, alone._request().data_dir) == ("sqlite:wal-full", None, None)
    assert alone.options.directory == Path.cwd()
