"""What time it is, as the server says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from drumbeat.client.request import Request, path_of
from drumbeat.wire.health import HealthView

if TYPE_CHECKING:
    from drumbeat.client.exchange import Exchange


async def health_of(exchange: Exchange) -> HealthView:
    """How the node that answers is, also if it is not well."""
    answer = await exchange.ask(Request("GET", path_of("health"), takes=(503,)))
    return answer.read(HealthView)


async def now_of(exchange: Exchange) -> datetime:
    """The time of the node that answers, to the second."""
    return datetime.fromtimestamp((await health_of(exchange)).timestamp, UTC)
