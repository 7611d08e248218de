"""The command line of a run of the suites: every such line that storeproof prints for a reader to run is written here."""

from __future__ import annotations

import os
import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final, Self

from storeproof.spec.edition import FROZEN_PATTERN

_SUITES: Final = os.path.realpath(Path(__file__).with_name("suites"))
_DEFAULT: Final = "auto"
"""What `--power-cut` and `--engine` are without being given."""
_LAUNCHES: Final = ("container", "process", "endpoint")
_PACKAGE: Final = "storeproof.suites"


@dataclass(frozen=True, kw_only=True)
class RunCommand:
    """A run of the suites, as a shell is told of it. What is empty is not in the line.

    `str()` is the line, quoted for a shell. But for `suites`, the fields are the options of that name, in the order of the line.
    """

    suites: Sequence[str] = ()
    """Which of them: paths below their folder, such as `durability`, or tests, such as `durability/test_full_disk.py::test_full_disk`;
    none: all."""
    needs: str | None = None
    store: Sequence[str] = ()
    profile: Sequence[str] = ()
    scale: str | None = None
    edition: str | None = None
    """Its version. A draft is what is tried without the option, and cannot be named."""
    launch: str | None = None
    """How the store is started; the kind of a composite store, which a result has here, cannot be named."""
    endpoint: Sequence[str] = ()
    """`STORE=URL`, with passwords masked: the caller sees to it."""
    image: Sequence[str] = ()
    """`STORE=IMAGE`."""
    hosts: str | None = None
    data_dir: str | None = None
    disk: Sequence[str] = ()
    """`NAME=PATH`."""
    power_cut: str | None = None
    engine: str | None = None
    corpus: Sequence[str] = ()
    records: str | None = None
    laps: str | None = None
    cores: str | int | None = None
    memory: str | None = None
    anatomy: bool = False
    proof: Sequence[str] = ()
    seed: str | int | None = None
    report_dir: str | None = None
    keyword: str | None = None
    """What `-k` selects."""

    def __str__(self) -> str:
        return " ".join(("pytest", *(_quoted(word) for word in self.arguments())))

    def arguments(self) -> list[str]:
        """The words after `pytest`, not quoted. They name the suites by folder, and outside the installed checkout by package."""
        parts, in_checkout = self.suites or ("",), os.path.realpath("suites") == _SUITES
        words = [f"suites/{part}" for part in parts] if in_checkout else ["--pyargs", *map(in_package, parts)]
        for option in _OPTIONS:
            name, given = f"--{option.replace('_', '-')}", getattr(self, option)
            if option in _FLAGS:
                words += [name] if given else []
                continue
            values = (given,) if isinstance(given, (str, int)) else given or ()
            words += [f"{name}={value}" for value in values if _is_named(option, str(value))]
        return [*words, "-k", self.keyword] if self.keyword else words

    def process(self) -> list[str]:
        """What starts it as a process with this interpreter, which leaves no cache in the folder that it is started in."""
        return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *self.arguments()]

    @classmethod
    def given(cls, option: Namespace) -> Self:
        """The options of a run, as pytest has parsed them; none of its suites and `-k`."""
        return cls(**{name: value for name in _OPTIONS if (value := getattr(option, name, None)) is not None})

    def about(self, stores: Collection[str]) -> Self:
        """Without what it says of other stores than these: a run that does not try them refuses it."""
        endpoint, image = ([each for each in given if each.partition("=")[0] in stores] for given in (self.endpoint, self.image))
        return replace(self, endpoint=endpoint, image=image, hosts=self.hosts if endpoint else None)

    @classmethod
    def read(cls, line: str) -> Self:
        """From a line that someone typed, without the options that are not storeproof's. A line that no shell would read has none."""
        try:
            words = iter(shlex.split(line)[1:])
        except ValueError:
            return cls()
        found: dict[str, list[str]] = {}
        flags: dict[str, bool] = {}
        for word in words:
            option, equals, value = word.partition("=")
            name = "keyword" if option == "-k" else option.removeprefix("--").replace("-", "_")
            if option.startswith("--") and name in _FLAGS:
                flags[name] = True
            elif option.startswith("-") and name in (*_OPTIONS, "keyword"):
                found.setdefault(name, []).append(value if equals else next(words, ""))
            elif (part := _part(word)) is not None:
                found.setdefault("suites", []).append(part)
        return cls(**{name: tuple(values) if name in _SEVERAL else values[-1] for name, values in found.items()}, **flags)  # type: ignore[arg-type]


_OPTIONS: Final = tuple(each.name for each in fields(RunCommand) if each.name not in ("suites", "keyword"))
_FLAGS: Final = tuple(each.name for each in fields(RunCommand) if each.default is False)
"""Those without a value."""
_SEVERAL: Final = tuple(each.name for each in fields(RunCommand) if each.default == ())


def _is_named(option: str, value: str) -> bool:
    if option == "edition":
        return re.fullmatch(FROZEN_PATTERN, value) is not None
    return value in _LAUNCHES if option == "launch" else value not in ("", _DEFAULT)


def in_package(part: str) -> str:
    """A path below the suites as `--pyargs` takes it: `storeproof.suites.durability.test_bootstrap::test_bootstrap[...]`."""
    path, colons, test = part.partition("::")
    return ".".join((_PACKAGE, *filter(None, path.removesuffix(".py").split("/")))) + colons + test


def _part(word: str) -> str | None:
    """The path below the suites that a word of a line names, by their folder or by their package; None: it names none."""
    path, colons, test = word.partition("::")
    if path.startswith(_PACKAGE):
        inner = path.removeprefix(_PACKAGE).strip(".").replace(".", "/")
        return re.sub(r"\btest_\w+$", r"\g<0>.py", inner) + colons + test
    folder = re.fullmatch(r"(?:.*/)?suites(?:/(.*))?", path)
    return None if folder is None else (folder[1] or "") + colons + test


def _quoted(word: str) -> str:
    """For a shell; of an option only its value is."""
    option, equals, value = word.partition("=")
    return f"{option}={shlex.quote(value)}" if equals and option.startswith("--") else shlex.quote(word)
