"""`extends`: a file says what differs from another, and every message names the file that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.spec.reading.source import read
from storeproof.spec.store import Store
from tests.shipped import SHIPPED
from tests.spec.files import STORE, replaced

HEAD = 'format: "2.0"\nstore: fork\ntitle: Fork\nproduct: Fork\n'


def written(tmp_path: Path, own: str, base: str = STORE) -> Path:
    """A file that extends another one in the folder beside it."""
    (tmp_path / "base").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "base" / "mine.yaml").write_text(base)
    path = tmp_path / "own" / "fork.yaml"
    path.write_text(f"{HEAD}extends: ../base/mine.yaml\n{own}")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read(path, Store)
    return [line.replace(str(path.parents[1]), "") for line in caught.value.problems]


def test_mappings_are_merged_lists_replaced_and_null_removes(tmp_path: Path) -> None:
    """How the fields of a file and of the one it extends are combined."""
    own = 'launch: {process: {binary: forkd, command: ["-p", "${port}"]}}\nvariants: {plain: {settings: {level: "4"}}, other: null}\n'
    store = read(written(tmp_path, own), Store)
    process = store.launch.process
    assert process is not None
    assert (store.name, process.binary, process.install, process.command) == ("fork", "forkd", "apt-get install mined", ("-p", "${port}"))
    assert {name: each.settings for name, each in store.variants.items()} == {"plain": {"sync": "no", "level": "4"}}
    assert store.claims.capabilities == {"access.put-get": True}


def test_only_some_variants_may_be_inherited(tmp_path: Path) -> None:
    """Those that are listed, and its own; one that is not there is named with those that are."""
    path = written(tmp_path, "variants: {only: [plain], mine: {guarantee: volatile}}\n")
    assert list(read(path, Store).variants) == ["plain", "mine"]
    path.write_text(path.read_text().replace("[plain]", "[plain, safe]"))
    assert problems(path) == ["/own/fork.yaml:6: variants.only: found 'safe'; allowed: plain, other"]


def test_known_failures_are_not_inherited(tmp_path: Path) -> None:
    """A known failure of one product says nothing about another."""
    known = 'known_failures:\n  durability.power_loss: {variants: [other], issue: "see 1", until: 2099-01-01}\n'
    assert read(written(tmp_path, "", STORE + known), Store).known_failures == {}


def test_relative_paths_are_relative_to_the_file_that_has_them(tmp_path: Path) -> None:
    """`${here}` and the adapter of the extended file are in its own directory."""
    base = replaced(STORE, '[--port, "${port}"]', '["${here}/host.py", "$here", "$${here}"]')
    path = written(tmp_path, 'launch: {process: {files: {x: "${here}/x"}}}\n', base)
    store = read(path, Store)
    assert store.launch.process is not None
    assert store.launch.process.command == (f"{tmp_path}/base/host.py", f"{tmp_path}/base", "$${here}")
    assert store.launch.process.files == {"x": f"{tmp_path}/own/x"}
    assert store.adapter == f"{tmp_path}/base/mine.py"


def test_a_dollar_in_a_directory_name_is_escaped(tmp_path: Path) -> None:
    """It is not read as the beginning of a template variable."""
    (tmp_path / "a$b").mkdir()
    path = tmp_path / "a$b" / "mine.yaml"
    path.write_text(replaced(STORE, '"${port}"', '"${here}"'))
    process = read(path, Store).launch.process
    assert process is not None
    assert process.command == ("--port", f"{tmp_path}/a$$b")


def test_an_error_names_the_file_it_is_in(tmp_path: Path) -> None:
    """Errors in the extended file and in the extending one are reported together."""
    path = written(tmp_path, "launch: {process: {binry: x}}\n", replaced(STORE, "models: [single_key]", "models: single_key"))
    base, own = sorted(problems(path))
    assert base.startswith("/base/mine.yaml:19: claims.models: found 'single_key'; allowed: a list")
    assert own.startswith("/own/fork.yaml:6: launch.process.binry: unknown field (did you mean `binary`?)")


def test_a_wrong_claim_names_the_file_it_is_in(tmp_path: Path) -> None:
    """Also for errors that are found after reading."""
    path = written(tmp_path, "", replaced(STORE, "access.put-get", "key_access.put-gte"))
    with pytest.raises(SpecError, match=r"base/mine\.yaml:21: claims\.capabilities\.key_access\.put-gte: unknown capability"):
        SHIPPED.store(str(path))


def test_a_cycle_of_extends_is_refused(tmp_path: Path) -> None:
    """The message has the files of the cycle."""
    path = written(tmp_path, "", STORE + "extends: ../own/fork.yaml\n")
    (found,) = problems(path)
    assert found.startswith("/base/mine.yaml:22: extends: /own/fork.yaml extends ")
    assert "allowed: no cycles" in found


def test_extending_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The message has the name and the allowed ones."""
    path = tmp_path / "fork.yaml"
    path.write_text(f"{HEAD}extends: reddis\n")
    with pytest.raises(
        SpecError, match=r"fork\.yaml:5: extends: found 'reddis', which does not exist; allowed: .* or one of aerospike, .*redis"
    ):
        read(path, Store)


def test_recursive_aliases_do_not_hang(tmp_path: Path) -> None:
    """An anchor that contains itself ends with an error."""
    endless = "notes: &a {b: *a}\n"
    assert any("notes" in line for line in problems(written(tmp_path, endless, STORE + endless)))


def test_a_shipped_store_is_extended_by_name(tmp_path: Path) -> None:
    """A file elsewhere changes the image and inherits the rest."""
    path = tmp_path / "fork.yaml"
    path.write_text(f"{HEAD}extends: redis\nlaunch: {{container: {{image: fork}}}}\n")
    store, _ = SHIPPED.store(str(path))
    redis, _ = SHIPPED.store("redis")
    assert store.launch.container is not None
    assert redis.launch.container is not None
    assert store.launch.container == redis.launch.container.model_copy(update={"image": "fork"})
    assert (store.adapter, store.variants) == ("redis", redis.variants)
