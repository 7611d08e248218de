"""`storeproof edition`, and `storeproof disputes`."""

from __future__ import annotations

import re

import storeproof
from storeproof.conformance.known import judge_here
from storeproof.errors import UsageError
from storeproof.spec import SPEC_ROOT, load_spec
from storeproof.spec.base import NAME_PATTERN, PATTERN_WORDS
from storeproof.spec.editions.dispute import disputes_page, read_disputes
from storeproof.spec.editions.freeze import freeze as freeze_draft
from storeproof.spec.editions.freeze import record_path, write_record
from storeproof.spec.editions.frozen import known_judges
from storeproof.spec.editions.records import JUDGES


def freeze(name: str) -> None:
    """Freeze the draft. Raises `UsageError`: the name is none or is taken, or it cannot be written."""
    draft = load_spec()
    record = freeze_draft(draft, name, storeproof.__version__)
    print(f"wrote {record_path(draft.root, name)} and {record_path(draft.root, name).with_suffix('')}/, hash {record.hash}")
    print(f"commit both; `pytest suites/ --edition={name}` judges by it")


def record_judge(name: str) -> None:
    """Keep this installation as a known judge. Raises `UsageError`: the name is none or is taken, or it cannot be written."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise UsageError(f"invalid name of a judge: {name!r}; allowed: {PATTERN_WORDS[NAME_PATTERN]}")
    here, path = judge_here(name), SPEC_ROOT / JUDGES / f"{name}.yaml"
    for each in known_judges(SPEC_ROOT):
        if (each.machinery, each.suites, each.files) == (here.machinery, here.suites, here.files):
            raise UsageError(f"this installation is known already, as the judge {each.judge}")
    try:
        write_record(here, path)
    except FileExistsError:
        raise UsageError(f"{path} exists already, and would be overwritten; take another name") from None
    except OSError as reason:
        raise UsageError(f"{path} cannot be written: {reason}") from None
    print(f"wrote {path}; commit it, and later releases verify what this one judged")


def disputes() -> str:
    """The page of the disputes. Raises `SpecError`: one of them breaks a rule."""
    return disputes_page(read_disputes(SPEC_ROOT))
