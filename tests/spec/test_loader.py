"""Files of the specification agree with each other, and every name that does not exist is said with its place."""

# ruff: noqa: E501 - a message is one line

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from storeproof.errors import SpecError, UsageError
from storeproof.spec import LADDER, NODES, SPEC_ROOT, load_spec
from tests.shipped import SHIPPED
from tests.spec.files import CAPABILITIES, MODEL, PROFILE, STORE, WORKLOADS, replaced, specification


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return specification(tmp_path)


def demands_of(root: Path) -> list[str]:
    with pytest.raises(SpecError) as breach:
        load_spec(root)
    return [line.replace(f"{root}/", "") for line in breach.value.problems]


def store_of(root: Path, name: str = "mine") -> list[str]:
    with pytest.raises(SpecError) as breach:
        load_spec(root).store(name)
    return [line.replace(f"{root}/", "") for line in breach.value.problems]


def test_the_small_specification_is_valid(root: Path) -> None:
    """The base of the tests in this file has no error."""
    spec = load_spec(root)
    assert [target.id for target in spec.targets(["mine:all"])] == ["mine:plain", "mine:other"]
    assert list(spec.capabilities) == ["access.put-get"]


@pytest.mark.parametrize(
    ("file", "text", "old", "new", "line"),
    [
        ("capabilities/access", CAPABILITIES, "model: single_key", "model: single_kee", "capabilities/access.yaml:7: capabilities.0.model: unknown model `single_kee` (did you mean `single_key`?); allowed: nested, single_key"),
        ("workloads/seeds", WORKLOADS, "model: single_key", "model: rows", "workloads/seeds.yaml:7: workloads.0.model: unknown model `rows`; allowed: nested, single_key"),
        ("profiles/cache", PROFILE, "models: [single_key]", "models: [nested, singel_key]", "profiles/cache.yaml:4: models.1: unknown model `singel_key` (did you mean `single_key`?); allowed: nested, single_key"),
        ("profiles/cache", PROFILE, "access.put-get", "access.put", "profiles/cache.yaml:5: capabilities.0: unknown capability `access.put` (did you mean `access.put-get`?); allowed: access.put-get"),
        ("profiles/cache", PROFILE, "[access.put-get]", "[{any_of: [access.put-get, access.get]}]", "profiles/cache.yaml:5: capabilities.0.any_of.1: unknown capability `access.get` (did you mean `access.put-get`?); allowed: access.put-get"),
        ("profiles/cache", PROFILE, "guarantee:", "extended: [access.put]\nguarantee:", "profiles/cache.yaml:6: extended.0: unknown capability `access.put` (did you mean `access.put-get`?); allowed: access.put-get"),
        ("profiles/cache", PROFILE, "guarantee:", "extended: [access.put-get]\nguarantee:", "profiles/cache.yaml:6: extended.0: found access.put-get, which is in `capabilities`; allowed: in one of both"),
    ],
    ids=["capability-model", "workload-model", "profile-model", "profile-capability", "alternative", "extended", "twice"],
)  # fmt: skip
def test_a_reference_to_an_unknown_name_is_refused(root: Path, file: str, text: str, old: str, new: str, line: str) -> None:
    """With file, line, field and the allowed names."""
    (root / f"{file}.yaml").write_text(replaced(text, old, new))
    assert demands_of(root) == [line]


def test_a_profile_demands_nothing_that_no_case_decides(root: Path) -> None:
    """A capability that is new in this edition is demanded in the next one."""
    cases = CAPABILITIES.replace("        title: ", "        provisional: true\n        title: ")
    (root / "capabilities" / "access.yaml").write_text(cases)
    assert demands_of(root) == [
        "profiles/cache.yaml:5: capabilities.0: all cases of access.put-get are provisional; allowed: a capability with a case that decides"
    ]


def test_a_name_defined_twice_is_refused(root: Path) -> None:
    """The message has both files."""
    (root / "models" / "twin.yaml").write_text(MODEL)
    assert demands_of(root) == [
        "models/twin.yaml:2: model: the model `single_key` is already defined in models/single_key.yaml:2; names are unique"
    ]


def test_a_capability_defined_twice_is_refused(root: Path) -> None:
    """The message has both lines."""
    (root / "capabilities" / "other.yaml").write_text(CAPABILITIES)
    assert demands_of(root) == [
        "capabilities/other.yaml:5: capabilities.0.capability: the capability `access.put-get` is already defined in capabilities/access.yaml:5; names are unique"
    ]


def test_errors_of_several_files_are_reported_together(root: Path) -> None:
    """References to names in a file with errors are not errors of their own."""
    (root / "models" / "single_key.yaml").write_text("")
    (root / "workloads" / "seeds.yaml").write_text(replaced(WORKLOADS, "keys: new", "keys: ne"))
    lines = demands_of(root)
    assert [line.split(":")[0] for line in lines] == ["models/single_key.yaml", "workloads/seeds.yaml"]


_OTHER = """\
  - workload: load
    kind: batch-write
    title: Load
    model: single_key
    mix: [{operation: put, keys: new, batch: 10}]
    preload: false
    clients: one
"""
SCALE = (SPEC_ROOT / "scales" / "smoke.yaml").read_text()
LISTED = SCALE[SCALE.index("  workloads:\n") : SCALE.index("  records:")]


@pytest.mark.parametrize(
    ("workloads", "message"),
    [
        ("all", None),
        ("[put]", None),
        ("[putt]", "scales/smoke.yaml:16: performance.workloads.0: unknown workload `putt` (did you mean `put`?); allowed: load, put"),
        ("[put, put]", "scales/smoke.yaml:16: performance.workloads: found `put` and `put`; allowed: one workload of the kind value-write"),
        ("[load]", "scales/smoke.yaml:16: performance.workloads: no workload of the kind value-write; add one, such as `put`"),
    ],
)
def test_a_scale_measures_all_workloads_or_one_of_each_kind(root: Path, workloads: str, message: str | None) -> None:
    """What a scale names is there, and no kind is left out or measured twice."""
    (root / "scales").mkdir()
    (root / "scales" / "smoke.yaml").write_text(replaced(SCALE, LISTED, f"  workloads: {workloads}\n"))
    other = WORKLOADS if "load" not in workloads and "putt" not in workloads else f"{WORKLOADS}{_OTHER}"
    (root / "workloads" / "seeds.yaml").write_text(other)
    if message is None:
        assert load_spec(root).scales["smoke"].performance.measures("put", first=True)
    else:
        assert message in demands_of(root)


def test_the_first_of_a_workload_is_measured_at_a_scale_that_names_it() -> None:
    """Smoke leaves the series of a named workload to the other scales, which measure everything."""
    scales = SHIPPED.scales
    smoke, standard = scales["smoke"].performance, scales["standard"].performance
    assert smoke.measures("hash10-put", first=True)
    assert not smoke.measures("hash10-put", first=False)
    assert not smoke.measures("single-get-sizes", first=True)
    assert standard.measures("single-get-sizes", first=False)


def test_a_yml_file_is_refused(root: Path) -> None:
    """Files must end in `.yaml`; another ending is not skipped silently."""
    (root / "models" / "extra.yml").write_text(MODEL)
    assert demands_of(root) == ["models/extra.yml: is not read: rename it to extra.yaml"]


@pytest.mark.parametrize(
    ("stated", "variant", "claimed"),
    [
        ("{}", "{}", False),  # what is not named is not claimed
        ("{access: true}", "{}", True),
        ("{access: true, access.put-get: false}", "{}", False),
        ("{access: false, access.put-get: true}", "{}", True),
        ("{access.put-get: true}", "{access: false}", False),  # the variant before the store
        ("{access: false}", "{access.put-get: true}", True),
    ],
)
def test_the_more_specific_claim_wins(root: Path, stated: str, variant: str, claimed: bool) -> None:
    """A capability over its group, and a variant over its store."""
    text = replaced(STORE, "    access.put-get: true\n", f"    {stated}\n")
    (root / "stores" / "mine.yaml").write_text(replaced(text, "guarantee: volatile", f"guarantee: volatile\n    capabilities: {variant}"))
    target = next(each for each in load_spec(root).targets(["mine:all"]) if each.configuration.guarantee == "volatile")
    assert target.claims("access.put-get") is claimed


@pytest.mark.parametrize(
    ("stated", "claimed"),
    [
        ("{access.put-get/001: true}", True),
        ("{access: true, access.put-get: true, access.put-get/001: false}", False),
        ("{access.put-get: true}", True),
        ("{access: true}", True),
        ("{}", False),
    ],
)
def test_a_claim_of_a_case_wins_over_its_capability(root: Path, stated: str, claimed: bool) -> None:
    """Other cases of the capability keep its claim."""
    (root / "stores" / "mine.yaml").write_text(replaced(STORE, "    access.put-get: true\n", f"    {stated}\n"))
    target = load_spec(root).targets(["mine"])[0]
    assert target.claims("access.put-get/001") is claimed
    if "/" in stated:
        assert target.claims("access.put-get") is not claimed


def test_a_claim_of_an_unknown_case_is_refused(root: Path) -> None:
    """The message has the cases of the capability."""
    (root / "stores" / "mine.yaml").write_text(replaced(STORE, "access.put-get: true", "access.put-get/009: true"))
    assert store_of(root) == [
        "stores/mine.yaml:21: claims.capabilities.access.put-get/009: unknown capability `access.put-get/009` (did you mean `access.put-get/002`?); allowed: access.put-get/001, access.put-get/002",
    ]


def test_claims_of_unknown_names_are_refused(root: Path) -> None:
    """Capabilities, groups and models, in the store and in a variant."""
    text = replaced(STORE, "access.put-get: true", "access.put-get: true\n    access.putget: true")
    text = replaced(text, "[single_key]", "[single_key, hashes]")
    text = replaced(text, "guarantee: volatile", "guarantee: volatile\n    capabilities: {access.get: false}")
    (root / "stores" / "mine.yaml").write_text(text)
    assert store_of(root) == [
        "stores/mine.yaml:23: claims.capabilities.access.putget: unknown capability `access.putget` (did you mean `access.put-get`?); allowed: access.put-get",
        "stores/mine.yaml:18: variants.other.capabilities.access.get: unknown capability `access.get` (did you mean `access.put-get`?); allowed: access.put-get",
        "stores/mine.yaml:20: claims.models.1: unknown model `hashes`; allowed: nested, single_key",
    ]


def test_a_shipped_store_has_the_name_of_its_file(root: Path) -> None:
    """Another name is refused."""
    (root / "stores" / "other.yaml").write_text(STORE)
    assert store_of(root, "other") == ["stores/other.yaml:2: store: found 'mine'; allowed: other, as the file is called"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("mien", "unknown store `mien` (did you mean `mine`?); allowed: mine, or the path of a store's YAML file"),
        ("mine:plane", "unknown variant of mine `plane` (did you mean `plain`?); allowed: other, plain, or `all`"),
        ("mine:", "unknown variant of mine ``; allowed: other, plain, or `all`"),
        ("nowhere/x.yaml", "the store file nowhere/x.yaml does not exist; allowed: the path of a YAML file, or one of mine"),
        ("", "unknown store ``; allowed: mine, or the path of a store's YAML file"),
    ],
)
def test_an_unknown_store_or_variant_is_refused(root: Path, wanted: str, message: str) -> None:
    """One message with the allowed names."""
    with pytest.raises(UsageError) as problem:
        load_spec(root).targets([wanted])
    assert str(problem.value) == message


def test_a_store_file_may_be_at_any_path(root: Path) -> None:
    """Also at a path that contains colons, with a variant after it."""
    elsewhere = root / "a:b" / "yours.yml"
    elsewhere.parent.mkdir()
    elsewhere.write_text(replaced(STORE, "store: mine", "store: yours"))
    targets = load_spec(root).targets([str(elsewhere), f"{elsewhere}:other", "mine"])
    assert [(target.id, target.file) for target in targets] == [
        ("yours:plain", elsewhere),
        ("yours:other", elsewhere),
        ("mine:plain", root / "stores" / "mine.yaml"),
    ]


def test_two_files_with_one_store_name_are_refused(root: Path) -> None:
    """The message has both files."""
    twin = root / "twin.yaml"
    twin.write_text(STORE)
    with pytest.raises(UsageError) as problem:
        load_spec(root).targets(["mine", f"{twin}:other"])
    assert str(problem.value) == f"two files name their store `mine`: {root}/stores/mine.yaml and {twin}; rename one"


def test_a_target_given_twice_runs_once(root: Path) -> None:
    """In the order in which it was first given."""
    assert [target.id for target in load_spec(root).targets(["mine:other", "all", "mine"])] == ["mine:other", "mine:plain"]


def change_case(root: Path) -> None:
    (root / "capabilities" / "access.yaml").write_text(replaced(CAPABILITIES, "expect: one", "expect: two"))


def rename_file(root: Path) -> None:
    (root / "profiles" / "cache.yaml").rename(root / "profiles" / "c.yaml")


def change_store(root: Path) -> None:
    (root / "stores" / "mine.yaml").write_text(STORE + "# more\n")


def add_store(root: Path) -> None:
    (root / "stores" / "other.yaml").write_text(STORE)


@pytest.mark.parametrize(("change", "changes"), [(change_case, True), (rename_file, True), (change_store, False), (add_store, False)])
def test_the_edition_depends_on_the_demands_only(root: Path, change: Callable[[Path], None], changes: bool) -> None:
    """It changes with a case or a file name of the demands, and not with stores."""
    before = load_spec(root).edition
    assert load_spec(root).edition == before
    change(root)
    assert (load_spec(root).edition != before) is changes


def test_a_variant_claims_its_guarantee_all_below_and_those_of_nodes(root: Path) -> None:
    """The ladder up to its guarantee, and `survives`."""
    text = replaced(STORE, "guarantee: process_crash", "guarantee: process_crash\n    survives: [one_node_crash]")
    (root / "stores" / "mine.yaml").write_text(text)
    variant = load_spec(root).targets(["mine"])[0].configuration
    promised = [name for name in (*LADDER, *NODES) if variant.promises(name)]
    assert promised == ["volatile", "clean_restart", "process_crash", "one_node_crash"]


def test_a_store_path_that_is_not_a_file_is_refused(root: Path) -> None:
    """The message says what it is."""
    (root / "folder.yaml").mkdir()
    os.mkfifo(root / "pipe.yaml")
    for name, message in (
        ("folder", "is a directory"),
        ("pipe", "is a pipe, not a file"),
        ("a" * 300, "cannot be read: File name too long"),
    ):
        with pytest.raises(UsageError, match=rf"the store file {root}/{name}\.yaml {message}; allowed: the path of a YAML file, or one of"):
            load_spec(root).targets([f"{root}/{name}.yaml"])
