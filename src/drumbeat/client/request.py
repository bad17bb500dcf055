"""Requests and answers: what is sent to a server, and what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qs, quote, urlsplit

import msgspec

from drumbeat.model.errors import InvalidArguments, Unavailable, UnserialisableArguments
from drumbeat.model.json_depth import DEEPEST_BODY, MOST_DEPTH, is_deeper
from drumbeat.wire.problem import ProblemView

T = TypeVar("T")

Query: TypeAlias = Sequence[tuple[str, str]]

LINK = "link"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the server."""

    method: str
    path: str
    """Below the address of the server, with each name quoted."""
    query: Query = ()
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    repeatable: bool = False
    """Whether it may arrive twice. A GET always may."""
    longer: float = 0.0
    """Seconds that the server may take on top: for questions that wait for something."""
    takes: tuple[int, ...] = ()
    """Statuses that are an answer although they look like a refusal."""
    about: int | str = ""
    """The job, the schedule or the like that it is about, for the error if there is none."""

    @property
    def safe(self) -> bool:
        """Whether it may be sent again when nobody knows what became of it."""
        return self.repeatable or self.method == "GET"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    problem: ProblemView | None = None
    """The refusal, if it is one that the caller said to expect."""

    def read(self, kind: type[T]) -> T:
        """The body, as a value of that type."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except msgspec.DecodeError as error:
            raise Unavailable(
                f"the server answers, but not as Drumbeat does: {error}; is its version older, or "
                f"is it another server?"
            ) from None

    @property
    def next(self) -> str | None:
        """Where the next page begins; None: there is none."""
        target, _, relation = self.headers.get(LINK, "").partition(">")
        if 'rel="next"' not in relation:
            return None
        found = parse_qs(urlsplit(target.removeprefix("<")).query).get("after")
        return found[0] if found else None


def path_of(*segments: str | int) -> str:
    """The path of these names, each quoted: a name may hold any character."""
    return "".join(f"/{_quoted(str(segment))}" for segment in segments)


def _quoted(name: str) -> str:
    if name in (".", ".."):  # which a proxy would take for a way through the path
        return name.replace(".", "%2E")
    return quote(name, safe="", errors="surrogatepass")


def body_of(value: Any) -> bytes:
    """The value as JSON; `UnserialisableArguments` if JSON cannot carry it."""
    try:
        body = msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise UnserialisableArguments(f"JSON cannot carry what was given: {error}") from None
    if is_deeper(body, DEEPEST_BODY):
        raise InvalidArguments(
            f"what was given is nested more than {MOST_DEPTH} levels deep; flatten it, or pass it "
            f"as text"
        )
    return body
