"""Addresses of Redis servers, direct or through Sentinels, with credentials and TLS files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from drumbeat.model.errors import ConfigurationError

Host: TypeAlias = tuple[str, int]

PORT = 6379
SENTINEL_PORT = 26379
FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
"""Options that name a file; they are passed to the client."""
OPTIONS = (*FILES, "db", "allow_eviction", "sentinel_username", "sentinel_password")
YES = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class Credentials:
    """User name and password; the password is never shown."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed address."""

    hosts: tuple[Host, ...]
    """The server, or the Sentinels in the order in which they are asked; empty: a Unix socket."""
    socket: str | None
    primary: str | None
    """The Sentinels' name for the primary; None: there are no Sentinels."""
    database: int
    tls: bool
    files: Mapping[str, str]
    credentials: Credentials
    sentinel_credentials: Credentials
    allow_eviction: bool

    @property
    def shown(self) -> str:
        """The address in errors: hosts and ports only."""
        if self.socket is not None:
            return self.socket
        hosts = ", ".join(
            f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts
        )
        return hosts if self.primary is None else f"{self.primary!r} (Sentinels {hosts})"


def parse(text: str) -> Address:
    """Parse an address; raises `ConfigurationError`.

    ```python
    parse("rediss://anna:secret@cache:6379/2?ssl_ca_certs=ca.pem")
    parse("redis+sentinel://:secret@one:26379,two:26379/mymaster/2")
    parse("unix:///run/redis.sock?db=2")
    ```
    """
    parts = urlsplit(text)
    options = _options(parts)
    scheme = parts.scheme
    sentinel = scheme.endswith("+sentinel")
    user, at, hosts = parts.netloc.rpartition("@")
    path = [unquote(piece) for piece in parts.path.split("/") if piece]
    primary: str | None = None
    if sentinel:
        if not path:
            raise ConfigurationError(
                f"the {scheme}:// address names no primary; "
                f"write it as '{scheme}://host:26379,host:26379/mymaster'"
            )
        primary = path.pop(0)
    socket = unquote(parts.path) if scheme == "unix" else None
    if socket == "":
        raise ConfigurationError(
            "the unix:// address names no socket; write 'unix:///run/redis.sock'"
        )
    if not sentinel and "," in hosts:
        raise ConfigurationError(
            f"the {scheme}:// address names {hosts.count(',') + 1} servers; name one: a Redis "
            f"Cluster cannot be used, and a primary with replicas is found by its Sentinels, with "
            f"'{scheme}+sentinel://host:26379,host:26379/mymaster'"
        )
    database = options.get("db") or (path[0] if path and socket is None else "0")
    return Address(
        () if socket else _hosts(hosts, SENTINEL_PORT if sentinel else PORT),
        socket,
        primary,
        _number("the database", database),
        scheme.startswith("rediss"),
        {name: _file(name, options[name]) for name in FILES if name in options},
        _credentials(user) if at else Credentials(),
        Credentials(options.get("sentinel_username"), options.get("sentinel_password")),
        _switch("allow_eviction", options.get("allow_eviction", "false")),
    )


def _options(parts: SplitResult) -> dict[str, str]:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in options:
        if name not in OPTIONS:
            raise ConfigurationError(
                f"the {parts.scheme}:// address has no option {name!r}; "
                f"it knows {', '.join(OPTIONS)}"
            )
    return options


def _hosts(text: str, port: int) -> tuple[Host, ...]:
    return tuple(_host(each, port) for each in (text or "localhost").split(","))


def _host(text: str, port: int) -> Host:
    if text.startswith("["):  # an IPv6 address
        host, _, rest = text[1:].partition("]")
        digits = rest.removeprefix(":")
    else:
        host, _, digits = text.partition(":")
    return host or "localhost", _number("the port", digits) if digits else port


def _credentials(user: str) -> Credentials:
    name, _, password = user.partition(":")
    return Credentials(unquote(name) or None, unquote(password) or None)


def _number(what: str, text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ConfigurationError(f"{what} of a Redis address must be a number, not {text!r}")
    return int(text)


def _file(name: str, text: str) -> str:
    if not Path(text).is_file():
        raise ConfigurationError(f"{name} of the Redis address names no file: {text!r}")
    return text


def _switch(name: str, text: str) -> bool:
    try:
        return YES[text.lower()]
    except KeyError:
        raise ConfigurationError(
            f"{name} of the Redis address must be true or false, not {text!r}"
        ) from None
