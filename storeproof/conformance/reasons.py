"""Why a claim is refused: one name for each kind of reason, so that it can be tested, counted and looked up."""

from __future__ import annotations

from enum import StrEnum

from storeproof.errors import StoreproofError


class Reason(StrEnum):
    """The names, in the order in which they are looked for."""

    ARCHIVE = "archive"  # not an archive as `storeproof bundle` writes it
    SIZE = "size"  # larger than a bundle may be, or a part of it
    LINK = "link"  # an entry that is no regular file
    PATH = "path"  # a name that leads out of the archive
    DUPLICATE = "duplicate"  # two entries with one name
    PART = "part"  # a part that is missing, or that no bundle has
    MANIFEST = "manifest"  # the manifest is none, or does not list the parts
    HASH = "hash"  # a part is not the one in the manifest
    PRODUCT = "product"  # product.yaml is none, or is not of what was tried
    RESULT = "result"  # result.json is none
    RUN = "run"  # the run is not one that a claim can be made of
    TIME = "time"  # the run cannot have been then, or cannot have taken so long
    EDITION = "edition"  # of an edition that is not known here
    STOREPROOF = "storeproof"  # judged by another storeproof
    SUITES = "suites"  # judged by other suites
    STORE_FILE = "store-file"  # the store's file is not the one that is known
    ADAPTER = "adapter"  # the adapter is not the one that is known
    SETTINGS = "settings"  # the server's settings are not the variant's
    ORIGIN = "origin"  # whether the maker built a program, or supports it, does not follow from its package
    CASES = "cases"  # a case of the edition is left out, or one is none of it
    NOT_RUN = "not-run"  # a case was not run that can be tried everywhere, or for a reason that does not hold
    COUNTS = "counts"  # the counts are not those of the cases
    ROLL_UP = "roll-up"  # a capability is not the sum of its cases
    OPERATIONS = "operations"  # an operation is called correct, and a case that uses it is not
    EVIDENCE = "evidence"  # the histories are missing, or are none of a run
    SEED = "seed"  # the histories are of another seed, store or fault
    ATTEMPTS = "attempts"  # an attempt of a guarantee is left out, or a spoiled one is not counted
    ROUNDS = "rounds"  # a round is missing
    DURABILITY = "durability"  # the histories show something else than the result says
    STATES = "states"  # the states that a crash may leave are others than the result says
    ERRORS = "errors"  # the errors of a disk show something else than the result says
    ISOLATION = "isolation"  # transactions show something else than the result says
    NUMBER = "number"  # a number is not that of its rounds
    HISTOGRAM = "histogram"  # latencies are not those of the histogram
    PROFILE = "profile"  # a profile's verdict does not follow


class ClaimRefused(StoreproofError):
    """A claim is refused, for one reason."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(f"{reason}: {text}")
        self.reason = reason
        self.text = text
