"""The database of a Django project as the address of a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.db import connections

from drumbeat.model.errors import ConfigurationError

PASSED_ON = (
    "passfile",
    "service",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslpassword",
    "sslrootcert",
    "target_session_attrs",
)
"""The options of a connection that our driver knows by the same name."""


def is_postgresql(alias: str) -> bool:
    """Whether this entry of `DATABASES` is a PostgreSQL database."""
    return alias in settings.DATABASES and connections[alias].vendor == "postgresql"


def store_in(alias: str) -> str:
    """The address of this entry of `DATABASES`, which has to be on PostgreSQL.

    A test database is named by the connection, and not by the settings.
    """
    if alias not in settings.DATABASES:
        raise ConfigurationError(f"DATABASE names {alias!r}, which DATABASES does not have")
    if not is_postgresql(alias):
        raise ConfigurationError(
            f"DATABASE names {alias!r}, which is not on PostgreSQL; "
            "name a store by STORE, such as 'sqlite:///drumbeat.db'"
        )
    return address_of(connections[alias].settings_dict)


def address_of(database: Mapping[str, Any]) -> str:
    """The address of a database that is described as in `DATABASES`."""
    options: Mapping[str, Any] = database.get("OPTIONS") or {}
    parameters = {name: str(options[name]) for name in PASSED_ON if options.get(name)}
    host, port = str(database.get("HOST") or ""), str(database.get("PORT") or "")
    if host.startswith(("/", "@")):  # the folder of a socket
        parameters["host"] = host
        if port:
            parameters["port"] = port
        host = ""
    user = quote(str(database.get("USER") or ""), safe="")
    password = quote(str(database.get("PASSWORD") or ""), safe="")
    login = f"{user}:{password}@" if password else f"{user}@" if user else ""
    name = quote(str(database.get("NAME") or ""), safe="")
    query = f"?{urlencode(parameters, quote_via=quote)}" if parameters else ""
    return f"postgresql://{login}{_hosts(host, port)}/{name}{query}"


def _hosts(hosts: str, ports: str) -> str:
    """`a:5432,b:5433` of "a,b" and "5432,5433"; one port may stand for all."""
    names = hosts.split(",")
    numbers = ports.split(",")
    if len(numbers) == 1:
        numbers *= len(names)
    return ",".join(
        f"{f'[{name}]' if ':' in name else name}{f':{number}' if number and name else ''}"
        for name, number in zip(names, numbers, strict=False)
    )
