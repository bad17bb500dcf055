"""Calls: one request, read and checked, as a route sees it."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

from drumbeat.api.desk import Desk
from drumbeat.model.token import Scope, TokenRecord

if TYPE_CHECKING:
    from drumbeat.api.gate import Gate

Query = TypeVar("Query", bound=Struct)
Body = TypeVar("Body")


class Nothing(Struct, forbid_unknown_fields=True):
    """The query of a route that takes none."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and what they may do."""

    name: str
    """For the audit log: the token's name, a person's, or how they came in."""
    scope: Scope | None
    """None: nobody knows them; they see only what is open to anybody."""
    session: TokenRecord | None = None
    """The browser session that they came by."""

    def may(self, scope: Scope) -> bool:
        """Whether they may do what needs that scope."""
        return self.scope is not None and self.scope.allows(scope)


ANYBODY = Caller("anybody", None)


@dataclass(slots=True)  # not frozen: each request makes one, and that would take five times as long
class Call(Generic[Query, Body]):
    """One request to one route."""

    desk: Desk
    caller: Caller
    path: Mapping[str, str]
    """The parts of the path that the route leaves open, unquoted."""
    query: Query
    body: Body
    headers: Mapping[bytes, bytes]
    """In lower case; of several of one name the last."""
    connection: MutableMapping[str, Any]
    """What ASGI knows of the connection."""
    gate: Gate
    """What the caller came through."""
