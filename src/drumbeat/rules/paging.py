"""Paging: where a page ended, written as a word that only a store reads."""

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
    """The number after which the page begins, in a list by falling number; None: at the start."""
    after = place_after(page, kind)
    if after is None:
        return None
    if not (after.isascii() and after.isdecimal()):
        raise no_place(page)
    return int(after)


def place(kind: str, key: object) -> str:
    """The word for a place in a list of some kind."""
    return f"{kind}:{key}"


def no_place(page: PageRequest) -> InvalidPage:
    """The error for a place that no page gave out."""
    return InvalidPage(
        f"no page ended at {page.after!r}; give the `next` of an earlier page, over HTTP the "
        f"`after` in its Link header"
    )


def cut(items: Iterable[Item], size: int) -> tuple[tuple[Item, ...], bool]:
    """The first items, and whether there are more."""
    taken = tuple(islice(items, size + 1))
    return taken[:size], len(taken) > size
