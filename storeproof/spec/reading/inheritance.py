"""Inheritance of store files with `extends`, and `${here}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from storeproof.errors import SpecError
from storeproof.regular_file import Unreadable
from storeproof.spec.reading.reader import reader

STORES = (Path(__file__).parents[1] / "data" / "stores").resolve()
"""Files of the stores that come with the project; `extends:` may name one of them."""

OWN = ("format", "store", "title", "product", "makers_packages", "support", "known_failures")
"""Fields that are not inherited: who made one product, and how it fails, says nothing about another."""

_DEPTH = 8
"""Levels of mappings that are merged; deeper than any store file. Aliases can make a file infinitely deep."""
_HERE = re.compile(r"\$(?:\$|\{here\}|here\b)")


def base_of(path: Path, node: yaml.Node, bases: Path) -> tuple[Path, int] | None:
    """The file that this one extends, and the line that says so; None if it extends none.

    Args:
        path: the file.
        node: its content.
        bases: the folder of the stores that it may name.

    Raises:
        SpecError: the file cannot be read.
    """
    found = _field(node, "extends")
    if found is None:
        return None
    line, named = found.start_mark.line + 1, found.value if isinstance(found, yaml.ScalarNode) else ""
    if not named:
        raise SpecError([f"{path}:{line}: extends: allowed: the name of a store, or the path of a store's YAML file relative to this one"])
    file = path.parent / named if named.endswith((".yaml", ".yml")) else bases / f"{named}.yaml"
    try:
        reader().open(file).close()
    except Unreadable as reason:
        names = ", ".join(each.stem for each in reader().listed(bases))
        allowed = f"the path of a store's YAML file relative to this one, or one of {names}"
        raise SpecError([f"{path}:{line}: extends: found '{named}', which {reason}; allowed: {allowed}"]) from None
    return reader().settled(file), line


def settle(path: Path, node: yaml.Node, *, extended: bool) -> None:
    """Make the file's relative paths absolute: `${here}` under `launch` and `topologies`, and the adapter's if the file is extended."""
    here = str(reader().settled(path).parent).replace("$", "$$")
    visited: set[int] = set()
    for text in (*_texts(_field(node, "launch"), visited), *_texts(_field(node, "topologies"), visited)):
        text.value = _HERE.sub(lambda found: found[0] if found[0] == "$$" else here, text.value)
    adapter = _field(node, "adapter")
    if extended and isinstance(adapter, yaml.ScalarNode) and adapter.value.endswith(".py"):
        adapter.value = str(reader().settled(path.parent / adapter.value))


def merged(path: Path, base: yaml.Node, own: yaml.Node) -> yaml.Node:
    """The base overridden by the file: mappings are merged, other values replaced, and `null` removes a field. Raises `SpecError`:
    `variants: {only: [...]}` lists one that is not inherited."""
    if isinstance(base, yaml.MappingNode):
        inherited = [(key, value) for key, value in base.value if key.value not in (*OWN, "extends")]
        base = yaml.MappingNode(base.tag, inherited, base.start_mark, base.end_mark)
    return _merged(base, _spelled_out(path, base, own), _DEPTH)


def _spelled_out(path: Path, base: yaml.Node, own: yaml.Node) -> yaml.Node:
    """The file with `variants: {only: [...]}` as it would be without that word: each inherited variant that is not listed is `null`."""
    inherited, said = _field(base, "variants"), _field(own, "variants")
    only = _field(said, "only")
    if not (isinstance(inherited, yaml.MappingNode) and isinstance(said, yaml.MappingNode) and isinstance(only, yaml.SequenceNode)):
        return own
    keys, listed = {key.value: key for key, _ in inherited.value}, [str(each.value) for each in only.value]
    if unknown := next((each for each in listed if each not in keys), None):
        raise SpecError([f"{path}:{only.start_mark.line + 1}: variants.only: found '{unknown}'; allowed: {', '.join(keys)}"])
    null = yaml.ScalarNode("tag:yaml.org,2002:null", "null", only.start_mark, only.end_mark)
    pairs = [(key, null) for name, key in keys.items() if name not in listed] + [pair for pair in said.value if pair[1] is not only]
    spelled = yaml.MappingNode(said.tag, pairs, said.start_mark, said.end_mark)
    fields = [(key, spelled if value is said else value) for key, value in own.value]
    return yaml.MappingNode(own.tag, fields, own.start_mark, own.end_mark)


def _merged(base: yaml.Node, own: yaml.Node, depth: int) -> yaml.Node:
    if not (isinstance(base, yaml.MappingNode) and isinstance(own, yaml.MappingNode) and depth):
        return own
    fields = {key.value: (key, value) for key, value in base.value}
    for key, value in own.value:
        if value.tag == "tag:yaml.org,2002:null" and key.value in fields:
            del fields[key.value]
        else:
            fields[key.value] = (key, _merged(fields[key.value][1], value, depth - 1) if key.value in fields else value)
    return yaml.MappingNode(own.tag, list(fields.values()), own.start_mark, own.end_mark)


def _field(node: yaml.Node | None, name: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _texts(node: yaml.Node | None, visited: set[int]) -> Iterator[yaml.ScalarNode]:
    """All scalar values under a node, each once."""
    if node is None or id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.CollectionNode):
        for item in node.value:
            yield from _texts(item[1] if isinstance(item, tuple) else item, visited)
