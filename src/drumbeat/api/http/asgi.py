"""The types of ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

Connection: TypeAlias = MutableMapping[str, Any]
"""What ASGI calls the scope of a connection."""
Headers: TypeAlias = Mapping[bytes, bytes]
"""By lower-case name; of several with one name, the last."""
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
