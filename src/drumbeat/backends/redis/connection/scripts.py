"""Scripts: Lua from `.lua` files, run by its digest."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha1
from importlib.resources import files

COMMON = "common.lua"
"""Functions for all scripts of a package."""


@dataclass(frozen=True, slots=True)
class Script:
    """One script, and the digest by which the server caches it."""

    name: str
    text: str
    digest: str


class Scripts:
    """The scripts of one package, by name."""

    def __init__(self, package: str) -> None:
        self._folder = files(package)
        self._common = self._folder.joinpath(COMMON).read_text(encoding="utf-8")

    def named(self, name: str) -> Script:
        """The script of that name, with the common functions in front."""
        own = self._folder.joinpath(f"{name}.lua").read_text(encoding="utf-8")
        text = f"{self._common}\n{own}"
        digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
        return Script(name, text, digest)
