#!/usr/bin/env python3
"""Write the TypeScript types of the API for the dashboard, from the OpenAPI document."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from drumbeat.api.routes.document import document

TYPES = Path(__file__).parents[1] / "web" / "src" / "api" / "types.ts"
HEAD = "// Written by `python scripts/dashboard_types.py` from the OpenAPI document. Do not edit.\n"
WORDS = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def types() -> str:
    """The whole file."""
    schemas: Mapping[str, Any] = document()["components"]["schemas"]
    return HEAD + "".join(
        f"\n{_declaration(_name(name), schema)}\n" for name, schema in sorted(schemas.items())
    )


def _declaration(name: str, schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        return f"{_comment(schema, '')}export type {name} = {_type(schema)}"
    lines = "".join(_fields(schema))
    return f"{_comment(schema, '')}export interface {name} {{\n{lines}}}"


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    # A response has every field; what a client sends may leave out those with a default.
    sent = "additionalProperties" in schema
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        unset = name not in required and (sent or "default" not in field)
        mark = "?" if unset else ""
        yield f"{_comment(field, '  ')}  {_key(name)}{mark}: {_type(field)}\n"


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _name(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(f"'{value}'" for value in schema["enum"])
    if "anyOf" in schema:
        found = list(dict.fromkeys(_type(each) for each in schema["anyOf"]))
        return "unknown" if "unknown" in found else " | ".join(found)
    kind = schema.get("type")
    if kind == "array":
        return f"{_grouped(_type(schema.get('items') or {}))}[]"
    if kind == "object":
        values: Mapping[str, Any] | bool = schema.get("additionalProperties", False)
        return f"Record<string, {'unknown' if isinstance(values, bool) else _type(values)}>"
    return WORDS.get(str(kind), "unknown")


def _comment(schema: Mapping[str, Any], indent: str) -> str:
    text = " ".join(str(schema.get("description", "")).split())
    return f"{indent}/** {text} */\n" if text else ""


def _name(name: str) -> str:
    """A name that TypeScript takes: of two types of one name, each has its module."""
    if "." not in name:
        return name
    *_, module, last = name.split(".")
    return f"{module.title()}{last}"


def _key(name: str) -> str:
    return name if name.isidentifier() else f"'{name}'"


def _grouped(text: str) -> str:
    return f"({text})" if "|" in text else text


if __name__ == "__main__":
    TYPES.parent.mkdir(parents=True, exist_ok=True)
    TYPES.write_text(types(), encoding="utf-8")
    gc.freeze()  # the types of msgspec may crash the collection at the end of the process
