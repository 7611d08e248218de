"""A store that keeps its files where no fault strikes proves nothing, however well it keeps them; the same one within reach loses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.running import leaves_nothing, run, store_file

pytestmark = pytest.mark.slow

_NOTHING = "the data directory holds nothing of what was written"
RUNGS = ("clean_restart", "process_crash", "power_loss")


def option(folder: Path, name: str, database: str) -> str:
    """The option that tries SQLite without syncs, which claims to survive everything, with its database at this path."""
    changes = (
        ("store: sqlite\n", f"store: {name}\n"),
        ("${data}/store.db", database),
        ("{journal_mode: wal, synchronous: FULL}", '{journal_mode: wal, synchronous: "OFF"}'),
    )
    return f"--store={store_file(folder / f'{name}.yaml', *changes)}"


def test_no_guarantee_is_proven_where_no_fault_strikes(tmp_path: Path) -> None:
    """The library without syncs: with its database in a directory of its own, or where an ignored option puts it, no rung is judged, and
    nothing is proven; in the data directory it loses what it acknowledged."""
    away = tmp_path / "away"
    away.mkdir()
    stores = {"away": str(away / "store.db"), "in-run": "${run}/store.db", "within": "${data}/store.db"}
    options = [option(tmp_path, name, database) for name, database in stores.items()]
    done = run(tmp_path / "run", *options, "-k", "test_guarantee", rounds=2)
    assert done.code == 1
    found = {store["store"]: store for store in done.result["stores"]}
    outcomes = {name: {each["id"]: each for each in store["outcomes"]} for name, store in found.items()}
    for rung in RUNGS:
        for name, says in (("away", (f"it writes to {away}/store.db", _NOTHING)), ("in-run", (_NOTHING,))):
            case = outcomes[name][f"durability.{rung}"]
            if name == "in-run" and rung == "power_loss" and case["outcome"] == "fail":
                continue  # a power cut empties that directory, as a boot does
            assert case["outcome"] == "error", case
            assert any(each in case["detail"] for each in says), case
    assert {found[name]["durability"]["proven"] for name in ("away", "in-run")} == {None}
    assert {rung: outcomes["within"][f"durability.{rung}"]["outcome"] for rung in RUNGS[:2]} == dict.fromkeys(RUNGS[:2], "pass")
    cut = outcomes["within"]["durability.power_loss"]
    assert cut["outcome"] in ("fail", "not_run"), "not_run: no disk can be cut here"
    leaves_nothing(tmp_path / "run")


_AWAY = """\
format: "2.0"
extends: redis
store: redis-away
title: Redis elsewhere
product: Redis
launch:
  container:
    image: storeproof/redis
    port: 6379
    data: /data
    command: [redis-server, "--dir", /var/tmp, "${settings}"]
"""


@pytest.mark.docker
def test_nor_in_a_container(tmp_path: Path) -> None:
    """The log is in the container, beside the volume: a restart of the container keeps it, and shows nothing."""
    (tmp_path / "away.yaml").write_text(_AWAY)
    case = "durability.process_crash"
    target = "redis-away:aof-everysec"
    option = f"--store={tmp_path}/away.yaml:aof-everysec"
    done = run(tmp_path / "run", option, "--launch=container", whole=True, cases={target: [case]}, rounds=2)
    found = done.outcomes[case]
    assert found["outcome"] == "error", found
    assert _NOTHING in found["detail"] or "it writes to /var/tmp/appendonlydir/" in found["detail"]
    (store,) = done.result["stores"]
    assert store["durability"]["proven"] is None
    leaves_nothing(tmp_path / "run")
