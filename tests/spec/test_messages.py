"""Every breach of a file gives one line: file, line, field, what was found, what is allowed."""

# ruff: noqa: E501 - a message is one line

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.spec.base import SpecFile
from storeproof.spec.capability import CapabilityGroup
from storeproof.spec.model import Model
from storeproof.spec.reading.source import read
from storeproof.spec.scale import Scale
from storeproof.spec.store import Store
from storeproof.spec.workload import WorkloadFile
from tests.spec.files import CAPABILITIES, MODEL, NESTED, STORE, WORKLOADS, problems, replaced

MAPPING_WANTED = "allowed: a mapping that starts with `format: ...`"
NAME_WANTED = "allowed: lower case letters, digits, `_`, `-` and `.`, with a letter or a digit at both ends"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"x.yaml:1: the file is empty; {MAPPING_WANTED}"),
        ("# nothing but a comment\n", f"x.yaml:1: the file is empty; {MAPPING_WANTED}"),
        ("- a\n- b\n", f"x.yaml:1: found a list of 2; {MAPPING_WANTED}"),
        ("just words\n", f"x.yaml:1: found 'just words'; {MAPPING_WANTED}"),
        ("format: [1\n", "x.yaml:2: not YAML: expected ',' or ']', but got '<stream end>'"),
        ("format: a: b\n", "x.yaml:1: not YAML: mapping values are not allowed here"),
        ("\tformat: x\n", "x.yaml:1: not YAML: found character '\\t' that cannot start any token"),
        ("format: \x00\n", "x.yaml: not YAML: special characters are not allowed, found U+0000 at position 8"),
        (MODEL + "---\n" + MODEL, "x.yaml:9: not YAML: expected a single document in the stream, but found another document"),
        (
            "!!python/object:os.system {}\n",
            "x.yaml:1: not YAML: could not determine a constructor for the tag 'tag:yaml.org,2002:python/object:os.system'",
        ),
        ("a: 1\nb: {c: 1, c: 2}\na: 2\n", "x.yaml:2: b.c: the key is given twice; keep one\nx.yaml:3: a: the key is given twice; keep one"),
        ("&a [*a]\n", f"x.yaml:1: found a list of 1; {MAPPING_WANTED}"),
    ],
    ids=["empty", "comment", "list", "words", "open-list", "colons", "tab", "nul", "two-documents", "tag", "repeated-keys", "recursive"],
)
def test_a_file_that_is_not_a_mapping_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Empty files, lists, invalid YAML, several documents and unsafe tags have one clear message each."""
    assert "\n".join(problems(tmp_path, Model, text)) == message


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """The message has the position of the byte."""
    (tmp_path / "y.yaml").write_bytes(b"format: \xff\n")
    with pytest.raises(SpecError, match=r"y\.yaml: cannot be read: it is not text in UTF-8, byte 8 is 0xff"):
        read(tmp_path / "y.yaml", Model)


BREACHES: list[tuple[str, type[SpecFile], str, str, str, str]] = [
    # id, kind, text, what is replaced, by what, the one line that is wanted
    ("format-float", Model, MODEL, '"1.0"', "1.0", 'x.yaml:1: format: found 1.0; allowed: text; quote it: "1.0"'),
    ("format-minor", Model, MODEL, '"1.0"', '"1.1"', "x.yaml:1: format: found '1.1'; allowed: \"1.0\"; a newer file needs a newer storeproof"),
    ("format-major", Model, MODEL, '"1.0"', '"2.0"', "x.yaml:1: format: found '2.0'; allowed: \"1.0\"; a newer file needs a newer storeproof"),
    ("format-old", Model, MODEL, '"1.0"', '"0.9"', "x.yaml:1: format: found '0.9'; allowed: \"1.0\""),
    ("format-word", Model, MODEL, '"1.0"', "new", "x.yaml:1: format: found 'new'; allowed: \"1.0\", written \"MAJOR.MINOR\" in quotes"),
    ("format-missing", Model, MODEL, 'format: "1.0"\n', "", "x.yaml:1: format: is missing, and must be given"),
    ("missing", Model, MODEL, "  size: 100\n", "", "x.yaml:5: record.size: is missing, and must be given"),
    ("unknown", Model, MODEL, "title: One", "titel: x\ntitle: One", "x.yaml:3: titel: unknown field (did you mean `title`?); allowed: decimals, format, indexes, key, key_order, language, model, places, record, text, title"),
    ("unknown-deep", Model, MODEL, "  size: 100", "  size: 100\n  sizs: 1", "x.yaml:8: record.sizs: unknown field (did you mean `sizes`?); allowed: drawn, kind, size, sizes"),
    ("unknown-far", Store, STORE, "    settings:", "    zzz: 1\n    settings:", "x.yaml:14: variants.plain.zzz: unknown field; allowed: arguments, atomic_batches, auto_indexed, capabilities, default, detects_corruption, durable_reads, guarantee, isolation, note, options, settings, stale_reads, survives, timeouts, topology"),
    ("unknown-step", CapabilityGroup, CAPABILITIES, "args: [a, one]", "args: [a, one], exepct: 1", "x.yaml:13: capabilities.0.cases.0.steps.0.exepct: unknown field (did you mean `expect`?); allowed: alternatives, args, between, do, expect, missing, refused, wait, within"),
    ("name", Model, MODEL, "single_key", "Single Key", f"x.yaml:2: model: found 'Single Key'; {NAME_WANTED}"),
    ("variant-name", Store, STORE, "other:", "Other:", f"x.yaml:16: variants.Other: found 'Other'; {NAME_WANTED}"),
    ("word-for-number", Model, MODEL, "size: 100", "size: big", "x.yaml:7: record.size: found 'big'; allowed: a whole number"),
    ("quoted-number", Model, MODEL, "size: 100", 'size: "100"', "x.yaml:7: record.size: found '100'; allowed: a whole number, without quotes: 100"),
    ("real-for-number", Model, MODEL, "size: 100", "size: 1.5", "x.yaml:7: record.size: found 1.5; allowed: a whole number"),
    ("boolean-for-number", Model, MODEL, "size: 100", "size: true", "x.yaml:7: record.size: found true; allowed: a whole number"),
    ("zero", Model, MODEL, "size: 100", "size: 0", "x.yaml:7: record.size: found 0; allowed: more than 0"),
    ("drawn-small", Model, MODEL, "size: 100", "size: 100\n  drawn: {uniform: [9, 100]}", "x.yaml:8: record.drawn.uniform.0: found 9; allowed: 17 or more"),
    ("drawn-order", Model, MODEL, "size: 100", "size: 100\n  drawn: {uniform: [100, 20]}", "x.yaml:8: record.drawn.uniform: found [100, 20]; allowed: the smallest size, and then a larger one"),
    ("drawn-both", Model, MODEL, "size: 100", "size: 100\n  drawn: {uniform: [20, 100], histogram: {20: 1, 30: 1}}", "x.yaml:8: record.drawn: allowed: {uniform: [SMALLEST, LARGEST]} or {histogram: {SIZE: SHARE, ...}}"),
    ("drawn-one", Model, MODEL, "size: 100", "size: 100\n  drawn: {histogram: {20: 1}}", "x.yaml:8: record.drawn.histogram: found 1 of them; allowed: two or more sizes; for a single one use `size`"),
    ("drawn-shares", Model, MODEL, "size: 100", "size: 100\n  drawn: {histogram: {20: 99, 30: 2}}", "x.yaml:8: record.drawn.histogram: found 101 shares in all; allowed: at most 100"),
    ("text-for-list", Model, MODEL, "[1, 2]", "1", "x.yaml:8: record.sizes: found 1; allowed: a list, as in [a, b]"),
    ("kind", Model, MODEL, "kind: value", "kind: valu", "x.yaml:6: record.kind: found 'valu' (did you mean `value`?); allowed: value, hash, row, counter, document, list, set, ranking, places"),
    ("kind-missing", Model, MODEL, "  kind: value\n", "", "x.yaml:5: record.kind: is missing, and must be given"),
    ("shape", Model, NESTED, "{text: 30}", "{txt: 30}", "x.yaml:12: record.shape.object.profile.object.email: found a mapping of txt; allowed: a shape: {text: 20}, {integer: 32}, {real: 64}, {list: 3, of: SHAPE} or {object: {field: SHAPE}}"),
    ("shape-two", Model, NESTED, "{text: 30}", "{text: 30, of: 1}", "x.yaml:12: record.shape.object.profile.object.email.of: unknown field; allowed: text"),
    ("bits", Model, NESTED, "{text: 30}", "{integer: 33}", "x.yaml:12: record.shape.object.profile.object.email.integer: found 33; allowed: 32, 53 or 64"),
    ("hashed", Model, NESTED, "key: text", "key: integer\nkey_order: hashed", "x.yaml:5: key_order: found hashed; allowed: with text keys, of records that are not articles"),
    ("index", Model, NESTED, "[profile, email]", "[profile, mail]", "x.yaml:14: indexes.0: found the path profile.mail; allowed: the path of a field of the record"),
    ("setting-number", Store, STORE, '"3"', "3", 'x.yaml:14: variants.plain.settings.level: found 3; allowed: text; quote it: "3"'),
    ("setting-octal", Store, STORE, '"3"', "0755", 'x.yaml:14: variants.plain.settings.level: found 493; allowed: text; quote it: "0755"'),
    ("setting-minutes", Store, STORE, '"3"', "12:30", 'x.yaml:14: variants.plain.settings.level: found 750; allowed: text; quote it: "12:30"'),
    ("setting-true", Store, STORE, '"no"', "true", 'x.yaml:14: variants.plain.settings.sync: found true; allowed: text; quote it: "true"'),
    ("setting-nothing", Store, STORE, '"no"', "", 'x.yaml:14: variants.plain.settings.sync: found nothing; allowed: text; for empty text write ""'),
    ("setting-list", Store, STORE, '"no"', "[a]", "x.yaml:14: variants.plain.settings.sync: found a list of 1; allowed: text"),
    ("claim-yes", Store, STORE, "put-get: true", "put-get: yes", "x.yaml:21: claims.capabilities.access.put-get: found 'yes'; allowed: true or false"),
    ("claim-no", Store, STORE, "put-get: true", "put-get: no", "x.yaml:21: claims.capabilities.access.put-get: found 'no'; allowed: true or false"),
    ("claim-quoted", Store, STORE, "put-get: true", 'put-get: "true"', "x.yaml:21: claims.capabilities.access.put-get: found 'true'; allowed: true or false, without quotes"),
    ("guarantee", Store, STORE, "guarantee: volatile", "guarantee: volatil", "x.yaml:17: variants.other.guarantee: found 'volatil' (did you mean `volatile`?); allowed: volatile, clean_restart, process_crash, power_loss"),
    ("cache-amount", Store, STORE, "variants:", 'cache: {setting: pool, value: "1GB"}\nvariants:', "x.yaml:11: cache.value: found '1GB'; allowed: exactly one of ${bytes}, ${mib}, ${gib}, with any text around it"),
    ("cache-unit", Store, STORE, "variants:", 'cache: {setting: pool, value: "${mb}MB"}\nvariants:', "x.yaml:11: cache.value: found '${mb}MB'; allowed: exactly one of ${bytes}, ${mib}, ${gib}, with any text around it"),
    ("cache-dollar", Store, STORE, "variants:", 'cache: {setting: pool, value: "${mib}$"}\nvariants:', "x.yaml:11: cache.value: found '${mib}$'; allowed: exactly one of ${bytes}, ${mib}, ${gib}, with any text around it"),
    ("two-defaults", Store, STORE, "guarantee: volatile", "guarantee: volatile\n    default: true", "x.yaml:16: variants.other: exactly one variant has `default: true`; found plain, other"),
    ("no-default", Store, STORE, "    default: true\n", "", "x.yaml:11: variants: exactly one variant has `default: true`; found none"),
    ("command-text", Store, STORE, '[--port, "${port}"]', "--port 1", "x.yaml:10: launch.process.command: found '--port 1'; allowed: a list, as in [a, b]"),
    ("launch-word", Store, STORE, STORE[STORE.index("launch:") : STORE.index("variants:")], "launch: by hand\n", "x.yaml:6: launch: found 'by hand'; allowed: a mapping, as in {name: value}"),
    ("case-number", CapabilityGroup, CAPABILITIES, '"002"', "002", 'x.yaml:15: capabilities.0.cases.1.id: found 2; allowed: text; quote it: "002"'),
    ("case-short", CapabilityGroup, CAPABILITIES, '"002"', '"2"', "x.yaml:15: capabilities.0.cases.1.id: found '2'; allowed: three digits in quotes, as in \"001\""),
    ("case-twice", CapabilityGroup, CAPABILITIES, '"002"', '"001"', "x.yaml:15: capabilities.0.cases.1.id: case id 001 is given twice in put-get; ids are never reused: take the next free one"),
    ("no-steps", CapabilityGroup, CAPABILITIES, "        steps:\n          - {do: get, args: [a], expect: null}\n", "        steps: []\n", "x.yaml:17: capabilities.0.cases.1.steps: found an empty list; allowed: at least 1"),
    ("within-nothing", CapabilityGroup, CAPABILITIES, "args: [a, one]", "args: [a, one], within: 60", "x.yaml:13: capabilities.0.cases.0.steps.0.within: within: 60 needs an expected answer; give expect, or use wait"),
    ("wait", CapabilityGroup, CAPABILITIES, "args: [a, one]", "args: [a, one], wait: 60", "x.yaml:13: capabilities.0.cases.0.steps.0.wait: found 60; allowed: 10 or less"),
    ("share", WorkloadFile, WORKLOADS, "keys: new", "keys: new, distinct: 1.1", "x.yaml:8: workloads.0.mix.0.distinct: found 1.1; allowed: 1 or less"),
    ("clients", WorkloadFile, WORKLOADS, "clients: one", "clients: on", "x.yaml:10: workloads.0.clients: found 'on' (did you mean `one`?); allowed: one, few, several, sweep"),
    ("known-variant", Store, STORE, "claims:", "known_failures: {durability.power_loss: {variants: [plan], finding: lost, issue: lost, until: 2027-05-31}}\nclaims:", "x.yaml:18: known_failures.durability.power_loss.variants.0: found 'plan'; allowed: plain, other"),
    ("known-without-finding", Store, STORE, "claims:", "known_failures: {durability.power_loss: {variants: [plain], issue: lost, until: 2027-05-31}}\nclaims:", "x.yaml:18: known_failures.durability.power_loss.finding: is missing, and must be given"),
    ("known-by-no-expression", Store, STORE, "claims:", "known_failures: {durability.power_loss: {variants: [plain], finding: 'fault (1', issue: lost, until: 2027-05-31}}\nclaims:", "x.yaml:18: known_failures.durability.power_loss.finding: found 'fault (1'; not a regular expression: missing ), unterminated subpattern at position 6; allowed: one that matches the whole finding, as in 'fault 1, .*, burst: .* suffix'"),
    ("known-by-anything", Store, STORE, "claims:", "known_failures: {durability.power_loss: {variants: [plain], finding: '.*', issue: lost, until: 2027-05-31}}\nclaims:", "x.yaml:18: known_failures.durability.power_loss.finding: found '.*'; matches any finding; allowed: a regular expression that matches the known one alone, as in 'fault 1, .*, burst: .* suffix'"),
    ("known-without-end", Store, STORE, "claims:", "known_failures: {durability.power_loss: {variants: [plain], finding: lost, issue: lost, until: never}}\nclaims:", "x.yaml:18: known_failures.durability.power_loss.until: found 'never'; allowed: a day, as in 2027-12-31"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "text", "old", "new", "line"), [breach[1:] for breach in BREACHES], ids=[breach[0] for breach in BREACHES]
)
def test_one_error_is_one_line(tmp_path: Path, kind: type[SpecFile], text: str, old: str, new: str, line: str) -> None:
    """With file, line, field, what was found and what is allowed."""
    assert problems(tmp_path, kind, text) == []
    assert problems(tmp_path, kind, replaced(text, old, new)) == [line]


def test_an_unknown_operation_is_refused(tmp_path: Path) -> None:
    """With the most similar one and all that are allowed."""
    (line,) = problems(tmp_path, CapabilityGroup, replaced(CAPABILITIES, "do: put", "do: putt"))
    assert line.startswith("x.yaml:13: capabilities.0.cases.0.steps.0.do: found 'putt' (did you mean `put`?); allowed: get, put, delete, ")


def test_yaml_1_1_booleans_and_dates_stay_text(tmp_path: Path) -> None:
    """`no`, `off` and dates are settings of real stores."""
    for word in ("no", "yes", "on", "off", "Yes", "OFF", "2024-01-01"):
        assert problems(tmp_path, Store, replaced(STORE, '"no"', word)) == []


def test_all_errors_of_a_file_are_reported_in_line_order(tmp_path: Path) -> None:
    """Four errors are four lines."""
    text = replaced(replaced(replaced(STORE, "product: Mine\n", ""), "command: [--port", "comand: [--port"), '"3"', "3")
    lines = problems(tmp_path, Store, text)
    assert [line.split(":")[1] for line in lines] == ["1", "6", "9", "13"]
    assert len(lines) == 4


def test_a_scale_has_at_least_five_durability_rounds(tmp_path: Path) -> None:
    """Fewer would show too little."""
    text = (Path(__file__).parents[2] / "spec" / "scales" / "smoke.yaml").read_text()
    (line,) = problems(tmp_path, Scale, replaced(text, "rounds: 5", "rounds: 4"))
    assert line.endswith("durability.rounds: found 4; allowed: 5 or more")


PROCESS_FILE = "allowed: a file name without directories, for the run directory"
CONTAINER_FILE = "allowed: the absolute path of a file in the container, without `..`"


@pytest.mark.parametrize(
    ("way", "name", "allowed"),
    [
        *(("process", name, PROCESS_FILE) for name in ("../../x", "/etc/x", "sub/x", "..", "", "a\x1bb", "x" * 256)),
        *(("container", name, CONTAINER_FILE) for name in ("etc/x", "/data/../x", "/", "/etc/a\nb")),
    ],
)
def test_a_launch_file_cannot_leave_its_directory(tmp_path: Path, way: str, name: str, allowed: str) -> None:
    """Paths outside the run directory, or relative ones in a container, are refused."""
    launch = {"process": "    files:", "container": "  container:\n    image: mined\n    port: 1\n    data: /data\n    files:"}[way]
    text = replaced(STORE, "variants:", f"{launch} {{{json.dumps(name)}: text}}\nvariants:")
    (problem,) = problems(tmp_path, Store, text)
    assert problem.startswith("x.yaml:")
    assert problem.endswith(f"found {name!r}; {allowed}")
    assert f"launch.{way}.files" in problem


@pytest.mark.parametrize("name", ["SET_UP", "/elsewhere/SET_UP", "/data", "/data/../SET_UP"])
def test_the_mark_of_a_set_up_is_in_the_data_directory(tmp_path: Path, name: str) -> None:
    """A file elsewhere would not be emptied with the directory, nor lost with it."""
    launch = f"  container:\n    image: mined\n    port: 1\n    data: /data\n    set_up: {json.dumps(name)}\n"
    (problem,) = problems(tmp_path, Store, replaced(STORE, "variants:", f"{launch}variants:"))
    assert problem.endswith(f"found {name!r}; allowed: the absolute path of a file under /data")


def test_a_launch_file_may_have_any_plain_name(tmp_path: Path) -> None:
    """Also hidden files, spaces and letters beyond ASCII."""
    text = replaced(STORE, "variants:", "    files: {server.conf: text, .hidden: text, 'größe 1': text}\nvariants:")
    assert problems(tmp_path, Store, text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x: " + "[" * 1000 + "]" * 1000, ":2: mappings and lists are more than 50 levels deep; no field is so deep"),
        ("x: " + "[" * 200_000, ":2: mappings and lists are more than 50 levels deep"),
        ("x: " + "{a: " * 60 + "}" * 60, ":2: mappings and lists are more than 50 levels deep"),
        ("x:\n  " + "- " * 1000 + "y", ":3: mappings and lists are more than 50 levels deep"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(60)), ": mappings and lists are more than 50 levels deep"),
        (
            "x: " + "1" * 5000,
            ":2: not YAML: found 1111111111111111111111111111111111111111... (5,000 characters), which is no number; quote it",
        ),
        ("x: 0x_", ":2: not YAML: found 0x_, which is no number; quote it"),
        ("# " + "a" * (1 << 20), ": is longer than 1,024 KiB; allowed: a YAML file of at most 1,024 KiB"),
    ],
    ids=["lists", "abyss", "mappings", "one line", "indents", "digits", "hexadecimal", "long"],
)
def test_a_file_that_would_crash_the_parser_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """libyaml dies of what is too deep, and Python refuses numbers that are too long."""
    (tmp_path / "x.yaml").write_text(f'format: "1.0"\n{text}\n')
    with pytest.raises(SpecError) as problem:
        read(tmp_path / "x.yaml", Model)
    assert str(problem.value).startswith(f"{tmp_path}/x.yaml:")
    assert message in str(problem.value)
    assert len(problem.value.problems) == 1


def test_a_path_that_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    """A pipe is not waited for, and a device is not read."""
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    for name, message in (
        ("pipe", "is a pipe, not a file"),
        ("folder", "is a directory"),
        ("gone", "does not exist"),
        ("a" * 300, "too long"),
    ):
        with pytest.raises(SpecError, match=message):
            read(tmp_path / f"{name}.yaml", Model)
    with pytest.raises(SpecError, match="is a device, not a file"):
        read(Path("/dev/zero"), Model)


def test_a_name_is_at_most_80_characters(tmp_path: Path) -> None:
    """Names become parts of file names."""
    (tmp_path / "x.yaml").write_text(MODEL.replace("single_key", "a" * 300))
    with pytest.raises(SpecError, match=r"x\.yaml:2: model: found 'aaa.*; allowed: at most 80 characters"):
        read(tmp_path / "x.yaml", Model)
