"""The built files of the dashboard, with what a response needs of each."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

INDEX = "index.html"
ASSETS = "assets"
"""The folder of files whose names contain a hash of their content."""
MEDIA_TYPES: Mapping[str, str] = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
FOR_EVER = "public, max-age=31536000, immutable"
CHECK_FIRST = "no-cache"


@dataclass(frozen=True, slots=True)
class File:
    """A built file."""

    body: bytes
    compressed: bytes
    """The body by gzip."""
    media_type: str
    tag: str
    """The entity tag."""
    caching: str
    """The `Cache-Control` header."""


@cache
def built_files() -> Mapping[str, File]:
    """The files by their paths below the place of the page: `/` and `/assets/...`."""
    folder = files("drumbeat.dashboard") / "static"
    assets = {f"/{ASSETS}/{each.name}": _file(each, FOR_EVER) for each in _assets(folder)}
    return {"/": _file(folder / INDEX, CHECK_FIRST), **assets}


def _assets(folder: Traversable) -> list[Traversable]:
    return sorted((folder / ASSETS).iterdir(), key=lambda each: each.name)


def _file(found: Traversable, caching: str) -> File:
    body = found.read_bytes()
    return File(
        body,
        gzip.compress(body, mtime=0),
        MEDIA_TYPES[found.name.rpartition(".")[2]],
        f'"{sha256(body).hexdigest()[:32]}"',
        caching,
    )
