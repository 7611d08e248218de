"""Forged bundles, all made of one true bundle: each is refused for its own reason, by name, and the true one is verified."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from storeproof.conformance.archive import open_archive
from storeproof.conformance.histories.durability import check_durability
from storeproof.conformance.known import KnownJudges
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.verify import verify
from storeproof.outcome import Outcome
from tests.conformance.forgeries.forged_evidence import EVIDENCES
from tests.conformance.forgeries.forged_files import FILES
from tests.conformance.forgeries.forged_histories import HISTORIES
from tests.conformance.forgeries.forged_judges import JUDGES
from tests.conformance.forgeries.forged_numbers import NUMBERS
from tests.conformance.forgeries.forged_results import RESULTS
from tests.conformance.forgeries.forged_with_code import WITH_CODE
from tests.conformance.forging import Forgery
from tests.conformance.true_bundle import ROUNDS, TrueBundle, known

FORGERIES = (*FILES, *RESULTS, *EVIDENCES, *NUMBERS, *JUDGES, *HISTORIES, *WITH_CODE)
MOST_BYTES = 200_000_000
"""Of memory, for what is meant to exhaust it."""
HEAVY = (
    "two gigabytes of zeros",
    "gzip bomb",
    "zip bomb",
    "bomb of evidence",
    "too many operations",
    "nested without end",
    "aliases that explode",
    "bomb of a histogram",
    "many rounds",
    "adapter of empty lines",
    "empty members",
    "padded histories",
)
MOST_SECONDS = 10.0
"""Of processor time, for each of them."""

pytestmark = pytest.mark.slow


def test_the_true_bundle_is_verified(true_bundle: TrueBundle) -> None:
    """Its rounds, operations and numbers were judged again."""
    found = verify(true_bundle.file, known())
    assert found.store.durability.proven == "process_crash"
    assert (found.durability.cases, found.durability.rounds, found.numbers) == (2, 2 * ROUNDS, 2)
    assert found.durability.operations > 1_000


@pytest.mark.parametrize("forgery", [each for each in FORGERIES if each.name not in HEAVY], ids=lambda each: each.name.replace(" ", "-"))
def test_a_forged_bundle_is_refused_by_name(forgery: Forgery, true_bundle: TrueBundle, tmp_path: Path) -> None:
    """For its own reason, in one line."""
    file = tmp_path / "forged.tar"
    forgery.forge(true_bundle, file)
    with pytest.raises(ClaimRefused) as refused:
        verify(file, known())
    assert refused.value.reason is forgery.reason, refused.value
    assert forgery.says in refused.value.text
    assert "\n" not in refused.value.text


def test_a_load_shape_cannot_be_left_out(true_bundle: TrueBundle) -> None:
    """Whose batches are proven was struck while it loaded some; other stores need not be."""
    found = verify(true_bundle.file, known())
    spec = known().spec
    loaded = {name: each.model_copy(update={"load": (*each.load, "bulk")}) for name, each in spec.guarantees.items()}
    wider = KnownJudges(replace(spec, guarantees=loaded), known().installation)
    batches = found.store.model_copy(update={"operations": {"single_key": {"put_many": Outcome.PASS}}})
    with open_archive(true_bundle.file) as archive:
        target = known().target("sqlite", "wal-full")
        check_durability(found.result.run, found.store, target, archive, wider, wider.installation)
        with pytest.raises(ClaimRefused, match="was struck 0 times under the load `bulk`"):
            check_durability(found.result.run, batches, target, archive, wider, wider.installation)


def test_every_forgery_has_a_name_and_every_reason_a_forgery() -> None:
    """No reason is there that nothing is refused for."""
    assert len(FORGERIES) >= 40
    assert [name for name, number in Counter(each.name for each in FORGERIES).items() if number > 1] == []
    assert {each.reason for each in FORGERIES} == {*Reason} - {Reason.STATES, Reason.ERRORS, Reason.ISOLATION}  # in folders of their own


def test_what_is_meant_to_exhaust_a_reader_does_not(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """The bombs, each refused for its own reason, and the true bundle, verified by one process in little memory."""
    heavy = [each for each in FORGERIES if each.name in HEAVY]
    files = [tmp_path / f"{number}.tar" for number in range(len(HEAVY))]
    for forgery, file in zip(heavy, files, strict=True):
        forgery.forge(true_bundle, file)
    code = (
        "import json, sys; from pathlib import Path; from time import process_time\n"
        "from storeproof.conformance.reasons import ClaimRefused\n"
        "from storeproof.conformance.verify import verify; from tests.conformance.true_bundle import known\n"
        "said = []; took = []\n"
        "for file in sys.argv[1:]:\n"
        "    began = process_time()\n"
        "    try: verify(Path(file), known()); said.append(['verified', ''])\n"
        "    except ClaimRefused as refused: said.append([refused.reason, refused.text])\n"
        "    took.append(process_time() - began)\n"
        "peak = next(line for line in Path('/proc/self/status').read_text().splitlines() if line.startswith('VmHWM:'))\n"
        "print(json.dumps([said, int(peak.split()[1]) * 1024, max(took)]))"  # the ru_maxrss of a process may be that of its parent
    )
    command = [sys.executable, "-c", code, *map(str, files), str(true_bundle.file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    said, most, longest = json.loads(done.stdout)
    assert said.pop() == ["verified", ""]
    assert [(each.name, reason, each.says in text) for each, (reason, text) in zip(heavy, said, strict=True)] == [
        (each.name, each.reason, True) for each in heavy
    ]
    assert most <= MOST_BYTES
    assert longest <= MOST_SECONDS
