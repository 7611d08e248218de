"""What a run cites must be whole, of the same edition, and of the very store that runs."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from storeproof.errors import UsageError
from storeproof.outcome import Lack, Outcome, Stage
from storeproof.result.json_file import COMPRESSED, NAME, UNFINISHED, compressed, write_result
from storeproof.result.measured.case_records import Lacked
from storeproof.result.model import Citation, EditionUsed, OutcomeRecord, Result
from storeproof.result.proof import CitedResult, Identity, Proof, proofs_of, read_cited
from tests.report.sample import TARGETS, sample_result

EDITION = EditionUsed(version="2026.11", hash="0123456789abcdef")
REDIS = "redis:aof-always"
DIGEST = "sha256:" + "ab" * 32
SETTINGS = {"appendonly": "yes", "appendfsync": "always"}


def result(**changed: Any) -> Result:
    """Two stores, of which `redis:aof-always` has shown something; `changed` replaces fields of that store."""
    found = sample_result([target for target in TARGETS if target[0] == "redis"])
    shown = {"operations": {"single_key": {"get": Outcome.PASS, "put": Outcome.FAIL}}, "binary_digest": DIGEST}
    stores = [store.model_copy(update=shown | changed) if store.variant == "aof-always" else store for store in found.stores]
    return found.model_copy(update={"stores": stores})


def cited(**changed: Any) -> CitedResult:
    return CitedResult(Path("proven"), result(**changed), "0" * 64)


def proof(**changed: Any) -> Proof:
    found = cited(**changed).proof_of(REDIS)
    assert found is not None
    return found


def live() -> Identity:
    """The store that `proof` is of."""
    store = proof().store
    return Identity(store.version, store.settings, store.image_digest, store.binary_digest)


def test_a_citation_says_which_file_was_read(tmp_path: Path) -> None:
    """Given as a file or as its directory: run, time, scale, seed, and the digest of the file, also once it is published compressed."""
    write_result(result(), tmp_path / NAME)
    content = (tmp_path / NAME).read_bytes()
    (tmp_path / COMPRESSED).write_bytes(compressed(content))
    digest = hashlib.sha256(content).hexdigest()
    for given in (tmp_path, tmp_path / NAME, tmp_path / COMPRESSED):
        found = read_cited(given, EDITION).proof_of(REDIS)
        assert found is not None
        assert found.citation == Citation(run="sample-0001", started="2026-11-21T10:00:00Z", scale="standard", seed=7, sha256=digest)
    assert (found.outcome("single_key", "get"), found.outcome("single_key", "scan")) == (Outcome.PASS, None)
    assert found.proven == found.store.durability.proven


def test_what_one_disk_has_shown_proves_nothing_of_another() -> None:
    """A disk may not keep what it says that it has; what was shown without a name of a disk is of the store on any."""
    assert proof().store.disk is None
    found = cited().proof_of(f"{REDIS}@nvme")
    assert found is not None
    on_nvme = cited(disk="nvme")
    assert on_nvme.proof_of(f"{REDIS}@nvme") is not None
    assert on_nvme.proof_of(f"{REDIS}@sas") is None
    assert on_nvme.proof_of(REDIS) is None


@pytest.mark.parametrize(
    ("there", "given", "message"),
    [
        ([], "", f"{NAME} does not exist"),
        ([UNFINISHED], "", f"is of a run that did not end: it has {UNFINISHED}"),
        ([NAME, UNFINISHED], UNFINISHED, f"is of a run that did not end: it has {UNFINISHED}"),
    ],
)
def test_what_is_not_there_or_not_whole_is_refused(tmp_path: Path, there: list[str], given: str, message: str) -> None:
    """A run that goes on, or was killed, leaves another file: that is no proof, also by its own name."""
    for name in there:
        write_result(result(), tmp_path / name)
    with pytest.raises(UsageError, match=f"^--proof .*{message}"):
        read_cited(tmp_path / given, EDITION)


def test_an_edited_result_that_has_lost_its_form_is_refused(tmp_path: Path) -> None:
    """The format is strict: another word is no outcome."""
    write_result(result(), tmp_path / NAME)
    text = (tmp_path / NAME).read_text()
    (tmp_path / NAME).write_text(text.replace('"get": "pass"', '"get": "passed"'))
    with pytest.raises(UsageError, match=r"(?s)^--proof .* is not a result in format .*operations"):
        read_cited(tmp_path, EDITION)


@pytest.mark.parametrize("other", [{"version": "2026.10"}, {"hash": "fedcba9876543210"}])
def test_another_edition_is_refused(tmp_path: Path, other: dict[str, str]) -> None:
    """What was demanded there is not what is demanded here."""
    write_result(result(), tmp_path / NAME)
    with pytest.raises(UsageError, match=r"is of edition 2026.11 \(0123456789abcdef\), and this run of 20.*; prove it with this edition"):
        read_cited(tmp_path, EDITION.model_copy(update=other))


def test_the_same_store_is_cited() -> None:
    """Nothing differs, and nothing is said."""
    proof().check(live())


@pytest.mark.parametrize(
    ("here", "message"),
    [
        ({"version": "Redis 8.0.0"}, "version is Redis 7.0.15 there and Redis 8.0.0 here"),
        ({"version": None}, "version is Redis 7.0.15 there and None here"),
        ({"settings": SETTINGS | {"appendfsync": "everysec"}}, "setting appendfsync is 'always' there and 'everysec' here"),
        ({"settings": {"appendonly": "yes"}}, "setting appendfsync is 'always' there and None here"),
        ({"settings": SETTINGS | {"save": ""}}, "setting save is None there and '' here"),
        (
            {"binary_digest": "sha256:" + "cd" * 32},
            "the program is a binary, sha256:abababababab there and a binary, sha256:cdcdcdcdcdcd here",
        ),
        (
            {"binary_digest": f"{DIGEST} and sha256:{'cd' * 32}"},
            "the program is a binary, sha256:abababababab there and binaries, sha256:abababababab and sha256:cdcdcdcdcdcd here",
        ),
        (
            {"binary_digest": None, "image_digest": DIGEST},
            "the program is a binary, sha256:abababababab there and an image, sha256:abababababab here",
        ),
    ],
)
def test_another_store_is_refused_with_what_differs(here: dict[str, Any], message: str) -> None:
    """One line, which ends with what to do."""
    with pytest.raises(UsageError) as refused:
        proof().check(replace(live(), **here))
    text = str(refused.value)
    assert text.startswith(f"--proof proven is not of this {REDIS}: {message}")
    assert text.endswith("; prove this one at the same scale, or leave out --proof")
    assert "\n" not in text


def test_at_an_endpoint_a_run_has_to_prove_itself() -> None:
    """Nothing that was proven elsewhere can be cited there, at whatever scale."""
    with pytest.raises(UsageError) as refused:
        proof().check(replace(live(), binary_digest=None))
    text = str(refused.value)
    assert text.startswith(f"--proof proven is not of this {REDIS}: the server here has no digest, as always at an endpoint")
    assert text.endswith("; leave out --proof, and have this run try correctness and durability too")
    assert "\n" not in text


def test_a_result_without_digests_is_not_cited() -> None:
    """Those of older formats have none, so that nothing tells which program it was."""
    with pytest.raises(UsageError, match="the program is without a digest there and a binary, sha256:abababababab here"):
        proof(binary_digest=None).check(live())


def test_all_that_differs_is_said_at_once() -> None:
    """So that all can be put right at once."""
    with pytest.raises(UsageError, match=r"version is .*; setting appendfsync is .*; the program is "):
        proof().check(Identity("Redis 8.0.0", {"appendonly": "yes"}, None, "sha256:" + "cd" * 32))


def test_a_result_that_was_cut_short_is_refused() -> None:
    """Cases of correctness and durability that were not begun; of speed it may lack some."""
    outcomes = proof().store.outcomes

    def missed(stage: Stage) -> list[OutcomeRecord]:
        idle = {"id": "x", "revision": 1, "outcome": Outcome.NOT_RUN, "detail": "", "seconds": 0.0, "lacked": Lacked(what=Lack.BEGUN)}
        return [*outcomes, OutcomeRecord(stage=stage, **idle)]

    assert cited(outcomes=missed(Stage.PERFORMANCE)).proof_of(REDIS) is not None
    for stage in (Stage.CORRECTNESS, Stage.DURABILITY):
        with pytest.raises(UsageError, match=f"was cut short: 1 cases of correctness and durability of {REDIS} were not begun"):
            cited(outcomes=missed(stage)).proof_of(REDIS)


def test_a_citation_of_a_citation_is_refused() -> None:
    """Who proved it is cited, so that one step leads to the proof."""
    cites = proof().citation.model_copy(update={"run": "the-first"})
    with pytest.raises(UsageError, match=f"{REDIS} is not proven there but cited from run the-first; give the result of that run"):
        cited(cites=cites).proof_of(REDIS)


@pytest.mark.parametrize("proven", [None, "volatile"])
def test_a_result_that_shows_nothing_is_refused(proven: str | None) -> None:
    """Neither a right operation nor a guarantee: to cite it would be to say nothing."""
    durability = proof().store.durability.model_copy(update={"proven": proven})
    nothing: dict[str, Any] = {"durability": durability, "operations": {"single_key": {"get": Outcome.FAIL}}}
    with pytest.raises(UsageError, match=f"proves nothing of {REDIS}"):
        cited(**nothing).proof_of(REDIS)
    assert cited(**nothing | {"operations": {"single_key": {"get": Outcome.PASS}}}).proof_of(REDIS) is not None


def test_each_target_has_the_proof_of_its_own_name() -> None:
    """Of the stores in a file those count that the run tries; one without a proof is left without."""
    found = proofs_of([cited()], [REDIS, "sqlite:wal-full"])
    assert {target: each.store.variant for target, each in found.items()} == {REDIS: "aof-always"}


def test_a_proof_of_none_of_the_stores_is_refused() -> None:
    """Another variant is another store: both are named."""
    with pytest.raises(
        UsageError, match=r"--proof proven holds .*redis:aof-always.*, and this run tries redis:rdb; give a result of the same"
    ):
        proofs_of([cited()], ["redis:rdb"])


def test_two_proofs_of_one_store_are_refused() -> None:
    """Which of them counts would be a guess."""
    with pytest.raises(UsageError, match=f"--proof proven and --proof another both hold {REDIS}; give one of them"):
        proofs_of([cited(), replace(cited(), file=Path("another"))], [REDIS])
