"""The address of a server."""

from __future__ import annotations

from urllib.parse import urlsplit

from drumbeat.model.errors import ConfigurationError

EXAMPLE = "http://127.0.0.1:8080"


def base_of(url: str) -> str:
    """The address that paths are put behind; `ConfigurationError` if it can be none."""
    try:
        parts = urlsplit(url.strip())
        name, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError(
            f"the address of the server cannot be read: {error}; write it as {EXAMPLE}"
        ) from None
    if parts.scheme not in ("http", "https") or not name or port == 0:
        raise ConfigurationError(
            f"the address of the server begins with http:// or https:// and names a host, "
            f"such as {EXAMPLE}"
        )
    if parts.username or parts.password:
        raise ConfigurationError(
            "the address of the server holds a name or a password; give a token instead"
        )
    if parts.query or parts.fragment:
        raise ConfigurationError(
            "the address of the server ends with its path: leave out what begins with ? or #"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
