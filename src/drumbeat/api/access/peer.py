"""The peer of a connection, and the client behind a trusted proxy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from drumbeat.api.http.asgi import Connection, Headers
from drumbeat.model.errors import ConfigurationError

Network: TypeAlias = IPv4Network | IPv6Network

LOOPBACK_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
FORWARDED = (b"x-forwarded-for", b"x-forwarded-host", b"forwarded", b"x-real-ip", b"via")
"""Headers that proxies add."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The client, as far as its address can be trusted."""

    address: str
    """The client's address, or the last one that is not a trusted proxy's."""
    host: str
    """The host that the client asked for, with the port."""
    secure: bool
    """Whether the client uses HTTPS."""
    user: str | None = None
    """The user, if a trusted proxy names one."""


class Proxies:
    """The trusted proxies."""

    def __init__(self, trusted: Sequence[str]) -> None:
        self._trusted = tuple(_network(text) for text in trusted)

    def __bool__(self) -> bool:
        return bool(self._trusted)

    def peer(self, connection: Connection, headers: Headers) -> Peer:
        """The client of a connection. Forwarding headers count only from trusted proxies."""
        client = connection.get("client")
        address: str = client[0] if client else ""
        host, secure = text(headers, b"host"), connection.get("scheme") == "https"
        if not self._trusted or not self._trusts(address):
            return Peer(address, host, secure)
        return Peer(
            self._behind(address, text(headers, b"x-forwarded-for")),
            text(headers, b"x-forwarded-host").partition(",")[0].strip() or host,
            secure or text(headers, b"x-forwarded-proto").strip().lower() == "https",
            text(headers, b"x-forwarded-user").strip()[:200] or None,
        )

    def _trusts(self, address: str) -> bool:
        if not self._trusted:
            return False
        known = _address(address)
        return known is not None and any(known in network for network in self._trusted)

    def _behind(self, address: str, forwarded: str) -> str:
        """The last hop that is not a trusted proxy: earlier ones may be forged."""
        for hop in reversed([each.strip() for each in forwarded.split(",") if each.strip()]):
            if not self._trusts(hop):
                return hop
            address = hop
        return address


def came_through_a_proxy(headers: Headers) -> bool:
    """Whether a proxy forwarded the request, so that the address is not the client's."""
    return any(name in headers for name in FORWARDED)


def is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, is a loopback address."""
    name = host.lower()
    if name.startswith("["):
        name = name[1:].partition("]")[0]
    elif name.count(":") == 1:
        name = name.partition(":")[0]
    name = name.removesuffix(".")
    if name in LOOPBACK_NAMES or name.endswith(".localhost"):
        return True
    known = _address(name)
    return known is not None and known.is_loopback


def text(headers: Headers, name: bytes) -> str:
    """A header as text; empty if it is absent."""
    value = headers.get(name)
    if value is None:
        return ""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        known = ip_address(text)
    except ValueError:
        return None
    return (known.ipv4_mapped or known) if isinstance(known, IPv6Address) else known


def _network(text: str) -> Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise ConfigurationError(
            f"trusted_proxies must be addresses such as 10.0.0.7 or 10.0.0.0/8, not {text!r}"
        ) from None
