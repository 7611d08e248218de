"""Where a server's program comes from: asked of this machine, and never guessed.

A package is named only where the file is still the one that it brought: by the checksum that the package has of it. An image is named by
its reference and its labels, which are the word of its builder.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import os
import platform
import re
import shutil
import subprocess
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import Distribution
from pathlib import Path
from typing import Final, Literal

from storeproof.machine import container_engine
from storeproof.machine.programs import digest_of
from storeproof.printable import in_one_line
from storeproof.spec.base import LINK_PATTERN
from storeproof.spec.store import PackageKind

OriginKind = PackageKind | Literal["interpreter"]
"""`interpreter`: a program in Python, which the interpreter of the suites runs."""

_SECONDS: Final = 10
"""Time limit for each question to a package manager, which takes a tenth of a second."""
_LONGEST: Final = 120
"""Characters of one word of a package or an image."""
_MAIL: Final = re.compile(r"<[^>]*>|\S*@\S*")
_WHEEL: Final = ("Author", "Author-email")
"""Who made a wheel: projects that name themselves in one line have the second alone."""
_LABEL: Final = "org.opencontainers.image."


@dataclass(frozen=True)
class ProgramOrigin:
    """Where one program comes from. No field has a directory of this machine, or an address of a person."""

    program: str
    """Its name; of an image nothing."""
    kind: OriginKind | None = None
    """None: not known."""
    package: str = ""
    """The package, the reference of the image, or the implementation of Python."""
    version: str = ""
    """Of the package, or what the image's label says."""
    packager: str = ""
    """Who packaged it, as the package or the image says."""
    source: str = ""
    """The address of its source, as the image's label says."""
    role: str = ""
    """Of a composite store, whose program it is."""


def interpreter() -> ProgramOrigin:
    """The origin of a program that the interpreter of the suites runs. Costs nothing."""
    return ProgramOrigin("", "interpreter", platform.python_implementation(), platform.python_version())


def origin_of_program(path: str) -> ProgramOrigin:
    """The origin of a file, links followed. Asked once, until the file changes; not known where no package manager answers in time."""
    name, file = Path(path).name, os.path.realpath(path)
    try:
        state = Path(file).stat()
    except OSError:
        return ProgramOrigin(name)
    return replace(_origin(file, state.st_ino, state.st_size, state.st_mtime_ns), program=name)


def origin_of_image(reference: str) -> ProgramOrigin:
    """The origin of a container's programs, by an image that is there. Takes the engine some milliseconds."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        labels = container_engine.client().images.get(reference).labels
    except (DockerException, RequestException):
        labels = {}
    version, packager, source = (_word(str(labels.get(f"{_LABEL}{name}", ""))) for name in ("version", "vendor", "source"))
    return ProgramOrigin("", "image", reference, version, packager, source if re.match(LINK_PATTERN, source) else "")


@functools.cache
def _origin(file: str, _inode: int, _size: int, _changed: int) -> ProgramOrigin:
    asked: tuple[Callable[[str], ProgramOrigin | None], ...] = (_of_wheel, _of_debian, _of_rpm)  # the first needs no other program
    return next((found for ask in asked if (found := ask(file)) is not None), ProgramOrigin(""))


def _of_wheel(file: str) -> ProgramOrigin | None:
    """By the RECORD of a wheel that was unpacked into a directory above the file."""
    for directory in Path(file).parents:
        for record in directory.glob("*.dist-info/RECORD"):
            try:
                wheel = Distribution.at(record.parent)
                listed = next((each for each in wheel.files or () if directory / each == Path(file)), None)
                if listed is not None and listed.hash is not None and listed.hash.mode == "sha256":
                    wanted = urlsafe_b64decode(f"{listed.hash.value}==").hex()
                    if digest_of(file) == f"sha256:{wanted}":
                        words = [_word(wheel.metadata[name]) for name in _WHEEL if name in wheel.metadata]
                        return ProgramOrigin("", "wheel", _word(wheel.name), _word(wheel.version), next(filter(None, words), ""))
            except (OSError, ValueError):  # unreadable, or damaged
                continue
    return None


def _of_debian(file: str) -> ProgramOrigin | None:
    """By the package of dpkg that the file belongs to."""
    # A package may have brought it to /bin before that became a link to /usr/bin.
    paths = (file, file.removeprefix("/usr")) if file.startswith("/usr/") else (file,)
    for line in _said("dpkg-query", "--search", *map(glob.escape, paths)):
        owners, _, path = line.rpartition(": ")
        package = owners.partition(", ")[0]
        if path not in paths or " " in package:  # a diversion
            continue
        checksums = _said("dpkg-query", "--control-show", package, "md5sums")
        if not any(_md5_of(file) == checksum for checksum, name in _pairs(checksums) if f"/{name}" == path):
            continue
        for words in _said("dpkg-query", "--show", "--showformat", "${Package}\t${Version}\t${Maintainer}\n", package):
            name, version, maintainer = map(_word, words.split("\t"))
            return ProgramOrigin("", "deb", name, version, maintainer)
    return None


def _of_rpm(file: str) -> ProgramOrigin | None:
    """By the package of RPM that the file belongs to."""
    form = "%{NAME}\t%{VERSION}-%{RELEASE}\t%{VENDOR}\n[%{FILEDIGESTS}  %{FILENAMES}\n]"
    lines = _said("rpm", "--query", "--file", "--queryformat", form, file)
    if not any(f"sha256:{digest}" == digest_of(file) for digest, name in _pairs(lines[1:]) if name == file):
        return None
    name, version, vendor = map(_word, lines[0].split("\t"))
    return ProgramOrigin("", "rpm", name, version, "" if vendor == "(none)" else vendor)


def _said(program: str, *arguments: str) -> list[str]:
    """The lines that a program prints; none if it is not installed or does not answer. Its exit status tells nothing: dpkg-query fails
    also if it knows one of two paths."""
    found = shutil.which(program)
    if found is None:
        return []
    words = [found, *arguments]
    try:
        ended = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return ended.stdout.splitlines()


def _pairs(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The checksum and the file of each line, with two blanks between them."""
    for line in lines:
        checksum, _, name = line.partition("  ")
        yield checksum, name


def _md5_of(file: str) -> str | None:
    """What dpkg has of a file; None if it cannot be read."""
    try:
        with Path(file).open("rb") as opened:
            return hashlib.file_digest(opened, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError:
        return None


def _word(text: str) -> str:
    """In one line, without mail addresses."""
    return in_one_line(" ".join(_MAIL.sub(" ", text).split()), _LONGEST)
