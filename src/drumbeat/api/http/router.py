"""The router: finds the route for a method and a path.

Segments are split before they are unquoted, so that a name may hold any character, also a slash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote_to_bytes

from drumbeat.api.http.problem import Problem
from drumbeat.api.http.route import AnyRoute

LONGEST_PATH = 4_096
DOCUMENT = "/openapi.json"
NOTHING_OPEN: Mapping[str, str] = {}


@dataclass(slots=True)
class Branch:
    """All routes below one segment."""

    fixed: dict[str, Branch] = field(default_factory=dict[str, "Branch"])
    open: Branch | None = None
    """The branch for a path parameter."""
    routes: dict[str, AnyRoute] = field(default_factory=dict[str, AnyRoute])
    """The routes that end here, by method."""


class Router:
    """The routes as a tree of segments."""

    def __init__(self, routes: Iterable[AnyRoute]) -> None:
        self._root = Branch()
        self._plain: dict[str, Branch] = {}
        """Branches without path parameters, by path: most requests go there."""
        for route in routes:
            self._add(route)
        self._hint = f"see {DOCUMENT}" if DOCUMENT in self._plain else f"it has {_all(self._plain)}"

    def _add(self, route: AnyRoute) -> None:
        branch = self._root
        for segment in route.path.strip("/").split("/"):
            if segment.startswith("{"):
                branch.open = branch.open or Branch()
                branch = branch.open
            else:
                branch = branch.fixed.setdefault(segment, Branch())
        if route.method in branch.routes:
            raise ValueError(f"{route.method} {route.path} is in the table of routes twice")
        branch.routes[route.method] = route
        if "{" not in route.path:
            self._plain[route.path] = branch

    def resolve(self, method: str, path: str) -> tuple[AnyRoute, Mapping[str, str]]:
        """The route and its path parameters; a `Problem` if there is no such route."""
        plain = self._plain.get(path)
        if plain is not None and method in plain.routes:
            return plain.routes[method], NOTHING_OPEN
        if len(path) > LONGEST_PATH:
            raise Problem(404, "no-such-path", "the path is too long to be one of ours")
        segments = path.strip("/").split("/")
        branch = _walk(self._root, segments)
        if branch is None or not branch.routes:
            raise Problem(404, "no-such-path", f"there is nothing at {path}; {self._hint}")
        route = branch.routes.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = ", ".join(sorted(branch.routes))
            raise Problem(
                405,
                "method-not-allowed",
                f"{path} takes {allowed}, not {method}",
                headers={"allow": allowed},
            )
        if "{" not in route.path:
            return route, NOTHING_OPEN
        names = route.path.strip("/").split("/")
        return route, {
            name[1:-1]: _unquoted(segment)
            for name, segment in zip(names, segments, strict=True)
            if name.startswith("{")
        }


def _all(paths: Iterable[str]) -> str:
    return ", ".join(sorted(paths))


def _walk(branch: Branch, segments: list[str]) -> Branch | None:
    for segment in segments:
        found = branch.fixed.get(segment) or branch.open
        if found is None or (found is branch.open and not segment):
            return None
        branch = found
    return branch


def _unquoted(segment: str) -> str:
    try:
        text = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise Problem(404, "no-such-path", "the path is not UTF-8") from None
    if "\x00" in text:
        raise Problem(404, "no-such-path", "the path holds a NUL, which no name does")
    return text


def quoted(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")
