"""What all parts of the remote fleet share: they build requests and decode responses."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from drumbeat.fleet.remote.request import Query, Request, body_of, path_of
from drumbeat.model.page import LARGEST_PAGE, Page, PageRequest

if TYPE_CHECKING:
    from drumbeat.fleet.remote.transport import Transport

T = TypeVar("T")

REASON = "x-drumbeat-reason"
"""The header for the reason of a change whose body has no place for it."""


class RemoteResource:
    """A part of the remote fleet. All parts share one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _get(self, kind: type[T], *path: str | int, query: Query = ()) -> T:
        return await self._send(kind, request_for("GET", *path, query=query))

    async def _post(
        self,
        kind: type[T],
        *path: str | int,
        body: Any,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        request = request_for("POST", *path, body=body_of(body), headers=headers or {})
        return await self._send(kind, request)

    async def _send(self, kind: type[T], request: Request) -> T:
        return (await self._transport.send(request)).read(kind)

    async def _page(
        self, kind: type[T], *path: str | int, page: PageRequest | None, query: Query = ()
    ) -> Page[T]:
        wanted = page or PageRequest()
        query = [*query, ("limit", str(wanted.size))]
        if wanted.after is not None:
            query.append(("after", wanted.after))
        response = await self._transport.send(request_for("GET", *path, query=query))
        items: list[T] = response.read(list[kind])  # type: ignore[valid-type]
        return Page(tuple(items), response.next)


def request_for(method: str, *path: str | int, **fields: Any) -> Request:
    """A request with a path of these segments. By default, the second one is its subject."""
    fields.setdefault("subject", path[1] if len(path) > 1 else "")
    return Request(method, path_of(*path), **fields)


def reason_header(reason: str) -> dict[str, str]:
    """The header that carries a reason; none if there is no reason."""
    line = " ".join(reason.split())
    return {REASON: line} if line else {}


async def every_page(ask: Callable[[PageRequest], Awaitable[Page[T]]]) -> AsyncGenerator[T]:
    """The items of all pages."""
    after: str | None = None
    while True:
        page = await ask(PageRequest(LARGEST_PAGE, after))
        for item in page.items:
            yield item
        after = page.next
        if after is None:
            return
