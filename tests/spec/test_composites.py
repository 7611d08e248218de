"""Files of composite stores: two servers by name, the options of the layer, and what such a file may not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.errors import SpecError, UsageError
from storeproof.spec.base import RuleError
from storeproof.spec.store import Caching
from tests.architecture.installed import CHECKOUT
from tests.shipped import SHIPPED
from tests.spec.files import with_changes

TEXT = """format: "2.1"
store: both
title: Both
product: Redis over SQLite
adapter: composite
launch:
  composite: {front: "redis:volatile", home: sqlite}
variants:
  plain:
    options: {policy: cache-aside, ttl: "60"}
    settings: {front.maxmemory: 64mb}
    guarantee: power_loss
    default: true
    stale_reads: possible
claims:
  models: [single_key]
  capabilities: {}
"""


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    """The file, with changes."""
    path = folder / "both.yaml"
    path.write_text(with_changes(TEXT, changes))
    return path


def test_the_parts_are_the_targets_of_two_other_files(tmp_path: Path) -> None:
    """Their settings and options are the composite's, under their roles; it may set more of each."""
    (target,) = SHIPPED.targets([str(written(tmp_path))])
    assert {role: part.id for role, part in target.parts.items()} == {"front": "redis:volatile", "home": "sqlite:wal-full"}
    assert target.settings(1024) == {
        "front.save": "", "front.appendonly": "no", "front.maxmemory": "64mb",
        "home.journal_mode": "wal", "home.synchronous": "FULL",
    }  # fmt: skip
    assert target.settings_of("front", 1024) == {"save": "", "appendonly": "no", "maxmemory": "64mb"}
    assert target.settings_of("home", 1024) == {"journal_mode": "wal", "synchronous": "FULL"}
    assert target.options == {"policy": "cache-aside", "ttl": "60"}
    assert target.stale_reads
    assert [store.name for store in target.stores] == ["both", "redis", "sqlite"]


def test_the_memory_of_the_front_is_limited_by_its_own_settings(tmp_path: Path) -> None:
    """The size goes where the file says; the others stay as they are. Without them there is no limit."""
    limit = ("home: sqlite", 'home: sqlite, front_memory: {maxmemory: "${mib}mb", maxmemory-policy: allkeys-lru}')
    (target,) = SHIPPED.targets([str(written(tmp_path, limit))])
    assert target.store.launch.composite is not None
    assert target.store.launch.composite.limited(5 * 2**20) == {"maxmemory": "5mb", "maxmemory-policy": "allkeys-lru"}
    (target,) = SHIPPED.targets([str(written(tmp_path))])
    assert target.store.launch.composite is not None
    assert target.store.launch.composite.limited(5 * 2**20) == {}


def test_the_cache_of_a_server_has_the_size_of_the_scale(tmp_path: Path) -> None:
    """It is passed to the server, and is none of the settings that the variant states."""
    (target,) = SHIPPED.targets([str(written(tmp_path, ("home: sqlite", 'home: "mongodb:journaled"')))])
    assert target.settings(2**30)["home.wiredTigerCacheSizeGB"] == "1"
    assert "home.wiredTigerCacheSizeGB" not in target.stated_settings
    assert target.options["home.journal"] == "true"


def test_a_part_may_be_a_file_beside_it(tmp_path: Path) -> None:
    """Relative to the composite's file, with or without a variant."""
    other = (Path(SHIPPED.store("sqlite")[1]).read_text()).replace("store: sqlite\n", "store: mine\n", 1)
    (tmp_path / "mine.yaml").write_text(other)
    for named in ("./mine.yaml", "mine.yaml:wal-normal"):
        (target,) = SHIPPED.targets([str(written(tmp_path, ("home: sqlite", f'home: "{named}"')))])
        assert target.parts["home"].store.name == "mine"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("home: sqlite", "home: sqlit"), "both.yaml:7: launch.composite.home: unknown store `sqlit` (did you mean `sqlite`?)"),
        (("redis:volatile", "redis:all"), "launch.composite.front: found 'redis:all'; allowed: one variant of a store that is one server"),
        (("redis:volatile", "redis:fast"), "launch.composite.front: unknown variant of redis `fast`"),
        (
            ("home: sqlite", "home: both.yaml"),
            "launch.composite.home: found 'both.yaml'; allowed: one variant of a store that is one server",
        ),
        (("policy: cache-aside, ", ""), "both.yaml:10: variants.plain.options.policy: is missing; allowed: cache-aside, read-through, "),
        (("cache-aside", "write-around"), "variants.plain.options.policy: found 'write-around'; allowed: cache-aside, "),
        (('"60"', '"1m"'), "variants.plain.options.ttl: found '1m'; allowed: a number of seconds, or 0"),
        (("ttl:", "tll:"), "variants.plain.options.tll: unknown option of a composite store; allowed: policy, invalidate, ttl"),
        (
            ("front.maxmemory", "maxmemory"),
            "variants.plain.settings.maxmemory: the setting does not say whose it is; allowed: `front.NAME`",
        ),
        (
            ("home: sqlite", 'home: sqlite, front_memory: {maxmemory: "64mb"}'),
            "launch.composite.front_memory: found a mapping of maxmemory; allowed: one value with exactly one of ${bytes}, ${mib}, ${gib}",
        ),
        (("launch:\n", 'launch:\n  endpoint: {url: "x://y:1"}\n'), "launch.endpoint: found beside `composite`; allowed: one of them"),
        (("launch:\n", "wire: resp\nlaunch:\n"), "both.yaml:6: wire: a composite store has two servers, each with its own"),
        (("    guarantee", "    arguments: [-x]\n    guarantee"), "variants.plain.arguments: a composite store has no command"),
        (("stale_reads: possible", "stale_reads: true"), "variants.plain.stale_reads: found true; allowed: possible"),
        (
            ('format: "2.1"', 'format: "2.6"'),
            'format: found \'2.6\'; allowed: "2.0" or "2.1" or "2.2" or "2.3" or "2.4" or "2.5"; a newer file needs',
        ),
    ],
    ids=lambda value: value[1].strip()[:20] if isinstance(value, tuple) else "",
)
def test_an_invalid_file_is_refused_with_its_line(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    """Each message says where, what was found, and what is allowed."""
    with pytest.raises((SpecError, UsageError)) as breach:
        SHIPPED.targets([str(written(tmp_path, change))])
    assert message in str(breach.value)


def test_the_options_have_defaults() -> None:
    """With write-through a write updates the copy; else it deletes it. Copies do not expire."""
    assert Caching.of({"policy": "write-through"}).options == {"policy": "write-through", "invalidate": "update", "ttl": "0"}
    assert Caching.of({"policy": "read-through"}).options == {"policy": "read-through", "invalidate": "delete", "ttl": "0"}
    assert Caching.of({"policy": "cache-aside", "invalidate": "update"}).invalidate == "update"
    for ttl in ("", "-1", "01", "1.5", "\u0661"):
        with pytest.raises(RuleError):
            Caching.of({"policy": "cache-aside", "ttl": ttl})


def test_the_example_of_the_documentation_is_valid(tmp_path: Path) -> None:
    """The page of composite stores has a whole file."""
    text = (CHECKOUT / "docs" / "COMPOSITES.md").read_text().partition("```yaml\n")[2].partition("```\n")[0]
    (tmp_path / "example.yaml").write_text(text)
    (target,) = SHIPPED.targets([str(tmp_path / "example.yaml")])
    assert target.parts["front"].store.product + " over " + target.parts["home"].store.product == target.store.product
    assert not target.configuration.promises("process_crash") or target.parts["home"].configuration.promises("process_crash")


@pytest.mark.parametrize("name", sorted(name for name in SHIPPED.store_files if SHIPPED.targets([name])[0].parts))
def test_what_a_shipped_composite_guarantees_its_home_guarantees(name: str) -> None:
    """And its product is that of both; one variant has a lock for each key, and every other declares stale reads."""
    for target in SHIPPED.targets([f"{name}:all"]):
        home = target.parts["home"]
        caching, guarantee = Caching.of(target.configuration.options), target.configuration.guarantee
        assert home.configuration.promises(guarantee)
        assert caching.home_first or target.parts["front"].configuration.promises(guarantee), "the front has what the home lacks"
        assert target.store.product == f"{target.parts['front'].store.product} over {home.store.product}"
        assert target.stale_reads is not caching.locks_writes
        assert {package for store in target.stores[1:] for package in store.requires} == set(target.store.requires)
