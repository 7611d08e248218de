"""How fast the machine is just now: bounds on processor time are multiples of the time of a unit of work, done beside what is measured.

Machines differ by half, and a busy one shares its caches and cores: a bound in seconds would be a statement about the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import yaml

from storeproof.spec.loader import SPEC_ROOT


def processor_seconds(work: Callable[[], object]) -> float:
    """Of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def unit() -> float:
    """Seconds of processor time, the least of three: one store's file is read by PyYAML's parser, which is written in Python."""
    text = (SPEC_ROOT / "stores" / "postgresql.yaml").read_text()
    return min(processor_seconds(lambda: yaml.load(text, yaml.SafeLoader)) for _ in range(3))
