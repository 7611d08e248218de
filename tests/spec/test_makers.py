"""What a store's file says of its maker: its packages, and until when it supports a release."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from storeproof.spec.reading.source import read
from storeproof.spec.store import MakersPackage, Store, SupportPeriods
from tests.shipped import SHIPPED
from tests.spec.files import STORE, problems

SOURCE = "https://example.org/releases"
SUPPORT = SupportPeriods(source=SOURCE, ends={"8": date(2030, 1, 1), "8.1": date(2027, 1, 1), "10.11": date(2028, 2, 16)})


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("8.1.4", "8.1"),
        ("8.10.4", "8"),
        ("8", "8"),
        ("10.11.19-MariaDB-0+deb12u1", "10.11"),
        ("v8.1 (Debian 10.11)", "8.1"),
        ("10.1", None),
        ("80.1", None),
        ("unknown", None),
    ],
)
def test_a_version_belongs_to_the_most_specific_release(version: str, release: str | None) -> None:
    """By whole numbers, whatever follows them."""
    assert SUPPORT.release_of(version) == release


def test_a_package_is_the_makers_if_all_that_is_given_matches() -> None:
    """By the patterns of a shell."""
    rule = MakersPackage(package="mined-*", version="*+mine?", source=SOURCE)
    assert rule.matches("mined-core", "1:2.3+mine1")
    assert not rule.matches("mined-core", "1:2.3-1")
    assert not rule.matches("Mined-core", "1:2.3+mine1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("support: {ends: {'6.0': 2025-07-31}}", "support.source: is missing, and must be given"),
        ("support: {source: here, ends: {'6.0': 2025-07-31}}", "support.source: found 'here'; allowed: an address of ASCII characters"),
        (f"support: {{source: {SOURCE}, ends: {{}}}}", "support.ends: found an empty mapping; allowed: at least 1"),
        (f"support: {{source: {SOURCE}, ends: {{6.0: 2025-07-31}}}}", "support.ends.6.0: found 6.0; allowed: text; quote it"),
        (f"support: {{source: {SOURCE}, ends: {{six: 2025-07-31}}}}", "support.ends.six: found 'six'; allowed: numbers in quotes, as in"),
        (f"support: {{source: {SOURCE}, ends: {{'6.0': soon}}}}", "support.ends.6.0: found 'soon'; allowed: "),
        ("makers_packages: {debian: []}", "makers_packages.debian: found 'debian' (did you mean `deb`?); allowed: deb, rpm, wheel, image"),
        (f"makers_packages: {{deb: [{{source: {SOURCE}}}]}}", "makers_packages.deb.0: allowed: a pattern of `package`, of `version`, or"),
        ("makers_packages: {deb: [{package: mined}]}", "makers_packages.deb.0.source: is missing, and must be given"),
        ("makers_packages: {deb: mined}", "makers_packages.deb: found 'mined'; allowed: a list, as in [a, b]"),
    ],
)
def test_a_wrong_field_has_a_message(tmp_path: Path, text: str, message: str) -> None:
    """It says what is allowed."""
    (found,) = problems(tmp_path, Store, f"{STORE}{text}\n")
    assert found.partition(": ")[2].startswith(message)


def test_another_product_inherits_neither(tmp_path: Path) -> None:
    """Who made Redis, and supports it, says nothing of a product that speaks its protocol."""
    redis, _ = SHIPPED.store("redis")
    assert redis.makers_packages
    assert redis.support is not None
    path = tmp_path / "fork.yaml"
    path.write_text('format: "2.5"\nextends: redis\nstore: fork\ntitle: Fork\nproduct: Fork\n')
    fork = read(path, Store)
    assert (fork.makers_packages, fork.support) == ({}, None)
