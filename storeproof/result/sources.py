"""The files that judged a store, by their SHA-256: so that a reader can tell whether they are those of the project."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import storeproof
from storeproof.regular_file import Unreadable
from storeproof.spec.reading.inheritance import STORES
from storeproof.spec.reading.reader import reader
from storeproof.spec.reading.source import plain
from storeproof.spec.store import Target

OWN: Final = "own/"
"""How the names of a vendor's own files begin; those of the project are called as in a checkout."""
SPEC_STORES: Final = "spec/stores/"
"""How the names of the project's store files begin."""
CARRIED: Final = (OWN, SPEC_STORES)
"""Files that are in a bundle: the verdicts depend on what a store's file says."""
MACHINERY: Final = "storeproof"
SUITES: Final = "suites"
NATIVE: Final = "native"

_PACKAGE: Final = Path(storeproof.__file__).resolve().parent
_ADAPTERS: Final = (_PACKAGE / "adapters").resolve()
INSTALLED: Final = (_PACKAGE, _ADAPTERS, STORES.parent)
"""The folders of this installation from which claims are verified."""
_IMPORTED: Final = re.compile(r"^[ \t]*(?:from|import)[ \t]+storeproof\.adapters(?:\.|[ \t]+import[ \t]+)(\w+)", re.MULTILINE)
_LINKED: Final = ("adapters", "suites", "spec/data")
"""Parts of the package that are digested by themselves: adapters with their store, the specification as the edition."""


def digests_of_run() -> dict[str, str]:
    """Digests of what all stores share: the machinery and the suites, each as one, and the compiled part where there is one."""
    linked = [_PACKAGE / name for name in _LINKED]
    machinery = [path for path in _files(_PACKAGE, "*.py") if not any(path.is_relative_to(each) for each in linked)]
    found = {MACHINERY: _together(_PACKAGE, machinery), SUITES: _together(_PACKAGE / SUITES, _files(_PACKAGE / SUITES, "*.py"))}
    compiled = next(iter(sorted(_PACKAGE.glob(f"{NATIVE}*.so"))), None)
    return found if compiled is None else {**found, NATIVE: _digest(compiled)}


def sources_of(target: Target) -> dict[str, Path]:
    """The store's file first, those that it extends, and all modules of its adapter; of a composite store, of its servers too.

    The names of a vendor's own files are relative to the folder that holds them all, so that the files still find each other under them.

    Raises:
        SpecError: a store's file cannot be read.
        OSError: another file cannot.
    """
    files: dict[Path, None] = {}
    for each in (target, *target.parts.values()):
        files |= dict.fromkeys(chain(each.file))
        if each.store.adapter.endswith(".py"):
            own = reader().settled(each.file.parent / each.store.adapter)
            files[own] = None
            files |= dict.fromkeys(_imported([own]))
        else:
            files |= dict.fromkeys(_modules(each.store.adapter))
    home = _common(path for path in files if not _shipped(path))
    return {_shipped(path) or OWN + path.relative_to(home).as_posix(): path for path in files}


def digests(sources: Mapping[str, Path]) -> dict[str, str]:
    """The SHA-256 of each file, by its name. Raises `OSError`: one cannot be read."""
    return {name: _digest(path) for name, path in sources.items()}


def project_files() -> dict[str, str]:
    """The SHA-256 of the project's store files and adapters, as `by_file` has them."""
    paths = {_shipped(path): path for path in (*sorted(STORES.glob("*.yaml")), *_files(_ADAPTERS, "*"))}
    return by_file(digests(paths))


def by_file(sources: Mapping[str, str]) -> dict[str, str]:
    """The SHA-256 of each of the project's store files, and of each adapter as a whole, out of those of single files."""
    found: dict[str, str] = {}
    adapters: dict[str, list[str]] = {}
    for name, digest in sources.items():
        if name.startswith(SPEC_STORES):
            found[name] = digest
        elif not name.startswith(OWN):
            adapters.setdefault("/".join(name.split("/")[:2]), []).append(f"{name}\0{digest}\n")
    together = {name: hashlib.sha256("".join(sorted(each)).encode()).hexdigest() for name, each in adapters.items()}
    return dict(sorted((found | together).items()))


def chain(path: Path, bases: Path = STORES) -> Iterator[Path]:
    """A store's file, and those that it extends, by name in the folder `bases`; the loader has refused circles."""
    yield path
    named = plain(path).get("extends")
    if isinstance(named, str):
        base = path.parent / named if named.endswith((".yaml", ".yml")) else bases / f"{named}.yaml"
        yield from chain(reader().settled(base), bases)


def _modules(name: str) -> dict[Path, None]:
    """The files of an adapter of the project, and of those that it imports."""
    found: dict[Path, None] = {}
    wanted, known = [name], set[str]()
    while wanted:
        each = wanted.pop()
        if each in known:
            continue
        known.add(each)
        files = _files(_ADAPTERS / each, "*") if (_ADAPTERS / each).is_dir() else [_ADAPTERS / f"{each}.py"]
        found |= dict.fromkeys(files)
        wanted += adapters_imported(files)
    return found


def _imported(files: Iterable[Path]) -> Iterator[Path]:
    for name in adapters_imported(files):
        yield from _modules(name)


def adapters_imported(files: Iterable[Path]) -> list[str]:
    """The adapters of the project that files import."""
    found = list[str]()
    for path in files:
        if path.suffix == ".py":
            with _opened(path) as file:
                found += _IMPORTED.findall(file.read().decode("utf-8", errors="replace"))
    return found


def _shipped(path: Path) -> str:
    """What a file of the project is called; empty for a vendor's own."""
    for folder, name in ((STORES, SPEC_STORES), (_ADAPTERS, "adapters/")):
        if path.is_relative_to(folder):
            return f"{name}{path.relative_to(folder).as_posix()}"
    return ""


def _common(paths: Iterable[Path]) -> Path:
    folders = [str(path.parent) for path in paths]
    return Path(os.path.commonpath(folders)) if folders else Path()


def _files(folder: Path, pattern: str) -> list[Path]:
    return [path for path in sorted(folder.rglob(pattern)) if path.is_file() and "__pycache__" not in path.parts]


def _together(root: Path, files: Iterable[Path]) -> str:
    """One digest of files with their names."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(root).as_posix()}\0{_digest(path)}\n".encode())
    return digest.hexdigest()


def _digest(path: Path) -> str:
    with _opened(path) as file:
        return hashlib.sha256(file.read()).hexdigest()


def _opened(path: Path) -> BinaryIO:
    """Raises `OSError`: it cannot be read."""
    try:
        return reader().open(path)
    except Unreadable as reason:
        raise OSError(f"{path} {reason}") from None
