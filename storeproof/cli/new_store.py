"""`storeproof new-store`; and `storeproof manual`: the installed copies of CONTRIBUTING, and of the pages on the store's file, requests and
conformance claims."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from storeproof.errors import UsageError
from storeproof.run_command import RunCommand
from storeproof.spec.base import NAME_PATTERN, PATTERN_WORDS
from storeproof.spec.loader import SPEC_ROOT
from storeproof.spec.reading.explain import unknown

_TEMPLATES = Path(__file__).with_name("templates")


def new_store(name: str, directory: Path, *, embedded: bool) -> None:
    """Write `NAME.yaml` and `NAME_store.py` into a directory, and say what to do next.
    Raises `UsageError`: the name is invalid, a file exists already, or the directory cannot be written."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise UsageError(f"invalid store name {name!r}; allowed: {PATTERN_WORDS[NAME_PATTERN]}")
    module = f"{re.sub('[^a-z0-9]', '_', name)}_store"
    values = {
        "@NAME@": name,
        "@TITLE@": name.capitalize(),
        "@MODULE@": module,
        "@SCHEMA@": str(SPEC_ROOT / "schema" / "stores.json"),
    }
    kind = "embedded" if embedded else "server"
    files = {directory / f"{name}.yaml": f"{kind}.yaml.txt", directory / f"{module}.py": f"{kind}.py.txt"}
    if there := [str(path) for path in files if path.exists()]:
        raise UsageError(
            f"{' and '.join(there)} {'exists' if len(there) == 1 else 'exist'} already; nothing was written; choose another name"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, template in files.items():
            text = (_TEMPLATES / template).read_text(encoding="utf-8")
            for word, value in values.items():
                text = text.replace(word, value)
            path.write_text(text, encoding="utf-8")
    except OSError as reason:
        raise UsageError(f"{directory} cannot be written: {reason.strerror}; name another with --directory") from None
    store, adapter = files
    print(f"{store}: how to start the store, its variants and its claims")
    print(f"{adapter}: the adapter{' and the host process of the library' if embedded else ', which calls the client library'}")
    print(f"Fill them in (storeproof manual 'add a store'), then: {RunCommand(store=[str(store)])}")
    print("A bundle that others can verify, and a badge: storeproof manual conformance")


_FOLDER = Path(__file__).with_name("pages")
_PAGES: Final = {"store file": "STORE_FILE.md", "query": "QUERY.md", "conformance": "CONFORMANCE.md"}
"""Topics that are pages of their own, and their files."""


def topics() -> dict[str, str]:
    """The texts by topic (in lower case): the sections of CONTRIBUTING, and the pages."""
    sections = re.split(r"^## (.+)\n", (_FOLDER / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {title.lower(): f"## {title}\n{text}" for title, text in zip(sections[1::2], sections[2::2], strict=True)}
    return found | {topic: (_FOLDER / file).read_text(encoding="utf-8") for topic, file in _PAGES.items()}


def manual(wanted: str) -> str:
    """The text of a topic; without a topic, the list of topics. Raises `UsageError`: there is no such topic."""
    known = topics()
    if not wanted:
        return "\n".join(["storeproof manual TOPIC", *(f"  {topic}" for topic in known), "storeproof manual all"])
    if wanted == "all":
        return "\n".join(text.rstrip() + "\n" for text in known.values())
    named = [topic for topic in known if topic == wanted.lower()] or [topic for topic in known if topic.startswith(wanted.lower())]
    if len(named) != 1:
        raise UsageError(unknown("topic", wanted, known, extra="or `all`"))
    return known[named[0]].rstrip()
