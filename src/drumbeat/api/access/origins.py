"""Origins: a browser may make changes only for our own pages.

A browser sends cookies, and reaches servers on its own machine, for any page. So a change from a
browser has to come from our own origin. Other programs send no origin, and need none unless they
authenticate by a cookie.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from drumbeat.api.access.peer import Peer, text
from drumbeat.api.http.asgi import Headers
from drumbeat.api.http.problem import Problem

ORIGINS = frozenset({b"origin", b"sec-fetch-site"})
"""The headers by which a browser names the origin of a page."""


def check_origin(peer: Peer, headers: Headers, *, needed: bool) -> None:
    """Reject a change from a foreign page; with `needed` also one without an origin."""
    site = text(headers, b"sec-fetch-site").strip().lower()
    origin = text(headers, b"origin").strip()
    if site:
        ours = site == "same-origin"
    elif origin:
        ours = _place(origin) == peer.host.lower() != ""
    else:
        ours = not needed
    if not ours:
        raise Problem(
            403,
            "foreign-origin",
            "this change was asked for by a page of another site, or by a browser that does not "
            "say by which; use the pages of this server, or an Authorization header",
            field="origin",
        )


def _place(origin: str) -> str | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None
