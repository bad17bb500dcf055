"""Peers: who is at the other end of a connection, and what a proxy says of who is behind it."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, TypeAlias

from drumbeat.model.errors import ConfigurationError

Network: TypeAlias = IPv4Network | IPv6Network
Headers: TypeAlias = Mapping[bytes, bytes]

LOOPBACK_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
FORWARDED = (b"x-forwarded-for", b"x-forwarded-host", b"forwarded", b"x-real-ip", b"via")
"""What a proxy adds."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The other end, as far as it can be believed."""

    address: str
    """Of the client, or the last address that no trusted proxy has."""
    host: str
    """What the client thinks that we are called, with the port."""
    secure: bool
    """Whether the client came by HTTPS."""
    user: str | None = None
    """Who the client is, by the word of a trusted proxy."""


class Proxies:
    """The proxies that are believed."""

    def __init__(self, trusted: Sequence[str]) -> None:
        self._trusted = tuple(_network(text) for text in trusted)

    def __bool__(self) -> bool:
        return bool(self._trusted)

    def peer(self, connection: MutableMapping[str, Any], headers: Headers) -> Peer:
        """Who is at the other end; the word of a stranger on that counts for nothing."""
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
        """The last hop that is none of our proxies: what stands before it may be invented."""
        for hop in reversed([each.strip() for each in forwarded.split(",") if each.strip()]):
            if not self._trusts(hop):
                return hop
            address = hop
        return address


def came_through_a_proxy(headers: Headers) -> bool:
    """Whether a proxy passed the request on, so that the address tells nothing of the client."""
    return any(name in headers for name in FORWARDED)


def is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, can only be this machine."""
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
    """A header as text; empty if it is not there."""
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
