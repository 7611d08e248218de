"""Names of the site's files and anchors. They are made of names in results, which may be hostile, and stay the same from site to site."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from storeproof.result.measurement import Measurement
from storeproof.spec.cases import ISOLATION

_LONGEST: Final = 100
"""Characters of a slug; a file name of two of them and a suffix fits every file system."""
_OTHER: Final = re.compile("[^a-z0-9_-]")


def slug(text: str) -> str:
    """A text as part of a file name, an address and an anchor. What is no small letter, digit, hyphen or underscore becomes `~` and its
    code point, so that different texts have different slugs, also where a file system ignores case. A long one ends in its SHA-256."""
    found = _OTHER.sub(lambda match: f"~{ord(match[0]):x}~", text) or "~"
    if len(found) <= _LONGEST:
        return found
    return f"{found[:60]}~{hashlib.sha256(text.encode(errors='backslashreplace')).hexdigest()[:16]}"


def store_page(store: str) -> str:
    return f"store/{slug(store)}.html"


def variant_page(store: str, variant: str) -> str:
    return f"store/{slug(store)}.{slug(variant)}.html"


def capability_page(capability: str) -> str:
    return f"capability/{_dotted(capability)}.html"


def run_page(run: str) -> str:
    return f"run/{slug(run)}.html"


def demand_page(group: str) -> str:
    """The page with the YAML of a group of capabilities."""
    return f"spec/{slug(group)}.html"


def decision_page(decision: str) -> str:
    return f"decision/{slug(decision)}.html"


def isolation_page(store: str) -> str:
    return f"isolation/{slug(store)}.html"


def badge(store: str, variant: str = "") -> str:
    """The badge of a variant, or of a store's default variant, without its suffix."""
    return f"badge/{slug(store)}" + (f".{slug(variant)}" if variant else "")


def store_anchor(store: str, variant: str) -> str:
    return f"of.{slug(store)}.{slug(variant)}"


def model_anchor(store: str, variant: str, model: str) -> str:
    """Of the random histories on records of a model, on the page of their run."""
    return f"model.{slug(store)}.{slug(variant)}.{slug(model)}"


def loss_anchor(store: str, variant: str, guarantee: str) -> str:
    return f"loss.{slug(store)}.{slug(variant)}.{slug(guarantee)}"


def outage_anchor(store: str, variant: str, fault: str) -> str:
    return f"outage.{slug(store)}.{slug(variant)}.{slug(fault)}"


def level_anchor(level: str) -> str:
    """Of an isolation level, on the page of its store."""
    return f"level.{slug(level)}"


def isolation_anchor(store: str, variant: str, case: str) -> str:
    """Of the transactions of a mix at one level, on the page of their run; `case`: the id."""
    return ".".join(("isolation", slug(store), slug(variant), *map(slug, case.removeprefix(f"{ISOLATION}/").split("/"))))


def joint_anchor(store: str, variant: str, number: str) -> str:
    """Of what a role reached beside the others, on the page of its run; `number`: its name."""
    return f"joint.{slug(store)}.{slug(variant)}.{slug(number)}"


def number_anchor(store: str, variant: str, measured: Measurement) -> str:
    """Of a rate, on the page of its run: named by all that tells the numbers of a store from each other."""
    parts = [store, variant, measured.workload, f"{measured.indexes}i", f"{measured.clients}c"]
    parts += [f"{measured.pipeline}p"] if measured.pipeline != 1 else []
    parts += [measured.record] if measured.record else []
    parts += [f"{measured.rate:g}s"] if measured.rate is not None else []
    return "number." + ".".join(map(slug, parts))


def _dotted(capability: str) -> str:
    group, _, name = capability.partition(".")
    return f"{slug(group)}.{slug(name)}"
