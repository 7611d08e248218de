"""Writes and reads `result.json`, and `result.json.xz`, as it is published; what is read can be made safe to print in a terminal."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
import secrets
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from storeproof.errors import UsageError
from storeproof.printable import in_one_line, printable
from storeproof.regular_file import Unreadable, bounded, decoded, exists, open_regular
from storeproof.result.model import FORMAT, Result
from storeproof.spec.reading.json_schema import schema_of

NAME = "result.json"
COMPRESSED = "result.json.xz"
"""Its name in a repository, which everyone clones."""
LONGEST = 64 << 20
"""Bytes, decompressed; the largest published result has four million."""
_WINDOW = 8 << 20
"""Bytes of text that compression looks back; reading takes as much memory."""
_NUMBER = re.compile("[0-9]{1,4}")
_BEGINS = re.compile(r'\s*{\s*"format":\s*"([0-9.]+)"')
_MAJOR, _MINOR = map(int, FORMAT.split("."))
_OLDEST_MINOR = 1
_READABLE = tuple(f"{_MAJOR}.{each}" for each in range(_OLDEST_MINOR, _MINOR + 1))
"""The formats that are read: of the same major version those that are not newer than ours, from the first that a published result has."""

UNFINISHED = "unfinished.json"
"""In the report directory during a run: its result so far."""


def write_result(result: Result, path: Path) -> None:
    write_bytes(path, written(result))


def written(result: Result) -> bytes:
    return f"{result.model_dump_json(indent=1)}\n".encode()


def write_whole(path: Path, text: str) -> None:
    """Replace a file atomically: a reader, also after a power cut, sees the old or the new one."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """As `write_whole`, with the permissions that the user's umask leaves. A signal that ends the process meanwhile leaves nothing: where
    the file system can do that, the file has no name before it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(_new_file(whole), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if not whole.exists():
                os.link(f"/proc/self/fd/{file.fileno()}", whole, src_dir_fd=file.fileno())  # given, so that the link of /proc is followed
        whole.replace(path)
    except BaseException:
        whole.unlink(missing_ok=True)
        raise


def _new_file(path: Path) -> int:
    """A file to write, without a name; on network file systems, and older ones of containers, under its name."""
    try:
        return os.open(path.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except OSError:
        return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)


def read_result(path: Path) -> Result:
    """Read a result from a file, or from the directory that contains one.
    Raises `UsageError`: the file does not exist, is not a result, or has a newer format; with what to do next."""
    return result_from(*read_text_of(path))


def read_text_of(path: Path) -> tuple[str, Path]:
    """The text of a result, and the file that it is from. Raises as `read_result` does where there is none."""
    file = file_in(path) if exists(path) and path.is_dir() else path
    try:
        return decoded(content_of(file)), file
    except Unreadable as reason:
        raise UsageError(f"{file} {reason}; give a {NAME} that `pytest suites/` wrote, or the report directory that holds one") from None


def result_from(text: str, file: Path | str) -> Result:
    """The result in a text; `file` is its name in messages. Raises as `read_result` does."""
    if (ours := _at_once(text)) is not None:
        return ours
    try:
        data = json.loads(text)
    except RecursionError:
        raise UsageError(f"{file} is nested too deeply for a result; give a {NAME} that `pytest suites/` wrote") from None
    except ValueError as reason:
        # The other ValueError is for a number with more digits than Python converts.
        why = str(reason) if isinstance(reason, json.JSONDecodeError) else "a number has too many digits"
        raise UsageError(f"{file} is not JSON ({why}); give a {NAME} that `pytest suites/` wrote") from None
    if not isinstance(data, dict) or not isinstance(data.get("format"), str) or "stores" not in data:
        raise UsageError(
            f"{file} is JSON, but no result of storeproof: it lacks `format` or `stores`; give a {NAME} that `pytest suites/` wrote"
        )
    written_in = data["format"]
    _check_format(file, written_in)
    try:
        return Result.model_validate_json(text)
    except ValidationError as breaches:
        found = breaches.errors(include_url=False)
        lines = [f"  {'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in found[:5]]
        if len(found) > 5:
            lines.append(f"  and {len(found) - 5} more")
        lines.append("run the suites again to replace it")
        raise UsageError(f"{file} is not a result in format {written_in}:\n" + "\n".join(lines)) from None


def _at_once(text: str) -> Result | None:
    """What we write ourselves begins with its format, so that no second parser has to find it. None for all else, and where something is
    wrong: it is read again for the message."""
    begins = _BEGINS.match(text)
    if begins is None or begins[1] not in _READABLE:
        return None
    try:
        found = Result.model_validate_json(text)
    except ValidationError:
        return None
    return found if found.format == begins[1] else None


def file_in(directory: Path) -> Path:
    """The result in a directory: as its run wrote it, or else as it was published. Without either, where the run would write it."""
    published = directory / COMPRESSED
    return published if exists(published) and not exists(directory / NAME) else directory / NAME


def content_of(file: Path) -> bytes:
    """The content of a result file, as its run wrote it.
    Raises `Unreadable`: as `regular_file.read_text`, or what should be compressed is not."""
    with open_regular(file) as opened:
        content = opened.read(LONGEST + 1)
    return bounded(_decompressed(content) if file.suffix == ".xz" else content, LONGEST)


def digest_of(file: Path) -> str:
    """The SHA-256 of a result file's content, by which it is cited. Raises as `content_of` does."""
    return hashlib.sha256(content_of(file)).hexdigest()


def compressed(content: bytes) -> bytes:
    """The content of a result as the file `result.json.xz`."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": _WINDOW}]
    return lzma.compress(content, filters=filters)


def _decompressed(content: bytes) -> bytes:
    """At most one byte more than a result may have: a kilobyte may stand for a gigabyte."""
    reader = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=4 * _WINDOW)
    try:
        found = reader.decompress(content, max_length=LONGEST + 1)
    except lzma.LZMAError as reason:
        raise Unreadable(f"cannot be read: it is no file of xz, or a damaged one ({reason})") from None
    if len(found) <= LONGEST and not reader.eof:
        raise Unreadable("cannot be read: it is cut off")
    return found


def files_of(path: Path) -> list[Path]:
    """The result files that a path stands for: itself, the one in a directory, or those in the folders of a directory that has none.
    Raises `UsageError`: a directory that holds none."""
    if not exists(path) or not path.is_dir():
        return [path]
    if exists(file_in(path)):
        return [file_in(path)]
    inner = [file for folder in sorted(path.glob("*/")) if exists(file := file_in(folder))]
    if not inner:
        raise UsageError(f"{path} holds no {NAME}, and no folder in it does; give a {NAME}, its folder, or the folder of such folders")
    return inner


def result_schema() -> str:
    return schema_of("result", Result, FORMAT)


def _check_format(file: Path | str, text: str) -> None:
    """The same major version with a minor not newer than ours is read; anything else is an error, never a guess."""
    major, _, minor = text.partition(".")
    if not (_NUMBER.fullmatch(major) and _NUMBER.fullmatch(minor)):
        raise UsageError(f'{file}: format is "{in_one_line(text, 40)}"; a format is written "MAJOR.MINOR"')
    if int(major) != _MAJOR or not _OLDEST_MINOR <= int(minor) <= _MINOR:
        raise UsageError(
            f"{file}: format is {text}; this version of storeproof reads {', '.join(_READABLE)}; upgrade storeproof, or run it again"
        )


_ESCAPED: Final = re.compile(r"\\[bfru]")
"""A character that JSON does not show as it is, in a text without escaped backslashes: it may be a control character."""


def read_shown(path: Path) -> Result:
    """Read a result as `read_result` does, with control characters escaped as in `shown_of`.

    Most files have none, in their text as in what it stands for: those need no copy, which takes twice as long as reading.
    """
    text, file = read_text_of(path)
    result = result_from(text, file)
    return result if printable(text) == text and not _ESCAPED.search(text.replace(r"\\", "")) else shown_of(result)


def shown_of(result: Result) -> Result:
    """The result with control characters escaped: its text comes from servers, and the file from anywhere."""
    return Result.model_validate(_printable(result.model_dump()))


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value) if type(value) is str else value  # an outcome is an enum, not text
    if isinstance(value, dict):
        return {_printable(name): _printable(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_printable(each) for each in value)
    return value
