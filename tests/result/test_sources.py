"""The files that judge a store: all of them, by names that tell the project's from a vendor's."""

from __future__ import annotations

import hashlib
from pathlib import Path

from storeproof.result.sources import digests, digests_of_run, sources_of
from tests.architecture.installed import CHECKOUT
from tests.shipped import SHIPPED

VENDOR = CHECKOUT / "tests" / "vendor" / "lmdb"


def names(store: str) -> list[str]:
    """Of the sources of a store's default variant."""
    (target,) = SHIPPED.targets([store])
    return list(sources_of(target))


def test_a_store_of_the_project_is_judged_by_its_file_and_its_adapter() -> None:
    """The store's file comes first; Lua and what the adapter imports of others belong to it."""
    found = names("redis-stack")
    assert found[0] == "spec/stores/redis-stack.yaml"
    assert {"adapters/redis_stack/__init__.py", "adapters/redis_stack/insert.lua", "adapters/redis/link.py"} <= set(found)
    assert not any("sqlite" in each or "__pycache__" in each for each in found)


def test_a_file_that_is_extended_judges_too() -> None:
    """Valkey's file has a few lines, and all else from Redis'."""
    assert names("valkey")[:2] == ["spec/stores/valkey.yaml", "spec/stores/redis.yaml"]


def test_a_composite_store_is_judged_by_the_files_of_its_servers() -> None:
    """Its own, the layer's, and those of front and home."""
    found = set(names("redis-over-mongodb"))
    assert {
        "spec/stores/redis-over-mongodb.yaml",
        "spec/stores/redis.yaml",
        "spec/stores/mongodb.yaml",
        "adapters/composite/__init__.py",
        "adapters/redis/__init__.py",
        "adapters/mongodb/__init__.py",
    } <= found


def test_a_vendors_files_are_named_as_own() -> None:
    """And their digests are those of the files."""
    (file,) = VENDOR.glob("*.yaml")
    (target,) = SHIPPED.targets([str(file)])
    sources = sources_of(target)
    own = {name: path for name, path in sources.items() if name.startswith("own/")}
    assert next(iter(sources)) == f"own/{file.name}"
    assert {path.parent for path in own.values()} == {VENDOR}
    assert {Path(name).suffix for name in own} == {".yaml", ".py"}
    assert digests(sources)[f"own/{file.name}"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_own_files_keep_their_places_to_each_other(tmp_path: Path) -> None:
    """A file that extends one of another folder still finds it under these names."""
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "theirs.yaml").write_text(
        (CHECKOUT / "spec" / "stores" / "redis.yaml").read_text().replace("store: redis", "store: theirs")
    )
    (tmp_path / "mine").mkdir()
    mine = tmp_path / "mine" / "mine.yaml"
    mine.write_text('format: "2.0"\nextends: ../base/theirs.yaml\nstore: mine\ntitle: Mine\nproduct: Mine\n')
    (target,) = SHIPPED.targets([str(mine)])
    assert [name for name in sources_of(target) if name.startswith("own/")] == ["own/mine/mine.yaml", "own/base/theirs.yaml"]


def test_machinery_and_suites_have_a_digest_each() -> None:
    """Of a run; the compiled part has one where it was built."""
    found = digests_of_run()
    assert {"storeproof", "suites"} <= found.keys() <= {"storeproof", "suites", "native"}
    assert len({*found.values()}) == len(found)
    assert all(len(each) == 64 for each in found.values())
