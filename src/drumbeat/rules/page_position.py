"""Page positions: where a page ended, as an opaque text that only the store reads."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from drumbeat.model.errors import InvalidPage
from drumbeat.model.page import PageRequest

Item = TypeVar("Item")


def place_after(page: PageRequest, kind: str) -> str | None:
    """The key after which the page begins; None: at the start."""
    if page.after is None:
        return None
    found, colon, key = page.after.partition(":")
    if found != kind or not colon:
        raise no_place(page)
    return key


def number_after(page: PageRequest, kind: str) -> int | None:
    """The number after which the page begins, in descending order; None: at the start."""
    after = place_after(page, kind)
    if after is None:
        return None
    if not (after.isascii() and after.isdecimal()):
        raise no_place(page)
    return int(after)


def place(kind: str, key: object) -> str:
    return f"{kind}:{key}"


def no_place(page: PageRequest) -> InvalidPage:
    return InvalidPage(
        f"no page ended at {page.after!r}; give the `next` of an earlier page, over HTTP the "
        f"`after` in its Link header"
    )


def cut(items: Iterable[Item], size: int) -> tuple[tuple[Item, ...], bool]:
    """The first items, and whether there are more."""
    taken = tuple(islice(items, size + 1))
    return taken[:size], len(taken) > size
