"""HTTP requests to a server, and its responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qs, quote, urlsplit

import msgspec

from drumbeat.model.encoding.json_depth import DEEPEST_BODY, MOST_DEPTH, is_deeper
from drumbeat.model.errors import InvalidArguments, Unavailable, UnserialisableArguments

T = TypeVar("T")

Query: TypeAlias = Sequence[tuple[str, str]]

LINK = "link"


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request."""

    method: str
    path: str
    """Below the URL of the server, with each name quoted."""
    query: Query = ()
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    idempotent: bool = False
    """Whether it may arrive twice. A GET always may."""
    extra_seconds: float = 0.0
    """Added to the timeout, for requests that wait for something."""
    accepted: tuple[int, ...] = ()
    """Error statuses whose body is a result."""
    subject: int | str = ""
    """The job, schedule or the like that the request names, for errors about it."""

    @property
    def may_be_repeated(self) -> bool:
        """Whether it may be sent again when its outcome is not known."""
        return self.idempotent or self.method == "GET"


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """An HTTP response."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    def read(self, kind: type[T]) -> T:
        """The body, decoded as that type."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except msgspec.DecodeError as error:
            raise Unavailable(
                f"the response is not one of Drumbeat: {error}; is the server of an older version, "
                f"or is it another server?"
            ) from None

    @property
    def next(self) -> str | None:
        """The cursor of the next page; None: this is the last one."""
        target, _, relation = self.headers.get(LINK, "").partition(">")
        if 'rel="next"' not in relation:
            return None
        found = parse_qs(urlsplit(target.removeprefix("<")).query).get("after")
        return found[0] if found else None


def path_of(*segments: str | int) -> str:
    """The path of these segments, each quoted."""
    return "".join(f"/{_quoted(str(segment))}" for segment in segments)


def _quoted(name: str) -> str:
    if name in (".", ".."):  # a proxy would normalise these away
        return name.replace(".", "%2E")
    return quote(name, safe="", errors="surrogatepass")


def body_of(value: Any) -> bytes:
    """The value as JSON; `UnserialisableArguments` if JSON cannot represent it."""
    try:
        body = msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise UnserialisableArguments(f"the request cannot be written as JSON: {error}") from None
    if is_deeper(body, DEEPEST_BODY):
        raise InvalidArguments(
            f"the request is nested more than {MOST_DEPTH} levels deep; flatten it, or pass it as "
            f"text"
        )
    return body
