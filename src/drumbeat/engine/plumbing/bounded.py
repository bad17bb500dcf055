"""Bounded: calls a function for any number of items, with a limit on concurrent calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from drumbeat.model.errors import InvalidOption

T = TypeVar("T")
R = TypeVar("R")


async def bounded(
    function: Callable[[T], Awaitable[R]], items: Iterable[T], limit: int = 50
) -> list[R]:
    """Call the function for each item, with at most `limit` calls at once; results in order.

    Items are taken from the iterable only when a call can begin, so that there may be any number.
    The first error cancels the calls under way and is raised, in an exception group.
    """
    if limit < 1:
        raise InvalidOption(f"limit must be at least 1, not {limit}")
    results: dict[int, R] = {}
    numbered = enumerate(items)
    async with asyncio.TaskGroup() as group:
        for _ in range(limit):
            group.create_task(_take(function, numbered, results))
    return [results[number] for number in range(len(results))]


async def _take(
    function: Callable[[T], Awaitable[R]],
    numbered: Iterator[tuple[int, T]],
    results: dict[int, R],
) -> None:
    for number, item in numbered:
        results[number] = await function(item)
