"""The site: the dashboard at `/`, and the HTTP API at every other path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Generic, TypeAlias, TypeVar

from drumbeat.dashboard.files import File, built_files

Connection: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi: TypeAlias = Callable[[Connection, Receive, Send], Awaitable[None]]
App = TypeVar("App", bound=Asgi)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy: only our own files, nothing inline, no frames."""
SAFE = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"vary", b"accept-encoding"),
)
SHOWS = ("GET", "HEAD")


class Site(Generic[App]):
    """An ASGI app. Everybody may load the page: it has no data, and asks the API for all of it."""

    def __init__(self, api: App) -> None:
        self.api = api

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        """Send a file of the dashboard, or let the API answer."""
        if connection["type"] != "http" or connection["method"] not in SHOWS:
            await self.api(connection, receive, send)
            return
        root: str = connection.get("root_path", "")
        path: str = connection["path"].removeprefix(root) if root else connection["path"]
        if not path:  # mounted, and called without the slash that relative addresses need
            await _redirect(f"{root}/", send)
        elif (file := built_files().get(path)) is not None:
            await _send(file, connection, send)
        else:
            await self.api(connection, receive, send)


async def _send(file: File, connection: Connection, send: Send) -> None:
    wanted = dict(connection["headers"])
    headers = [*SAFE, (b"cache-control", file.caching.encode()), (b"etag", file.tag.encode())]
    if file.tag.encode() in wanted.get(b"if-none-match", b""):
        await _answer(304, headers, b"", send)
        return
    body = file.body
    if b"gzip" in wanted.get(b"accept-encoding", b""):
        body = file.compressed
        headers.append((b"content-encoding", b"gzip"))
    headers.append((b"content-type", file.media_type.encode()))
    headers.append((b"content-length", b"%d" % len(body)))
    await _answer(200, headers, b"" if connection["method"] == "HEAD" else body, send)


async def _redirect(path: str, send: Send) -> None:
    headers = [*SAFE, (b"location", path.encode("latin-1")), (b"content-length", b"0")]
    await _answer(308, headers, b"", send)


async def _answer(status: int, headers: list[tuple[bytes, bytes]], body: bytes, send: Send) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
