"""`result.json` comes back as it was written, and what is not ours is named as such; a terminal is shown nothing that it obeys."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from storeproof.errors import UsageError
from storeproof.outcome import Outcome
from storeproof.result import json_file
from storeproof.result.json_file import (
    COMPRESSED,
    NAME,
    compressed,
    content_of,
    files_of,
    read_result,
    read_shown,
    result_schema,
    shown_of,
    write_result,
)
from storeproof.result.model import FORMAT
from storeproof.result.part import Gate
from tests.report.sample import sample_result


def test_a_result_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Every field survives, hostile text and absent percentiles too; a directory stands for the file in it."""
    result = sample_result()
    write_result(result, tmp_path / "deep" / "result.json")
    assert read_result(tmp_path / "deep" / "result.json") == result
    assert read_result(tmp_path / "deep") == result


def test_a_published_result_is_read_like_the_one_that_the_run_wrote(tmp_path: Path) -> None:
    """By its name, and by that of its folder or of the folder of such folders; its content is the same to the byte."""
    write_result(sample_result(), tmp_path / "run" / NAME)
    content = (tmp_path / "run" / NAME).read_bytes()
    published = tmp_path / "published" / "one" / COMPRESSED
    published.parent.mkdir(parents=True)
    published.write_bytes(compressed(content))
    assert len(published.read_bytes()) < len(content) / 3
    assert content_of(published) == content
    assert read_result(published) == read_result(published.parent) == sample_result()
    assert files_of(tmp_path / "published") == files_of(published.parent) == [published]


def test_what_the_run_wrote_comes_before_what_is_published(tmp_path: Path) -> None:
    """A new run into a folder with a published result is not hidden by it."""
    (tmp_path / COMPRESSED).write_bytes(b"older")
    write_result(sample_result(), tmp_path / NAME)
    assert read_result(tmp_path) == sample_result()


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        (lambda content: content, "it is no file of xz, or a damaged one"),
        (lambda content: compressed(content)[:-20], "it is cut off"),
        (lambda content: compressed(content)[:200] + b"\0\0\0\0" + compressed(content)[204:], "a damaged one"),
        (lambda content: compressed(b" " * 3000 + content), "is longer than 2 KiB"),
    ],
    ids=["plain", "cut off", "damaged", "too long"],
)
def test_a_compressed_file_that_is_no_result_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoiled: Callable[[bytes], bytes], message: str
) -> None:
    """No more of it is decompressed than a result may have."""
    monkeypatch.setattr(json_file, "LONGEST", 2048)
    (tmp_path / COMPRESSED).write_bytes(spoiled(sample_result().model_dump_json().encode()[:2000]))
    with pytest.raises(UsageError, match=rf"{COMPRESSED} .*{message}"):
        read_result(tmp_path)


@pytest.mark.parametrize("form", ["2.1", FORMAT])
def test_what_we_wrote_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """A decision reads all published results: a second parser, which only messages need, would take as long again."""
    result = sample_result().model_copy(update={"format": form})
    write_result(result, tmp_path / "result.json")

    def parsed(*_: object) -> None:
        raise AssertionError("parsed twice")

    monkeypatch.setattr(json, "loads", parsed)
    assert read_result(tmp_path) == result


def test_the_counts_name_every_outcome(tmp_path: Path) -> None:
    """Zeros are written too: a reader need not know the vocabulary to see that nothing is hidden."""
    write_result(sample_result(), tmp_path / "result.json")
    data = json.loads((tmp_path / "result.json").read_text())
    assert list(data["stores"][0]["counts"]) == [outcome.value for outcome in Outcome]


def test_writing_leaves_no_other_file_and_replaces_the_old_one(tmp_path: Path) -> None:
    """A reader sees the old file or the new one."""
    path = tmp_path / "result.json"
    path.write_text("old")
    write_result(sample_result(), path)
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk at the last moment loses nothing and leaves nothing."""
    path = tmp_path / "result.json"
    path.write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OSError, match="No space"):
        write_result(sample_result(), path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[1]", "no result of storeproof"),
        ('{"benchmarks": []}', "no result of storeproof"),
        ('{"format": "1.2", "stores": []}', "format is 1.2; this version of storeproof reads 2.1, 2.2, 2.3, 2.4, 2.5; upgrade"),
        ('{"format": "2.0", "stores": []}', "format is 2.0; this version of storeproof reads 2.1, "),
        ('{"format": "2.6", "stores": []}', "format is 2.6"),
        ('{"format": "3.0", "stores": []}', "format is 3.0"),
        ('{"format": "one", "stores": []}', 'written "MAJOR.MINOR"'),
        ('{"format": "2.1", "stores": []}', "edition: Field required"),
        ('{"format": "2.1", "stores": [], "surprise": 1}', "surprise: Extra inputs"),
    ],
)
def test_what_is_no_result_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    """The message names the file, what is wrong, and what to do; it is never a traceback."""
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_result(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    """Both say which file and what to give instead."""
    with pytest.raises(UsageError, match=r"does not exist; give a result\.json"):
        read_result(tmp_path)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        read_result(tmp_path / "bytes.json")


def test_a_number_that_json_cannot_hold_is_refused_when_it_is_made() -> None:
    """NaN would be written as null, and the file could never be read again."""
    with pytest.raises(ValidationError):
        Gate(ok=True, value=float("nan"), limit=1.0)


def test_the_schema_forbids_fields_it_does_not_name() -> None:
    """Other tools rely on the names."""
    schema = json.loads(result_schema())
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {"format", "edition", "run", "environment", "stores"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "1.0", "stores": ' + "[" * 100_000, "is nested too deeply for a result"),
        ('{"format": "1.0", "stores": [], "x": ' + "1" * 5000 + "}", "a number has too many digits"),
        ('{"format": "1.²", "stores": []}', 'format is "1.²"; a format is written "MAJOR.MINOR"'),
        ('{"format": "' + "1" * 5000 + '.0", "stores": []}', "a format is written"),
    ],
    ids=["deep", "digits", "superscript", "format"],
)
def test_a_file_that_would_crash_the_parser_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Deep nesting, long numbers, and formats that only look like numbers."""
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_result(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_path_that_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    """A pipe is not waited for, and a device is not read."""
    os.mkfifo(tmp_path / "pipe.json")
    for path, message in (
        (tmp_path / "pipe.json", "is a pipe, not a file"),
        (tmp_path / ("a" * 300), "File name too long"),
        (Path("/dev/zero"), "is a device"),
        (tmp_path / "x\0", "no file can have this name"),
    ):
        with pytest.raises(UsageError, match=message):
            read_result(path)


def test_results_of_the_engine_that_is_no_more_are_read(tmp_path: Path) -> None:
    """The load engine in Python was `wire-py`; its figures stay what they were."""
    path = tmp_path / "result.json"
    write_result(sample_result(), path)
    data = json.loads(path.read_text())
    (measured, *_) = next(store["measurements"] for store in data["stores"] if store["measurements"])
    measured["engine"] = "wire-py"
    path.write_text(json.dumps(data))
    assert "wire-py" in {each.engine for store in read_result(path).stores for each in store.measurements}


@pytest.mark.parametrize("hidden", ["\x1b[31m", "\u202e", "a\r\nb", "\\\x1b", "\x9f", "\b"])
def test_what_a_terminal_obeys_is_escaped(hidden: str, tmp_path: Path) -> None:
    """However JSON writes it: as itself, or as an escape."""
    result = sample_result()
    result.stores[0].settings["motd"] = hidden
    write_result(result, tmp_path / NAME)
    shown = read_shown(tmp_path)
    assert shown == shown_of(read_result(tmp_path))
    assert hidden not in shown.stores[0].settings["motd"]


def test_a_result_without_such_text_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that only look like an escape do not count."""
    result = shown_of(sample_result())
    result.stores[0].settings["motd"] = "\\u202e and \\\\b, “ü”\n\t"
    write_result(result, tmp_path / NAME)
    monkeypatch.delattr(json_file, "shown_of")
    assert read_shown(tmp_path) == result
