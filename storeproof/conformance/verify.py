"""Verifies a bundle: nothing is believed that can be computed. It needs no network, no server, and no trust in who made the bundle."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from storeproof.conformance.archive import PRODUCT, Archive, open_archive
from storeproof.conformance.excuses import check_excuses
from storeproof.conformance.histories.durability import JudgedAgain, check_durability
from storeproof.conformance.judged_by import judge_of, judging_target
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.manifest import checked_manifest
from storeproof.conformance.not_run import check_not_run
from storeproof.conformance.numbers import check_numbers
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.result_part import result_of
from storeproof.conformance.said_twice import check_said_twice
from storeproof.conformance.times import check_times
from storeproof.conformance.verdicts import check_counts, check_first_screen, check_operations, check_profiles, check_roll_ups
from storeproof.conformance.wholeness import check_cases, only_store
from storeproof.conformance.withdrawal import as_run, judged_without
from storeproof.errors import SpecError
from storeproof.printable import in_one_line
from storeproof.result.measured.origin import judged_again
from storeproof.result.model import FORMAT, Result, StoreResult
from storeproof.spec.editions.dispute import Dispute
from storeproof.spec.editions.records import Judge
from storeproof.spec.questions.product import Product
from storeproof.spec.reading.reader import reading_by
from storeproof.spec.reading.source import read
from storeproof.spec.store import Target


@dataclass(frozen=True)
class Verified:
    """A claim of which everything was computed again that can be."""

    product: Product
    result: Result
    store: StoreResult
    """The store of the claim, judged without the cases that were withdrawn since."""
    judge: Judge
    """Who judged it."""
    later: tuple[str, ...]
    """Frozen editions that came after the claim's."""
    expired_by: str | None
    """The one with which it expired."""
    disputes: tuple[Dispute, ...]
    """Open and decided ones about cases of its edition."""
    durability: JudgedAgain
    numbers: int
    capabilities: int


def verify(path: Path, known: KnownJudges, now: datetime | None = None) -> Verified:
    """Verify the bundle in a file. It writes nothing, and reads nothing but the bundle and this installation.

    Args:
        now: the time of the verification, with a time zone; by default that of this machine.

    Raises:
        Unreadable: it is not there, or is no regular file.
        ClaimRefused: for the first reason that is found.
    """
    with open_archive(path) as archive:
        return verify_archive(archive, known, now)


def verify_archive(archive: Archive, known: KnownJudges, now: datetime | None = None) -> Verified:
    """Verify an open bundle. Arguments as of `verify`. Raises `ClaimRefused`."""
    with reading_by(known.reading(archive)):
        manifest = checked_manifest(archive)
        product = _product()
        result = result_of(archive)
        if manifest.edition != result.edition or manifest.storeproof != result.run.storeproof:
            raise ClaimRefused(Reason.MANIFEST, "the manifest names another edition or another storeproof than the result")
        known = known.in_edition(result.edition)
        store = only_store(result)
        judge = judge_of(result.run, store, known)
        target = judging_target(store, judge, archive, known)
        scale = known.scale(result.run.scale)
        check_times(result.run, store, known.frozen_on, now)
        _check_product(product, store, target.store.product)
        _check_origin(result, store, target)
        then = as_run(store, known)
        cases = then.cases(scale, target)
        check_cases(store, cases)
        check_counts(store)
        check_said_twice(result, store)
        check_not_run(result.run, store, target, then.spec.mixes)
        check_excuses(result.run, store, target)
        check_roll_ups(store, target, then.spec)
        check_operations(store, then.spec)
        durability = check_durability(result.run, store, target, archive, then, judge)
        numbers = check_numbers(store, cases, scale, result.environment.loopback_us)
        check_profiles(store, target, then.spec)
        if result.format == FORMAT:
            check_first_screen(store)
    return Verified(
        product,
        result,
        judged_without(store, target, known.spec),
        judge,
        tuple(known.later),
        known.expired_by,
        tuple(each for each in known.disputes if each.concerns(result.edition.version) and each.case in cases),
        durability,
        numbers,
        len(store.capabilities),
    )


def _product() -> Product:
    """The one in the bundle that is being read."""
    try:
        return read(Path(PRODUCT), Product)
    except SpecError as reason:
        raise ClaimRefused(Reason.PRODUCT, in_one_line(str(reason))) from None


def _check_product(product: Product, store: StoreResult, name: str) -> None:
    """A claim is about the very product and version that the server reported."""
    assert store.version is not None
    version = store.version.removeprefix(f"{name} ")
    if product.product.casefold() != name.casefold() or product.version != version:
        claimed = in_one_line(f"{product.product} {product.version}", 80)
        raise ClaimRefused(Reason.PRODUCT, f"{PRODUCT} is about {claimed}, and the server said that it is {in_one_line(store.version, 80)}")


def _check_origin(result: Result, store: StoreResult, target: Target) -> None:
    """Which packages ran is the maker's word; whether these are the maker's, and until when they are supported, follows from it."""
    if store.origin is None:
        if result.format == FORMAT:
            raise ClaimRefused(Reason.ORIGIN, "it does not say where its programs came from, as each run does")
        return  # results of formats before did not
    assert store.version is not None
    servers: set[str] = set(target.parts) or {""}
    if store.launch != "endpoint" and not servers <= {each.role for each in store.origin.programs}:
        raise ClaimRefused(Reason.ORIGIN, "it names no program of a server that the run has started")
    if judged_again(target, store.version, store.origin) != store.origin:
        raise ClaimRefused(Reason.ORIGIN, "whether the maker built its programs, or supports them, does not follow from their packages")
