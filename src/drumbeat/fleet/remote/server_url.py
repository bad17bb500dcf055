"""Checks the URL of a server."""

from __future__ import annotations

from urllib.parse import urlsplit

from drumbeat.model.errors import ConfigurationError

EXAMPLE = "http://127.0.0.1:8080"


def base_of(url: str) -> str:
    """The URL that paths are appended to; `ConfigurationError` if it is invalid."""
    try:
        parts = urlsplit(url.strip())
        name, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError(
            f"the URL of the server is invalid: {error}; write it as {EXAMPLE}"
        ) from None
    if parts.scheme not in ("http", "https") or not name or port == 0:
        raise ConfigurationError(
            f"the URL of the server must begin with http:// or https:// and have a host, "
            f"such as {EXAMPLE}"
        )
    if parts.username or parts.password:
        raise ConfigurationError(
            "the URL of the server contains a user name or a password; give a token instead"
        )
    if parts.query or parts.fragment:
        raise ConfigurationError(
            "the URL of the server must not have a query (?) or a fragment (#)"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
