"""Forgeries of who judged, by which edition, and without which cases: the openings for claims that outlive a release."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from storeproof.conformance.archive import RESULT
from storeproof.conformance.reasons import Reason
from storeproof.result.sources import MACHINERY, SUITES
from storeproof.spec.reading.inheritance import STORES
from tests.conformance.forgeries.forged_results import CAPABILITY, CASE, OWN, capability_of, move, outcome_of
from tests.conformance.forging import Forge, Forgery, Json, result_in, sealed, with_parts, with_result, with_store
from tests.conformance.true_bundle import EDITION, WITHDRAWN, TrueBundle, known


def as_another(result: Json, **changed: str) -> None:
    """The result as the other judge's, whose files of the project are the same ones."""
    (other,) = known().judges
    result["run"]["sources"] |= {MACHINERY: other.machinery, SUITES: other.suites} | changed


def _of_another(change: str, digest: str | None) -> Forge:
    """Judged by the other judge, with another file of the project, or without it."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        result = bundle.result
        as_another(result)
        sources = result["stores"][0]["sources"]
        for name in [name for name in sources if name.startswith(change)]:
            del sources[name]
            if digest is not None:
                sources[name] = digest
        file.write_bytes(sealed({**bundle.parts, RESULT: result_in(result)}))

    return forge


def _fail_as_withdrawn(store: Json, case: str) -> None:
    move(store, case, "fail")
    outcome_of(store, case)["standing"] = "withdrawn"
    capability_of(store, CAPABILITY).update(cases=3, passed=3)


def own_adapter(named: str, *shown: str, built_on: bool = True) -> Forge:
    """By a known judge, through an adapter of the maker's own: the file names `named`, and the bundle has those that are `shown`, all built
    on the project's for SQLite. `built_on`: whether that judged too."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        (other,) = known().judges
        own = bundle.parts[f"sources/{OWN}"].replace(b"adapter: sqlite", f"adapter: {named}".encode())
        files = {OWN: own, **{f"own/{name}": b"from storeproof.adapters.sqlite import connect\n" for name in shown}}
        result = bundle.result
        result["run"]["sources"] |= {MACHINERY: other.machinery, SUITES: other.suites}
        sources = {name: digest for name, digest in result["stores"][0]["sources"].items() if name.startswith("adapters/")}
        own_ones = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        result["stores"][0]["sources"] = {**own_ones, **(sources if built_on else {})}
        parts = {f"sources/{name}": content for name, content in files.items()}
        file.write_bytes(sealed({**bundle.parts, **parts, RESULT: result_in(result)}))

    return forge


def extending(named: str, *, here: bool = False, shown: Mapping[str, bytes] = MappingProxyType({})) -> Forge:
    """The maker's own file extends `named`, and the bundle has the files that are `shown`; by the other judge, or by this installation."""

    def forge(bundle: TrueBundle, file: Path) -> None:
        files = {OWN: bundle.parts[f"sources/{OWN}"] + f"extends: {named}\n".encode(), **shown}
        result = bundle.result
        if not here:
            as_another(result)
        result["stores"][0]["sources"] |= {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        parts = {f"sources/{name}": content for name, content in files.items()}
        file.write_bytes(sealed({**bundle.parts, **parts, RESULT: result_in(result)}))

    return forge


JUDGES = (
    Forgery(
        "extended file not shown",
        "of the project, by a known judge",
        extending("redis"),
        Reason.STORE_FILE,
        "extends: found 'redis', which is not in the bundle",
    ),
    Forgery(
        "extended file of this installation",
        "which the known judge did not have",
        extending(str(STORES / "sqlite.yaml")),
        Reason.STORE_FILE,
        "which sqlite.yaml extends, did not judge",
    ),
    Forgery(
        "extended file that judged nothing",
        "by this installation",
        extending(str(STORES / "sqlite.yaml"), here=True),
        Reason.STORE_FILE,
        "spec/stores/sqlite.yaml did not judge",
    ),
    Forgery(
        "extended file of another release",
        "under the name of one of the project",
        extending("base", shown={"spec/stores/base.yaml": b'format: "2.0"\n'}),
        Reason.STORE_FILE,
        "spec/stores/base.yaml was changed afterwards: it is not the one of the judge another",
    ),
    Forgery(
        "extended by nothing",
        "a second file of the maker's own, by a known judge",
        extending("./base.yaml", shown={"own/base.yaml": b'format: "2.0"\n', "own/other.yaml": b'format: "2.0"\n'}),
        Reason.STORE_FILE,
        "own/other.yaml is in the bundle, and no store's file extends it",
    ),
    Forgery(
        "unknown judge",
        "suites and machinery of no release",
        with_result(lambda result: result["run"]["sources"].update({MACHINERY: "3" * 64, SUITES: "3" * 64})),
        Reason.STOREPROOF,
        "with the digest 333333333333",
    ),
    Forgery(
        "suites of another judge",
        "the machinery of one, the suites of the other",
        with_result(lambda result: as_another(result, **{SUITES: "3" * 64})),
        Reason.SUITES,
        "other files than those of `suites` of another",
    ),
    Forgery(
        "machinery of another judge",
        "with the suites of this installation",
        with_result(lambda result: as_another(result, **{SUITES: result["run"]["sources"][SUITES]})),
        Reason.SUITES,
        "other files than those of `suites` of another",
    ),
    Forgery(
        "version of another release",
        "with the files of this one",
        with_result(lambda result: result["run"].update(storeproof="9.9")),
        Reason.STOREPROOF,
        "it names storeproof 9.9",
    ),
    Forgery(
        "adapter that the judge did not have",
        "under the name of a known judge",
        _of_another("adapters/sqlite/table.py", "0" * 64),
        Reason.ADAPTER,
        "adapters/sqlite was changed afterwards: it is not the one of the judge another",
    ),
    Forgery(
        "no adapter",
        "a known judge that asked through nothing",
        _of_another("adapters/", None),
        Reason.ADAPTER,
        "adapters/sqlite of the judge another did not judge",
    ),
    Forgery(
        "store file beside the own one",
        "a second file of the project, which judged nothing",
        with_parts(lambda parts: parts.update({"sources/spec/stores/sqlite.yaml": b"x"})),
        Reason.STORE_FILE,
        "is in the bundle, and judged nothing",
    ),
    Forgery(
        "edition that was edited",
        "the name of a frozen edition, with other demands",
        with_result(lambda result: result["edition"].update(hash="0123456789abcdef")),
        Reason.EDITION,
        f"its edition {EDITION} was edited: it has the hash 0123456789abcdef",
    ),
    Forgery(
        "failure called withdrawn",
        "a case that no dispute has withdrawn",
        with_store(lambda store: _fail_as_withdrawn(store, CASE)),
        Reason.CASES,
        f"{CASE} is withdrawn in the result, and no dispute has withdrawn it",
    ),
    Forgery(
        "withdrawn case behind a roll-up",
        "it fails, was withdrawn after the run, and the run passes all the same",
        with_store(lambda store: move(store, WITHDRAWN, "fail")),
        Reason.ROLL_UP,
        f"{CAPABILITY} is pass with 4 of 4",
    ),
    Forgery(
        "withdrawn case left out",
        "it need not decide, and must be tried",
        with_store(lambda store: move(store, WITHDRAWN, "excluded")),
        Reason.CASES,
        f"{WITHDRAWN} was left out",
    ),
    Forgery(
        "adapter not shown",
        "the bundle has another one, which is honest, and a known judge",
        own_adapter("./lies.py", "honest.py"),
        Reason.ADAPTER,
        "./lies.py, which sqlite.yaml names as its adapter, is not in the bundle",
    ),
    Forgery(
        "adapter beside the one shown",
        "two of the maker's own, and a known judge",
        own_adapter("./lies.py", "lies.py", "honest.py"),
        Reason.ADAPTER,
        "own/honest.py is in the bundle, and no store's file names it",
    ),
    Forgery(
        "adapter built on nothing",
        "of the maker's own, upon one that did not judge, and a known judge",
        own_adapter("./lies.py", "lies.py", built_on=False),
        Reason.ADAPTER,
        "adapters/sqlite of the judge another did not judge",
    ),
)
