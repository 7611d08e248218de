"""The JSON Schema of one kind of file, for editors and other tools."""

from __future__ import annotations

import ast
import json
from inspect import cleandoc, getsource
from itertools import pairwise
from textwrap import dedent
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(name: str, kind: type[BaseModel], version: str) -> str:
    """As text; its `$id` is `urn:storeproof:NAME:VERSION`.

    A file that `extends` another inherits the rest: only the fields that are never inherited are required.
    """
    schema = kind.model_json_schema(schema_generator=_Described)
    if "extends" in schema["properties"]:
        own = [field for field in ("format", "store", "title", "product") if field in schema["required"]]
        whole = _referring(schema, "#/$defs/whole/$defs/")
        part = _referring(_without_required(schema), "#/$defs/part/$defs/") | {"required": ["extends", *own]}
        if "variants" in part["properties"]:
            (variant,) = part["properties"]["variants"]["anyOf"][0]["patternProperties"].values()
            variant["anyOf"].append({"items": {"type": "string"}, "type": "array"})  # of `only`; not every dialect can exclude one name
        schema = {
            "$defs": {"part": part, "whole": whole},
            "if": {"required": ["extends"]},
            "then": {"$ref": "#/$defs/part"},
            "else": {"$ref": "#/$defs/whole"},
        }
    described = {"$schema": DIALECT, "$id": f"urn:storeproof:{name}:{version}", **schema}
    return json.dumps(described, indent=2, sort_keys=True) + "\n"


class _Described(GenerateJsonSchema):
    """Fields with the docstrings below them. Pydantic's own `use_attribute_docstrings` parses the source of each model at import,
    which took a third of the time in which a command starts."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        found, kind = super().model_schema(schema), schema["cls"]
        for each in reversed(kind.__mro__):
            if issubclass(each, BaseModel) and each is not BaseModel:
                for name, text in _docstrings(each).items():
                    if name in kind.model_fields:
                        found["properties"][kind.model_fields[name].alias or name]["description"] = text
        return found


def _docstrings(kind: type[BaseModel]) -> dict[str, str]:
    """By field, of those that the class itself has."""
    (definition,) = ast.parse(dedent(getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: cleandoc(below.value.value)
        for field, below in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }


def _referring(part: Any, place: str) -> Any:
    """A part of a schema with its references moved to another place."""
    if isinstance(part, dict):
        return {
            key: value.replace("#/$defs/", place) if key == "$ref" and isinstance(value, str) else _referring(value, place)
            for key, value in part.items()
        }
    return [_referring(each, place) for each in part] if isinstance(part, list) else part


def _without_required(part: Any) -> Any:
    """A schema in which every field may be missing, or `null` to remove an inherited one."""
    if not isinstance(part, dict):
        return [_without_required(each) for each in part] if isinstance(part, list) else part
    relaxed = {key: _without_required(value) for key, value in part.items() if not (key == "required" and isinstance(value, list))}
    for holder in ("properties", "patternProperties"):
        if isinstance(relaxed.get(holder), dict):
            relaxed[holder] = {name: _or_null(value) for name, value in relaxed[holder].items()}
    if isinstance(relaxed.get("additionalProperties"), dict):
        relaxed["additionalProperties"] = _or_null(relaxed["additionalProperties"])
    return relaxed


def _or_null(schema: Any) -> Any:
    description = {"description": schema["description"]} if "description" in schema else {}
    return {"anyOf": [schema, {"type": "null"}], **description}
