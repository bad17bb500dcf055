"""Scripts: Lua from `.lua` files, run by its digest."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from importlib.resources import files
from typing import NamedTuple

COMMON = "common"
"""The file with functions for all scripts of a package."""


class Script(NamedTuple):
    """One script, and the digest by which the server caches it."""

    text: str
    digest: str


def read_scripts(package: str) -> Mapping[str, Script]:
    """The scripts of a package by name, each with the common functions in front."""
    texts = {
        file.name.removesuffix(".lua"): file.read_text(encoding="utf-8")
        for file in files(package).iterdir()
        if file.name.endswith(".lua")
    }
    common = texts.pop(COMMON)
    return {name: _script(f"{common}\n{text}") for name, text in texts.items()}


def _script(text: str) -> Script:
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())
