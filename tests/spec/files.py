"""A small specification of its own, so that a test can break exactly one thing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from storeproof.errors import SpecError
from storeproof.spec.base import SpecFile
from storeproof.spec.reading.source import read

MODEL = """\
format: "1.0"
model: single_key
title: One value
key: text
record:
  kind: value
  size: 100
  sizes: [1, 2]
"""

NESTED = """\
format: "1.0"
model: nested
title: An aggregate
key: text
record:
  kind: document
  shape:
    object:
      name: {text: 20}
      profile:
        object:
          email: {text: 30}
indexes:
  - [profile, email]
"""

CAPABILITIES = """\
format: "2.0"
group: access
title: Access
capabilities:
  - capability: put-get
    title: Store and read
    model: single_key
    operations: [put, get]
    cases:
      - id: "001"
        title: it comes back
        steps:
          - {do: put, args: [a, one]}
          - {do: get, args: [a], expect: one}
      - id: "002"
        title: nothing is there
        steps:
          - {do: get, args: [a], expect: null}
"""

WORKLOADS = """\
format: "2.0"
group: seeds
workloads:
  - workload: put
    kind: value-write
    title: Put
    model: single_key
    mix: [{operation: put, keys: new}]
    preload: false
    clients: one
"""

PROFILE = """\
format: "1.0"
profile: cache
title: A cache
models: [single_key]
capabilities: [access.put-get]
guarantee: volatile
"""

STORE = """\
format: "2.0"
store: mine
title: Mine
product: Mine
adapter: ./mine.py
launch:
  process:
    binary: mined
    install: apt-get install mined
    command: [--port, "${port}"]
variants:
  plain:
    default: true
    settings: {sync: "no", level: "3"}
    guarantee: process_crash
  other:
    guarantee: volatile
claims:
  models: [single_key]
  capabilities:
    access.put-get: true
"""


def specification(root: Path) -> Path:
    """Write the small specification under `root`, which is returned."""
    for name, text in {
        "models/single_key": MODEL,
        "models/nested": NESTED,
        "capabilities/access": CAPABILITIES,
        "workloads/seeds": WORKLOADS,
        "profiles/cache": PROFILE,
        "stores/mine": STORE,
    }.items():
        path = root / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def problems(tmp_path: Path, kind: type[SpecFile], text: str) -> list[str]:
    """The lines that reading `text` as a `kind` gives, without the directory."""
    path = tmp_path / "x.yaml"
    path.write_text(text)
    try:
        read(path, kind)
    except SpecError as breach:
        return [line.removeprefix(f"{tmp_path}/") for line in breach.problems]
    return []


def replaced(text: str, old: str, new: str) -> str:
    """`text` with one thing changed; a change that changes nothing is a mistake of the test."""
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


def with_changes(text: str, changes: Iterable[tuple[str, str]]) -> str:
    """`text` with each of the changes, one after the other; see `replaced`."""
    for old, new in changes:
        text = replaced(text, old, new)
    return text
