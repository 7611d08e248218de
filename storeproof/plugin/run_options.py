"""The options of a run, from what the command line gives."""

from __future__ import annotations

import random
from argparse import Namespace
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from storeproof.contract.address import resolve_secrets
from storeproof.corpus.article_store import Corpus
from storeproof.errors import NotAvailable, UsageError
from storeproof.load.hosts.load_hosts import LoadHosts
from storeproof.plugin.device_models import mount_models
from storeproof.plugin.disks import models_among, named_disks
from storeproof.plugin.needs import NeedsRun
from storeproof.plugin.options import MOST_LAPS, MOST_RECORDS, existing_directory, pairs, whole_number
from storeproof.plugin.resources import granted
from storeproof.regular_file import exists
from storeproof.result.redact import redact
from storeproof.result.sources import digests_of_run
from storeproof.run_command import RunCommand
from storeproof.spec import Scale, Spec
from storeproof.spec.edition import SEEDS
from storeproof.stats.intervals import RANKS_FROM
from storeproof.store_under_test import Options


def load_hosts(option: Namespace, endpoints: Collection[str]) -> LoadHosts | None:
    """Connected, or None where this machine puts on the load itself.

    Args:
        option: has `hosts` and `needs`.
        endpoints: the stores whose servers the user runs.

    Raises:
        UsageError: it cannot be.
    """
    if option.hosts is None:
        return None
    if option.needs:
        raise UsageError("--hosts and --needs exclude each other: the loads of a candidate's roles start together on this machine")
    if not endpoints:
        raise UsageError(
            "--hosts needs a store that they can reach, and a server that storeproof starts answers on this machine alone; "
            "give its address: --endpoint=STORE=URL"
        )
    try:
        return LoadHosts(option.hosts, digests_of_run)
    except NotAvailable as reason:
        raise UsageError(str(reason)) from None


def run_options(option: Namespace, spec: Spec, needs: NeedsRun | None, wanted: Sequence[str]) -> Options:
    """They are the same for all stores under test.

    Args:
        wanted: the stores, as `--store` names them.

    Raises:
        UsageError: one of them is not allowed, or not to be had.
    """
    endpoints = {store: resolve_secrets(url) for store, url in pairs("--endpoint", option.endpoint).items()}
    at_endpoint = endpoints or (wanted if option.launch == "endpoint" else ())
    given = granted(option, needs, at_endpoint)
    disks = named_disks(option, at_endpoint)
    return Options(
        scale=spec.scales[option.scale],
        seed=option.seed if option.seed is not None else seed_of(spec),
        launch=option.launch,
        endpoints=endpoints,
        images=pairs("--image", option.image),
        data_dir=existing_directory("--data-dir", option.data_dir),
        disks=mount_models(disks),
        models=models_among(disks),
        keep=option.keep,
        power_cut=option.power_cut,
        engine=option.engine,
        records=whole_number("--records", option.records, MOST_RECORDS),
        laps=_laps(option.laps, spec.scales[option.scale]),
        anatomy=option.anatomy,
        verify_settings=option.verify_settings,
        split=given.split,
        cores=given.cores,
        memory=given.memory,
        corpus=Corpus([path.resolve() if exists(path) else path for path in map(Path, option.corpus or [])]),
        hosts=load_hosts(option, endpoints),
        given=given_by(option),
    )


def given_by(option: Namespace) -> RunCommand:
    """What of the command line a case is repeated with: without what is about one run alone, and without passwords."""
    given = RunCommand.given(option)
    return replace(given, endpoint=[redact(each) for each in given.endpoint], profile=(), proof=(), report_dir=None)


def seed_of(spec: Spec) -> int:
    """A frozen edition has one; by a draft each run has another, and together they try more."""
    return spec.edition.seed if spec.edition.frozen else random.SystemRandom().randint(1, SEEDS)


def _laps(given: str | None, scale: Scale) -> int:
    """How many laps: each has rounds enough for an interval of its own. Raises UsageError: the scale has too few for that."""
    rounds = scale.performance.rounds
    most = max(rounds.at_most // max(rounds.at_least, RANKS_FROM), 1)
    laps = whole_number("--laps", given, MOST_LAPS) or 1
    if laps > most:
        several = f"allowed: 1 to {most}" if most > 1 else "use --scale=standard"
        per_lap = f"a lap has {RANKS_FROM} rounds or more, and a number at most {rounds.at_most} at {scale.scale} scale"
        raise UsageError(f"--laps={laps}: {per_lap}; {several}")
    return laps
