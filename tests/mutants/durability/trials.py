"""Tries stores that lie as any store is tried: by the suites, from store files, each with the one fault that it claims to survive.

The variants of single servers name no settings, so that there is nothing to read back, and those of clusters have the settings that they
name: it is the fault that must show the lie.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from storeproof.disk.ext4 import memory_base
from storeproof.spec import SPEC_ROOT
from tests.mini_edition.edition import cut_load
from tests.mini_edition.inner_run import CHECKOUT, run_to_the_end, told
from tests.mutants.durability.lie import COUNTED, Found, Lie

_AT_ONCE = 3
"""Runs side by side: most of their time is spent on servers that start."""
_IN_A_RUN = 4
"""Stores, at most: not the neighbours of a table, so that the runs end at about the same time."""
_PATIENCE = 900.0
"""Seconds of one run, on a machine that is busy with all else. A quiet one needs less than a tenth."""


def found(lies: Iterable[Lie], folder: Path, seed: int = 1, *, to_the_end: Iterable[Lie] = ()) -> Mapping[str, Found]:
    """By the lie's name: what its trial found.

    A trial ends with the fault that shows what is meant for the lie, and has patience until then: what a torn page does is a matter of
    luck. Those of `to_the_end` go through the faults of an ordinary run.
    """
    lies = list(lies)
    meant = {lie.name: sorted(lie.by) for lie in lies}
    lies += to_the_end
    editions = {load: edition_of(load, folder / "-".join(load)) for load in {lie.load for lie in lies}}
    alike: dict[tuple[str, tuple[str, ...], str], list[Lie]] = {}
    for lie in lies:
        alike.setdefault((lie.guarantee, lie.load, lie.power_cut), []).append(lie)
    runs = [some[first :: -(-len(some) // _IN_A_RUN)] for some in alike.values() for first in range(-(-len(some) // _IN_A_RUN))]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        results = pool.map(lambda run: _try(run[1], folder / str(run[0]), editions[run[1][0].load], seed, meant), enumerate(runs))
    return {name: each for result in results for name, each in result.items()}


def edition_of(load: Sequence[str], root: Path) -> Path:
    """The specification with guarantees that are tried under this load alone: what is meant to catch a lie must do it by itself."""
    # Profiles and scaling would ask for what these stores are not asked.
    shutil.copytree(SPEC_ROOT, root, ignore=shutil.ignore_patterns("profiles", "scaling", "schema"))
    cut_load(root, load)
    return root


def _try(lies: Sequence[Lie], folder: Path, edition: Path, seed: int, meant: Mapping[str, Sequence[str]]) -> Mapping[str, Found]:
    """One run for lies about one guarantee."""
    folder.mkdir()
    guarantee = lies[0].guarantee
    # Not /dev/shm itself: MariaDB takes that for persistent memory and maps its log, which a kill then cannot harm.
    memory = memory_base() if guarantee == "power_loss" else None
    with tempfile.TemporaryDirectory(prefix="storeproof-lies-", dir=memory) as data:
        Path(data).chmod(0o755)  # PostgreSQL's user must get through
        plugins, environment = told(edition, pages=False)
        arguments = [
            *(str(CHECKOUT / "suites" / "durability" / "test_guarantees.py"), "-q", "-k", guarantee, "--report-dir=report"),
            *(*plugins, "-p", "tests.mutants.durability.first_finding"),
            *(f"--store={lie.store if isinstance(lie.store, str) else store_file_of(lie, folder)}" for lie in lies),
            *("--launch=process", f"--data-dir={data}", f"--seed={seed}", f"--power-cut={lies[0].power_cut}"),
        ]
        code, said = run_to_the_end(arguments, folder, {**environment, "MEANT_FOR_THE_LIES": json.dumps(meant)}, _PATIENCE)
        assert not list(Path(data).iterdir()), "something was left behind"
    assert code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), said
    seen = {}
    for store in json.loads((folder / "report" / "result.json").read_text())["stores"]:
        (outcome,) = [each for each in store["outcomes"] if each["id"] == f"durability.{guarantee}"]
        (record,) = store["durability"]["guarantees"]
        seen[store["store"]] = Found(outcome["outcome"], outcome["detail"] or "", record)
    return {lie.name: seen[lie.name] for lie in lies}


def store_file_of(lie: Lie, folder: Path) -> Path:
    """The store file."""
    assert isinstance(lie.store, Mapping)
    variant = {"default": True, "guarantee": lie.guarantee, "options": lie.store.get("options", {}), **lie.store.get("variant", {})}
    told = {name: value for name, value in lie.store.items() if name not in ("options", "variant")}
    path = folder / f"{lie.name}.yaml"
    path.write_text(yaml.safe_dump({"format": "2.0", "store": lie.name, **told, "variants": {"lying": variant}}))
    return path


def table(lies: Iterable[Lie], seen: Mapping[str, Found]) -> str:
    """What caught each."""
    lines = ["| mutant | what it does | claims to survive | caught by | acknowledged | found |", "|---|---|---|---|---|---|"]
    for lie in lies:
        each = seen[lie.name]
        by = (
            f"`durability.{lie.guarantee}`, {' or '.join(sorted(lie.by & each.kinds))}"
            if each.caught(lie)
            else f"NOT CAUGHT: {each.outcome}"
        )
        counts = ", ".join(f"{each.record[kind]} {kind}" for kind in COUNTED if each.record[kind])
        lines.append(f"| {lie.name} | {lie.says} | {lie.guarantee} | {by} | {each.record['acknowledged']} | {counts or '-'} |")
    return "\n".join(lines)
