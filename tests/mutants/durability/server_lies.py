"""Lies of real servers: they are started with other settings than what they claim needs, or by someone who spoils what they keep.

Each is a store's own file, with another command. The honest twin is the store itself, in the variant that claims the most.
"""

from __future__ import annotations

import ctypes.util
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from storeproof.machine.programs import find_program
from storeproof.spec import SPEC_ROOT
from storeproof.spec.reading.source import values
from storeproof.spec.store import Store
from tests.mutants.durability import early, unacknowledged
from tests.mutants.durability.lie import COUNTED, LATE, Kind, Lie


def _file(store: str) -> dict[str, Any]:
    return values(SPEC_ROOT / "stores" / f"{store}.yaml")


def _started(
    store: str, variant: str, settings: Mapping[str, str], *, by: Sequence[str] = (), options: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A store that is started with the settings of a variant, but for some; and perhaps `by` something else, which takes the command.

    The settings are written into the command, so that its file knows of none.
    """
    told = _file(store)
    described = told["variants"][variant]
    process = told["launch"]["process"]
    setting = process.get("setting", ["--${name}", "${value}"])
    written = [
        [item.replace("${name}", name).replace("${value}", value) for item in setting]
        for name, value in {**described.get("settings", {}), **settings}.items()
    ]
    command = [each for item in process["command"] for each in (chain.from_iterable(written) if item == "${settings}" else [item])]
    files = {
        name: text.replace("${settings}", "\n".join(" ".join(each) for each in written)) for name, text in process.get("files", {}).items()
    }
    binary = process["binary"]
    if by:
        program = find_program(binary, Store.model_validate(_file(store)).launch.process, store)
        binary, command = by[0], [*by[1:], program, *command]
    return {
        **{name: told[name] for name in ("title", "product", "adapter", "requires") if name in told},
        "launch": {"process": {**process, "binary": binary, "command": command, "files": files}},
        "options": options if options is not None else described.get("options", {}),
        "claims": {"models": told["claims"]["models"], "capabilities": {}},
    }


def preloaded(store: str, variant: str) -> dict[str, Any]:
    """Started with a library that makes nothing of every sync."""
    library = ctypes.util.find_library("eatmydata") or "libeatmydata.so"
    return _started(store, variant, {}, by=["env", f"LD_PRELOAD={library}"])


def known_failures(store: str, variant: str) -> dict[str, Any]:
    """Those of a store's file, for a variant of another name."""
    found: dict[str, Any] = _file(store)["known_failures"]
    return {case: {**known, "variants": [variant], "until": known["until"]} for case, known in found.items()}


def _through(store: str, variant: str, script: str) -> dict[str, Any]:
    """Started by a script of the shell, which sees the data directory as $1 and what it may keep beside it as $2."""
    whole = f'{script}\nshift 2; exec "$@"'.replace("$", "$$")  # a plain dollar, in a store file
    return _started(store, variant, {}, by=["sh", "-c", whole, "sh", "${data}", "${run}"])


_TAIL_CUT = 'for log in "$1"/appendonlydir/*.incr.aof; do if [ -s "$log" ]; then truncate -s -30 "$log"; fi; done'
_OLD_SNAPSHOT = """
if [ -d "$2/old" ]; then rm -rf "$1"/*; cp -a "$2/old/." "$1"
elif [ -d "$1/appendonlydir" ]; then cp -a "$1" "$2/old"
fi"""


def _acknowledged_early() -> dict[str, Any]:
    told = _started("redis", "aof-always", {}, by=["${python}", early.__file__, "--port", "${port}", "--"])
    command = told["launch"]["process"]["command"]
    at = command.index("--port", 4)  # the server's own: the proxy has that one, and gives it another
    del command[at : at + 2]
    told["claims"]["models"] = ["single_key"]
    return told


def _lie(name: str, says: str, guarantee: str, store: Mapping[str, Any], *by: Kind) -> Lie:
    return Lie(name, says, guarantee, store, frozenset(("lost", *by)), LATE)


EATEN = "Every sync is a no-op, by a preloaded library (libeatmydata)"

LIES = (
    _lie("redis-everysec", "Syncs its log once a second", "power_loss", _started("redis", "aof-always", {"appendfsync": "everysec"})),
    _lie("redis-no", "Leaves syncing to the operating system", "power_loss", _started("redis", "aof-always", {"appendfsync": "no"})),
    _lie("redis-eaten", EATEN, "power_loss", preloaded("redis", "aof-always")),
    _lie("redis-snapshots", "Has snapshots but no log", "process_crash", _started("redis", "rdb", {})),
    _lie(
        "redis-tail-cut",
        "Loses the tail of its log, and starts nevertheless",
        "process_crash",
        _through("redis", "aof-always", _TAIL_CUT),
        *LATE,
    ),
    _lie(
        "redis-old-snapshot", "Is started on an earlier copy of its data", "process_crash", _through("redis", "aof-always", _OLD_SNAPSHOT)
    ),
    _lie("redis-early", "A proxy in front of it acknowledges before it forwards", "process_crash", _acknowledged_early()),
    _lie("valkey-everysec", "Syncs its log once a second", "power_loss", _started("valkey", "aof-always", {"appendfsync": "everysec"})),
    _lie("postgresql-no-fsync", "Runs with fsync = off", "power_loss", _started("postgresql", "synchronous-commit-on", {"fsync": "off"})),
    _lie(
        "postgresql-no-wait",
        "Runs with synchronous_commit = off",
        "power_loss",
        _started("postgresql", "synchronous-commit-on", {"synchronous_commit": "off"}),
    ),
    _lie("postgresql-unlogged", "Has tables without a log", "process_crash", _started("postgresql", "unlogged", {})),
    _lie("postgresql-eaten", EATEN, "power_loss", preloaded("postgresql", "synchronous-commit-on")),
    _lie(
        "mariadb-flush-2",
        "Writes its log at each commit and syncs it once a second",
        "power_loss",
        _started("mariadb", "innodb-flush-1", {"innodb_flush_log_at_trx_commit": "2"}),
    ),
    _lie(
        "mariadb-flush-0",
        "Writes its log once a second",
        "process_crash",
        _started("mariadb", "innodb-flush-1", {"innodb_flush_log_at_trx_commit": "0"}),
    ),
    _lie("mariadb-eaten", EATEN, "power_loss", preloaded("mariadb", "innodb-flush-1"), "unstartable"),
    _lie("mariadb-myisam", "Has tables without a log", "power_loss", _started("mariadb", "myisam", {})),
    Lie(
        "mariadb-half-pages",
        "Runs with innodb_doublewrite = OFF: a torn page is not restored",
        "power_loss",
        _started("mariadb", "innodb-flush-1", {"innodb_doublewrite": "OFF"}),
        # What half a page does to it depends on the page.
        by=frozenset(("unstartable", "does not work", "does not answer", "accepts no writes", "lost")),
        beside=frozenset(COUNTED),
        load=("burst", "stream", "bulk", "compaction"),  # so that tables are written, and not only the log
        power_cut="fuse:torn",
    ),
    _lie("mongodb-unjournaled", "Acknowledges before its journal is written (j: false)", "power_loss", _started("mongodb", "default", {})),
    _lie(
        "mongodb-unacknowledged",
        "Its client does not wait for a reply (w: 0)",
        "process_crash",
        {**_started("mongodb", "default", {}), "adapter": unacknowledged.__file__},
    ),
    _lie("mongodb-eaten", EATEN, "power_loss", preloaded("mongodb", "journaled")),
    _lie("tarantool-write", "Writes its log but does not sync it", "power_loss", _started("tarantool", "memtx-tree-write", {})),
    _lie("tarantool-none", "Has no log", "process_crash", _started("tarantool", "memtx-tree-none", {})),
    _lie("sqlite-off", "Runs with synchronous = OFF", "power_loss", _started("sqlite", "off", {})),
    _lie("sqlite-wal-normal", "Syncs its log at checkpoints only", "power_loss", _started("sqlite", "wal-normal", {})),
    _lie("sqlite-delete-full", "Does not sync the removal of its journal", "power_loss", _started("sqlite", "delete-full", {}), *LATE),
    _lie("sqlite-eaten", EATEN, "power_loss", preloaded("sqlite", "wal-full")),
)

HONEST = (
    *(
        Lie(store.partition(":")[0], "As its file is", "power_loss", store)
        for store in (
            "mongodb:journaled",
            "mariadb:innodb-flush-1",
            "postgresql:synchronous-commit-on",
            "redis:aof-always",
            "valkey:aof-always",
            "sqlite:wal-full",
        )
    ),
    Lie("tarantool", "As its file is", "process_crash", "tarantool:memtx-tree-write"),
    Lie("redis-wrapped", "Started by a script that spoils nothing", "process_crash", _through("redis", "aof-always", "true")),
)
