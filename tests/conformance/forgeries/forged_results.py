"""Forgeries of the result: whose it is, who judged, which cases there are, and what follows from them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from storeproof.conformance.archive import RESULT
from storeproof.conformance.reasons import Reason
from tests.conformance.forging import Forgery, Json, result_in, sealed, with_parts, with_result, with_store
from tests.conformance.true_bundle import TrueBundle

CASE = "capabilities.key_access.put-get/001"
CAPABILITY = "key_access.put-get"
OWN = "own/sqlite.yaml"


def outcome_of(store: Json, case: str) -> Json:
    """The record of a case."""
    return next(each for each in store["outcomes"] if each["id"] == case)


def capability_of(store: Json, name: str) -> Json:
    """The roll-up of a capability."""
    return next(each for each in store["capabilities"] if each["capability"] == name)


def _deep(parts: dict[str, bytes]) -> None:
    parts[RESULT] = b'{\n "format": "2.4",\n "edition": {"version": "1", "hash": "1"}, "stores": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def _key_twice(parts: dict[str, bytes]) -> None:
    parts[RESULT] = parts[RESULT].replace(b'"outcome": "pass"', b'"outcome": "fail", "outcome": "pass"', 1)


def _two_stores(result: Json) -> None:
    result["stores"].append(result["stores"][0] | {"variant": "wal-normal"})


def _cites(store: Json) -> None:
    store["cites"] = {"run": "r", "started": "2026-01-01T00:00:00+00:00", "scale": "full", "seed": 1, "sha256": "0" * 64}


def _makers_build(store: Json) -> None:
    (program,) = store["origin"]["programs"]
    program["makers"] = True


def _of_no_origin(store: Json) -> None:
    store["origin"] = None


def _of_no_program(store: Json) -> None:
    store["origin"]["programs"] = []


def _supported_for_years(store: Json) -> None:
    source = "https://example.org/support"
    store["origin"]["support"].append({"title": "SQLite", "release": "3", "ends": "2050-01-01", "source": source})


def _changed_source(name: str) -> Any:
    def change(store: Json) -> None:
        assert name in store["sources"]
        store["sources"][name] = "0" * 64

    return change


def _own_file(parts: dict[str, bytes]) -> None:
    name = f"sources/{OWN}"
    parts[name] = parts[name].replace(b"power_loss", b"process_crash")


def excused(bundle: TrueBundle, file: Path) -> None:
    """The vendor's own file excuses every failure, and the result has its hash."""
    content = (
        bundle.parts[f"sources/{OWN}"]
        + b"known_failures: {durability.power_loss: {variants: [wal-full], finding: '(x+x+)+y', issue: x, until: 2999-12-31}}\n"
    )
    result = bundle.result
    result["stores"][0]["sources"][OWN] = hashlib.sha256(content).hexdigest()
    file.write_bytes(sealed({**bundle.parts, f"sources/{OWN}": content, RESULT: result_in(result)}))


def empty_lines(bundle: TrueBundle, file: Path) -> None:
    """An adapter of a million empty lines, in which imports are looked for."""
    own = bundle.parts[f"sources/{OWN}"].replace(b"adapter: sqlite", b"adapter: ./sqlite.py")
    changed = {OWN: own, "own/sqlite.py": b"\n" * (1 << 20)}
    result = bundle.result
    result["stores"][0]["sources"] |= {name: hashlib.sha256(content).hexdigest() for name, content in changed.items()}
    parts = {f"sources/{name}": content for name, content in changed.items()}
    file.write_bytes(sealed({**bundle.parts, **parts, RESULT: result_in(result)}))


def _unclaimed(store: Json) -> None:
    capability_of(store, CAPABILITY)["claimed"] = False


def _supported(store: Json) -> None:
    (cache,) = [each for each in store["profiles"] if each["profile"] == "cache"]
    assert set(cache["extended"].values()) == {"not_shown"}
    cache["extended"]["key_access.compare-and-set"] = "supported"


def _remove(store: Json) -> None:
    store["outcomes"].remove(outcome_of(store, CASE))
    store["counts"]["pass"] -= 1


def move(store: Json, case: str, outcome: str) -> None:
    """Give a case another outcome, and count it there."""
    found = outcome_of(store, case)
    store["counts"][found["outcome"]] -= 1
    store["counts"][outcome] += 1
    found["outcome"] = outcome


def _exclude(store: Json) -> None:
    move(store, CASE, "excluded")


def _adapters_error(store: Json) -> None:
    case = next(each["id"] for each in store["outcomes"] if each["id"].startswith("durability.linearizable/"))
    move(store, case, "error")
    outcome_of(store, case)["detail"] = "adapter error: get raised ValueError"


def _not_begun(store: Json) -> None:
    move(store, CASE, "not_run")
    outcome_of(store, CASE).update(detail="the run ended before this case: interrupted", lacked={"what": "begun"})


def _twice(store: Json) -> None:
    store["outcomes"].append(outcome_of(store, CASE))
    store["counts"]["pass"] += 1


def _invent(store: Json) -> None:
    store["outcomes"].append(outcome_of(store, CASE) | {"id": "capabilities.key_access.put-get/900"})
    store["counts"]["pass"] += 1


def _fail(store: Json) -> None:
    move(store, CASE, "fail")


def _fail_and_roll_up(store: Json) -> None:
    """The operation that failed is still called correct."""
    _fail(store)
    capability = capability_of(store, CAPABILITY)
    capability["outcome"] = "fail"
    capability["passed"] -= 1


def _more_passed(store: Json) -> None:
    """A capability of which nothing was tried passes."""
    capability = next(each for each in store["capabilities"] if not each["passed"])
    capability["outcome"], capability["passed"] = "pass", capability["cases"]


def _conforms(store: Json) -> None:
    store["profiles"][0] |= {"verdict": "conforms", "missing": []}


def _screen(part: str, name: str, **changed: str) -> Any:
    """Another verdict of the first screen alone."""

    def change(store: Json) -> None:
        found = store["first_screen"][part][name]
        assert not {field: value for field, value in changed.items() if found[field] == value}
        found.update(changed)

    return change


RESULTS = (
    Forgery("nested without end", "a hundred thousand brackets", with_parts(_deep), Reason.RESULT, "nested too deeply"),
    Forgery("newer format", "format 9.0", with_result(lambda result: result.update(format="9.0")), Reason.RESULT, "is not in format 2.5"),
    Forgery(
        "older format",
        "numbers that are graded while it is read",
        with_result(lambda result: result.update(format="2.0")),
        Reason.RESULT,
        "is not in format 2.5",
    ),
    Forgery("key twice", "two verdicts, one for each reader", with_parts(_key_twice), Reason.RESULT, "is not written as a run writes it"),
    Forgery("more fields", "one that results do not have", with_store(lambda store: store.update(stars=5)), Reason.RESULT, "stars"),
    Forgery(
        "wrong edition",
        "an edition that is not known",
        with_result(lambda result: result["edition"].update(version="2026.10.1", hash="0123456789abcdef")),
        Reason.EDITION,
        "it is of edition 2026.10.1 (0123456789abcdef)",
    ),
    Forgery("two stores", "the better one beside it", with_result(_two_stores), Reason.RUN, "a claim is about one store in one variant"),
    Forgery(
        "the maker's build", "whatever the package is", with_store(_makers_build), Reason.ORIGIN, "does not follow from their packages"
    ),
    Forgery("of no origin", "it is left out", with_store(_of_no_origin), Reason.ORIGIN, "does not say where its programs came from"),
    Forgery("of no program", "as at an endpoint", with_store(_of_no_program), Reason.ORIGIN, "it names no program of a server"),
    Forgery("supported", "for years", with_store(_supported_for_years), Reason.ORIGIN, "does not follow from their packages"),
    Forgery("borrowed proof", "it cites another run", with_store(_cites), Reason.RUN, "taken from another run"),
    Forgery(
        "no such scale", "a scale of its own", with_result(lambda result: result["run"].update(scale="tiny")), Reason.RUN, "no scale 'tiny'"
    ),
    Forgery(
        "no time", "it never started", with_result(lambda result: result["run"].update(started="soon")), Reason.RUN, "which is no time"
    ),
    Forgery(
        "other suites",
        "the suites were changed for the run",
        with_result(lambda result: result["run"]["sources"].update(suites="0" * 64)),
        Reason.SUITES,
        "other files than those of `suites`",
    ),
    Forgery(
        "other machinery",
        "storeproof was changed for the run",
        with_result(lambda result: result["run"]["sources"].update(storeproof="0" * 64)),
        Reason.STOREPROOF,
        "other files than those of `storeproof`",
    ),
    Forgery(
        "adapter changed afterwards",
        "a module of the project's adapter",
        with_store(_changed_source("adapters/sqlite/table.py")),
        Reason.ADAPTER,
        "adapters/sqlite/table.py was changed afterwards",
    ),
    Forgery(
        "adapter with more",
        "a module that the project does not have",
        with_store(lambda store: store["sources"].update({"adapters/sqlite/lies.py": "0" * 64})),
        Reason.ADAPTER,
        "adapters/sqlite/lies.py",
    ),
    Forgery(
        "own file changed",
        "it claims less than in the run",
        with_parts(_own_file),
        Reason.ADAPTER,
        f"sources/{OWN} is not the file that judged",
    ),
    Forgery("adapter of empty lines", "to exhaust the reader", empty_lines, Reason.ADAPTER, "was changed afterwards"),
    Forgery("excuses", "known failures in the vendor's own file", excused, Reason.STORE_FILE, "sqlite.yaml has known_failures"),
    Forgery(
        "own file left out",
        "the bundle does not hold it",
        with_parts(lambda parts: parts.pop(f"sources/{OWN}")),
        Reason.ADAPTER,
        "is not in the bundle",
    ),
    Forgery(
        "another variant's settings",
        "a server that syncs less",
        with_store(lambda store: store["settings"].update(synchronous="OFF")),
        Reason.SETTINGS,
        "states synchronous = ",
    ),
    Forgery(
        "another variant",
        "the name of a stronger one",
        with_store(lambda store: store.update(variant="best")),
        Reason.STORE_FILE,
        "no variant best",
    ),
    Forgery(
        "another title", "a better name", with_store(lambda store: store.update(title="Redis")), Reason.STORE_FILE, "calls the store Redis"
    ),
    Forgery("case removed", "with its count", with_store(_remove), Reason.CASES, f"have no outcome, {CASE} among them"),
    Forgery("case excluded", "with its count", with_store(_exclude), Reason.CASES, f"{CASE} was left out"),
    Forgery("case not begun", "the run was cut short", with_store(_not_begun), Reason.CASES, "the run was cut short"),
    Forgery(
        "error of the adapter",
        "in place of a failure",
        with_store(_adapters_error),
        Reason.CASES,
        "ended in an error, behind which there may be a failure: adapter error: get raised ValueError",
    ),
    Forgery("case twice", "one of them better", with_store(_twice), Reason.CASES, f"{CASE} has 2 outcomes"),
    Forgery("case invented", "one more that passed", with_store(_invent), Reason.CASES, "put-get/900 is no case of the edition"),
    Forgery(
        "older revision",
        "of a case that has become harder",
        with_store(lambda store: outcome_of(store, CASE).update(revision=7)),
        Reason.CASES,
        "was tried in revision 7",
    ),
    Forgery(
        "failure called provisional",
        "a case that decides, so that its failure would not",
        with_store(lambda store: outcome_of(store, CASE).update(standing="provisional")),
        Reason.CASES,
        f"{CASE} decides in the edition, and not so in the result",
    ),
    Forgery(
        "counts",
        "one more passed",
        with_store(lambda store: store["counts"].update({"pass": 900})),
        Reason.COUNTS,
        "900 cases are counted as pass",
    ),
    Forgery("failure behind a roll-up", "a case fails, and its capability passes", with_store(_fail), Reason.ROLL_UP, f"{CAPABILITY} is "),
    Forgery("capability flipped", "all of its cases passed", with_store(_more_passed), Reason.ROLL_UP, " is pass with "),
    Forgery("claim taken back", "a capability is no longer claimed", with_store(_unclaimed), Reason.ROLL_UP, CAPABILITY),
    Forgery(
        "capability left out",
        "one that does not pass",
        with_store(lambda store: store["capabilities"].pop()),
        Reason.ROLL_UP,
        "is not in the result",
    ),
    Forgery(
        "operation flipped",
        "a case fails, and its operations are correct",
        with_store(_fail_and_roll_up),
        Reason.OPERATIONS,
        "on single_key is called pass",
    ),
    Forgery("profile flipped", "from incomplete to conforms", with_store(_conforms), Reason.PROFILE, "is conforms with 0 things missing"),
    Forgery(
        "role on the first screen",
        "the page's script reads it",
        with_store(_screen("roles", "cache", verdict="meets")),
        Reason.PROFILE,
        "its first screen has other verdicts",
    ),
    Forgery(
        "fault on the first screen",
        "of one that was survived",
        with_store(_screen("losses", "process_crash", state="open")),
        Reason.PROFILE,
        "its first screen has other verdicts",
    ),
    Forgery(
        "no first screen",
        "in the newest format",
        with_store(lambda store: store.update(first_screen=None)),
        Reason.PROFILE,
        "its first screen has other verdicts",
    ),
    Forgery(
        "extended part flipped",
        "what was not tried is called supported",
        with_store(_supported),
        Reason.PROFILE,
        "cache is met in other ways than by its cases, or its extended part is another",
    ),
    Forgery(
        "profile left out", "one that it lacks", with_store(lambda store: store["profiles"].pop()), Reason.PROFILE, "the result judges"
    ),
)
