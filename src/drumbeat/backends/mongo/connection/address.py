"""Addresses of MongoDB servers: `mongodb://` and `mongodb+srv://`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pymongo.errors import ConfigurationError as InvalidSetting
from pymongo.errors import InvalidURI
from pymongo.uri_parser import parse_uri

from drumbeat.model.errors import ConfigurationError

DATABASE = "drumbeat"
"""The database of an address that names none."""
DIRECT = "mongodb://"
BY_DNS = "mongodb+srv://"
ONLY_BY_DNS = re.compile(r"(?<=[?&])(srvServiceName|srvMaxHosts)=[^&]*&?", re.IGNORECASE)
LONGEST_NAMESPACE = 100
"""Characters, so that the name of a collection stays within what every server allows."""


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed address. Its options are those of the client library."""

    uri: str = field(repr=False)
    """The address as it was given, for the client library; it may contain a password."""
    hosts: tuple[str, ...]
    database: str

    @property
    def shown(self) -> str:
        """The address in errors: hosts and database only."""
        return f"{', '.join(self.hosts)}/{self.database}"


def parse(text: str) -> Address:
    """Parse an address without asking the DNS; raises `ConfigurationError`.

    ```python
    parse("mongodb://anna:secret@one,two:27018/app?replicaSet=rs0&tls=true")
    parse("mongodb+srv://anna:secret@cluster.example.net/app")
    ```
    """
    by_dns = text.startswith(BY_DNS)
    scheme = BY_DNS if by_dns else DIRECT
    direct = DIRECT + ONLY_BY_DNS.sub("", text.removeprefix(scheme)) if by_dns else text
    try:
        parts = parse_uri(direct, warn=False)
    except (InvalidURI, InvalidSetting, ValueError, OSError) as error:
        raise ConfigurationError(f"the {scheme} address is not valid: {error}") from None
    if parts["collection"] is not None:
        raise ConfigurationError(
            f"the {scheme} address names a collection after the database "
            f"{parts['database']!r}; name the database only, the namespace names the collections"
        )
    hosts = tuple(_shown(host, port, by_dns=by_dns) for host, port in parts["nodelist"])
    return Address(text, hosts, parts["database"] or DATABASE)


def check_namespace(namespace: str) -> None:
    """Reject a namespace that cannot begin the name of a collection."""
    if (
        not namespace
        or len(namespace) > LONGEST_NAMESPACE
        or namespace.startswith((".", "system."))
        or ".." in namespace
        or set("$\0") & set(namespace)
    ):
        raise ConfigurationError(
            f"the namespace {namespace[:LONGEST_NAMESPACE]!r} cannot begin the name of a MongoDB "
            f"collection; use up to {LONGEST_NAMESPACE} letters, digits, '-' and '_'"
        )


def _shown(host: str, port: int | None, *, by_dns: bool) -> str:
    if port is None or by_dns:  # a Unix socket, or a name that the DNS resolves
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
