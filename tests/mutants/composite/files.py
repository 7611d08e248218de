"""Store files of composites of the embedded store with itself, for runs of the suites without any server."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def composite_file(
    folder: Path,
    name: str,
    policy: str,
    adapter: str = "composite",
    *,
    stale: bool = False,
    front: str = "sqlite:off",
    promises: str = "power_loss",
) -> Path:
    """Write one.

    Args:
        adapter: the layer: `composite`, or a mutant of this folder.
        stale: whether stale reads are declared as possible.
        front: the store of the front, which is SQLite or Redis.
        promises: the guarantee that it claims.
    """
    path = folder / f"{name}.yaml"
    path.write_text(f"""format: "2.1"
store: {name}
title: {name}
product: {"Redis" if front.startswith("redis") else "SQLite"} over SQLite
adapter: {adapter if adapter == "composite" else HERE / f"{adapter}.py"}
launch:
  composite: {{front: "{front}", home: "sqlite:wal-full"}}
variants:
  plain:
    options: {{policy: {policy}, invalidate: delete}}
    guarantee: {promises}
    default: true
{"    stale_reads: possible" if stale else ""}
claims:
  models: [single_key, hash10, counter]
  atomic_batches: true
  capabilities: {{key_access: true}}
""")
    return path
