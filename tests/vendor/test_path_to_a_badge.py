"""The path of a vendor, from two files to a badge: the commands are those of docs/CONFORMANCE.md, in an empty directory.

The product is `cairn/`, a small server with a log, and its client. The edition has the name of a frozen one, and a few of its cases.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import storeproof
from storeproof.spec import load_spec
from storeproof.spec.editions.freeze import freeze
from tests.architecture.installed import CHECKOUT
from tests.mini_edition.edition import cut_load, write_edition
from tests.mini_edition.inner_run import told
from tests.spec.files import replaced, with_changes

PAGE = (CHECKOUT / "docs" / "CONFORMANCE.md").read_text()
PRODUCT = Path(__file__).with_name("cairn")
SECTION = PAGE.partition("## From two files to a badge\n")[2].partition("\n## ")[0]
NEW_STORE, WHOLE, BUNDLE, VERIFY = re.findall(r"^   ```\n   (.+)\n   ```$", SECTION, flags=re.MULTILINE)
EDITION = "2026.12"
GUARANTEES = ("clean_restart", "process_crash", "power_loss")
CLAIMED = ("put-get", "empty-value", "delete", "exists")
"""By the file that `new-store` writes."""
CASES = tuple(f"key_access.{name}/001" for name in (*CLAIMED, "count"))
SUITE_CASES = frozenset({"settings.readback", *(f"durability.{name}" for name in GUARANTEES)})
_COMMAND = "import sys, tests.mini_edition.spec_root; from storeproof.cli import main; sys.argv[0] = 'storeproof'; main()"

FILLED_IN = (
    "return None",  # prepare: a collection needs none
    "self._client.drop(self._name)",
    "return self._client.get(self._name, key)",
    "self._client.put(self._name, key, record)",
    "return self._client.delete(self._name, key)",
    'return Version(self._client.info()["server"], self._client.info()["version"])',
    "return cairn_client.Client(host, port)",
)
"""What stands where the generated adapter raises NotImplementedError, one after the other."""
ADAPTER = (
    ("import contextlib\n", "import contextlib\n\nimport cairn_client\n"),
    ("except PermissionError as", "except cairn_client.RequestRefused as"),
    ("return {}  #", 'return {"sync": self._client.info()["sync"]}  #'),
    ('"""Close the client\'s connection. It never raises."""', "self._client.close()"),
)
LAUNCHERS = re.compile(r"^  container:\n.*?(?=^variants:)", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Vendor:
    """A user with an installation of storeproof and an empty directory."""

    folder: Path
    edition: Path

    def do(self, command: str) -> subprocess.CompletedProcess[str]:
        """A command as the page has it, in the edition of the test."""
        program, *words = shlex.split(command)
        plugins, environment = told(self.edition, pages=False, path=str(PRODUCT))
        start = {
            "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugins],
            "storeproof": [sys.executable, "-c", _COMMAND],
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "PYTHONDONTWRITE"))}
        path = f"{self.folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [*start[program], *words],
            cwd=self.folder,
            env={**inherited, **environment, "PATH": path, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            timeout=900,  # far more than any takes, on a busy machine too
            check=False,
        )

    def fill_in(self) -> None:
        """What a vendor does to the two files that were written."""
        adapter, store = self.folder / "cairn_store.py", self.folder / "cairn.yaml"
        text = with_changes(adapter.read_text(), ADAPTER)
        pieces = text.split("raise NotImplementedError")
        adapter.write_text("".join(piece + filled for piece, filled in zip(pieces, (*FILLED_IN, ""), strict=True)))
        changes = (("settings: {} ", "settings: {sync: always} "), ("guarantee: process_crash ", "guarantee: power_loss "))
        store.write_text(LAUNCHERS.sub("", with_changes(store.read_text(), changes)))

    @property
    def outcomes(self) -> dict[str, str]:
        """Of the last run."""
        (store,) = json.loads((self.folder / "reports" / "latest" / "result.json").read_text())["stores"]
        return {each["id"]: each["outcome"] for each in store["outcomes"]}


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few cases, frozen under the name that the page has."""
    root = write_edition(tmp_path_factory.mktemp("edition"), CASES, workloads=())
    cut_load(root, ("stream",))
    draft = load_spec(root)
    freeze(dataclasses.replace(draft, suite_cases=SUITE_CASES), EDITION, storeproof.__version__)
    return root


@pytest.fixture(scope="module")
def vendor(edition: Path, tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    """With the product on PATH, and both files filled in."""
    folder = tmp_path_factory.mktemp("vendor")
    (folder / "bin").mkdir()
    shutil.copy(PRODUCT / "cairn_server.py", folder / "bin" / "cairn-server")
    (folder / "work").mkdir()
    made = Vendor(folder / "work", edition)
    written = made.do(NEW_STORE)
    assert written.returncode == 0, written.stderr
    assert {path.name for path in made.folder.iterdir()} == {"cairn.yaml", "cairn_store.py"}
    made.fill_in()
    return made


def bundled(vendor: Vendor) -> str:
    """Make the bundle, with the `product.yaml` that the command suggests where there is none. Returns what the command says."""
    product = vendor.folder / "product.yaml"
    if not product.exists():
        without = vendor.do(BUNDLE)
        first, _, suggested = without.stderr.partition("\n")
        assert (without.returncode, first.partition(";")[0]) == (4, "storeproof: product.yaml does not exist")
        product.write_text(suggested.replace("Example Ltd.", "Cairn Works"))
    done = vendor.do(BUNDLE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_files_become_a_badge(vendor: Vendor) -> None:
    """Each command of the page, and what it says; `verify` tells what is claimed and what of that is proven, and the badge has it."""
    whole = vendor.do(WHOLE)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert vendor.outcomes["settings.readback"] == "pass"
    cut = vendor.outcomes["durability.power_loss"] != "not_run"  # not everybody may cut the power of a disk
    proven, survives = ("power_loss", "survives a power cut") if cut else ("process_crash", "survives kill -9, claims power_loss")
    named = f"Cairn 1.4.2, edition {EDITION}: claims power_loss, {proven} is proven; conforms to no profile"
    assert f"verified: {named} (self-reported)\n" in bundled(vendor)

    verified = vendor.do(VERIFY)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    first, *others = verified.stdout.splitlines()
    assert first == f"verified: {named} (recomputed)"
    assert others[0] == "by Cairn Works, self-managed, conformance@example.org, https://example.org/store"
    assert f"capabilities: {len(CLAIMED)} of {len(CLAIMED) + 1} claimed, {len(CLAIMED)} of these proven" in others
    assert "asked through files of the vendor, which are in the bundle to be read: cairn.yaml, cairn_store.py" in others
    badge = (vendor.folder / "cairn.svg").read_text()
    how = "smoke scale · by the maker's own adapter · recomputed, not repeated"
    assert f"Cairn 1.4.2 · {survives} · 0 of 0 profiles · {EDITION} · {how}</text>" in badge


def test_a_claim_that_the_power_cut_refutes_is_not_on_the_badge(vendor: Vendor) -> None:
    """The same product without syncs: the run fails, and the verification of its bundle says what was lost."""
    store = vendor.folder / "cairn.yaml"
    store.write_text(replaced(store.read_text(), "sync: always", "sync: never"))
    whole = vendor.do(WHOLE)
    if vendor.outcomes["durability.power_loss"] == "not_run":
        pytest.skip("the power of a disk cannot be cut here")
    assert whole.returncode == pytest.ExitCode.TESTS_FAILED, whole.stdout + whole.stderr
    bundled(vendor)
    verified = vendor.do(VERIFY).stdout
    assert f"verified: Cairn 1.4.2, edition {EDITION}: claims power_loss, process_crash is proven; " in verified
    assert re.search(r"^fail: durability\.power_loss: .* lost", verified, flags=re.MULTILINE), verified
    badge = (vendor.folder / "cairn.svg").read_text()
    assert f"<title>storeproof: Cairn 1.4.2 · survives kill -9, claims power_loss · 0 of 0 profiles · {EDITION} · " in badge
    assert "#9a6700" in badge, "orange"
