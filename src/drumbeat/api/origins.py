"""Origins: a browser may change something only for a page of ours.

A browser sends cookies, and reaches what listens on its own machine, for whatever page asks it to.
So a change that a browser asks for has to say that the page is ours. Programs that are no browsers
say nothing of the kind, and need not, as long as they do not come by a cookie.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from drumbeat.api.peer import Headers, Peer, text
from drumbeat.api.problem import Problem

ORIGINS = frozenset({b"origin", b"sec-fetch-site"})
"""The headers by which a browser tells."""


def check_origin(peer: Peer, headers: Headers, *, needed: bool) -> None:
    """Refuse a change that a page of others asks for; `needed`: also one that does not say."""
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
