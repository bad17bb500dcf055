"""The OpenAPI document of all that can be asked."""

from __future__ import annotations

from functools import cache
from typing import Any

from drumbeat.api.answer import JSON, Answer, encode
from drumbeat.api.call import Call, Nothing
from drumbeat.api.openapi import openapi
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.model.token import Scope
from drumbeat.version import VERSION


async def show(call: Call[Nothing, Any]) -> Answer:
    """The document, with the place where the API is mounted as its server."""
    root = call.connection.get("root_path", "") or "/"
    return Answer(200, encode({**document(), "servers": [{"url": root}]}), JSON)


@cache
def document() -> dict[str, Any]:
    """The document of the whole table."""
    from drumbeat.api.table import TABLE  # noqa: PLC0415 - this route stands in it

    return openapi(TABLE, VERSION)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/openapi.json",
        Scope.VIEWER,
        show,
        "The OpenAPI document of this API",
        dict[str, Any],
    ),
)
