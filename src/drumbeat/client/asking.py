"""Asking: what every noun of the client does to reach the server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from drumbeat.client.request import Answer, Query, Request, body_of
from drumbeat.model.page import LARGEST_PAGE, Page, PageRequest

if TYPE_CHECKING:
    from drumbeat.client.exchange import Exchange

T = TypeVar("T")
V = TypeVar("V")


class Noun:
    """A part of the client: it shares the connections of the whole."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def _get(self, path: str, query: Query = (), about: int | str = "") -> Answer:
        return await self._exchange.ask(Request("GET", path, query, about=about))

    async def _post(self, path: str, body: Mapping[str, Any], about: int | str = "") -> Answer:
        return await self._exchange.ask(Request("POST", path, body=body_of(body), about=about))

    async def _delete(self, path: str, about: int | str = "") -> Answer:
        return await self._exchange.ask(Request("DELETE", path, about=about))

    async def _page(
        self, request: Request, page: PageRequest | None, kind: type[V], of: Callable[[V], T]
    ) -> Page[T]:
        wanted = page or PageRequest()
        query = [*request.query, ("limit", str(wanted.size))]
        if wanted.after is not None:
            query.append(("after", wanted.after))
        answer = await self._exchange.ask(replace(request, query=query))
        found: list[V] = answer.read(list[kind])  # type: ignore[valid-type]
        return Page(tuple(of(view) for view in found), answer.next)


async def every_page(ask: Callable[[PageRequest], Awaitable[Page[T]]]) -> AsyncGenerator[T]:
    """The items of all pages, one after the other."""
    after: str | None = None
    while True:
        page = await ask(PageRequest(LARGEST_PAGE, after))
        for item in page.items:
            yield item
        after = page.next
        if after is None:
            return
