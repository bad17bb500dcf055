"""Addresses of HTTP servers: endpoints, credentials, key prefix and TLS files."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from drumbeat.model.errors import ConfigurationError

TLS_OPTIONS = ("ca", "cert", "key")


@dataclass(frozen=True, slots=True)
class AddressFormat:
    """How the addresses of one kind of server are written."""

    title: str
    scheme: str
    tls_scheme: str
    port: int
    options: tuple[str, ...] = ()
    """Options in addition to those for TLS."""


@dataclass(frozen=True, slots=True, repr=False)
class RemoteAddress:
    """A parsed address. It has no `repr`, since it may contain a password."""

    title: str
    endpoints: tuple[str, ...]
    """Such as `http://10.0.0.1:2379`, without credentials."""
    user: str
    password: str
    prefix: str
    """The prefix of all keys; empty, or ending with a slash."""
    options: Mapping[str, str]
    tls: ssl.SSLContext | None

    @classmethod
    def parse(cls, address: str, kind: AddressFormat) -> RemoteAddress:
        """Parse an address; the text of a `ConfigurationError` contains no credentials."""
        scheme, _, rest = address.partition("://")
        place, _, query = rest.partition("?")
        authority, _, path = place.partition("/")
        credentials, _, hosts = authority.rpartition("@")
        user, _, password = credentials.partition(":")
        secure = scheme == kind.tls_scheme
        options = _options(query, kind)
        prefix = unquote(path).strip("/")
        return cls(
            kind.title,
            tuple(
                _endpoint(host, kind, "https" if secure else "http") for host in hosts.split(",")
            ),
            unquote(user),
            unquote(password),
            f"{prefix}/" if prefix else "",
            options,
            _tls(options, kind, secure=secure),
        )


def _endpoint(host: str, kind: AddressFormat, protocol: str) -> str:
    try:
        parts = urlsplit(f"{protocol}://{host.strip()}")
        name, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError(
            f"{kind.title} cannot be reached at {host!r}: {error}; write host:{kind.port}"
        ) from None
    if not name or parts.path:
        raise ConfigurationError(
            f"the address of {kind.title} names no host; write it as "
            f"'{kind.scheme}://host:{kind.port}', several hosts with commas between them"
        )
    shown = f"[{name}]" if ":" in name else name
    return f"{protocol}://{shown}:{kind.port if port is None else port}"


def _options(query: str, kind: AddressFormat) -> Mapping[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    allowed = (*TLS_OPTIONS, *kind.options)
    for name in options:
        if name not in allowed:
            raise ConfigurationError(
                f"the address of {kind.title} has no option {name!r}; "
                f"there are {', '.join(allowed)}"
            )
    return options


def _tls(options: Mapping[str, str], kind: AddressFormat, *, secure: bool) -> ssl.SSLContext | None:
    given = [name for name in TLS_OPTIONS if name in options]
    if not secure:
        if given:
            raise ConfigurationError(
                f"{given[0]}= in the address of {kind.title} needs TLS; "
                f"begin it with '{kind.tls_scheme}://'"
            )
        return None
    for name in given:
        if not Path(options[name]).is_file():
            raise ConfigurationError(
                f"{name}= in the address of {kind.title} is not a file: {options[name]}"
            )
    if "key" in options and "cert" not in options:
        raise ConfigurationError(f"key= in the address of {kind.title} needs cert= beside it")
    try:
        context = ssl.create_default_context(cafile=options.get("ca"))
        if "cert" in options:
            context.load_cert_chain(options["cert"], options.get("key"))
    except ssl.SSLError as error:
        raise ConfigurationError(
            f"the files of {', '.join(given)} in the address of {kind.title} cannot be used: "
            f"{error.reason or error}"
        ) from None
    return context
