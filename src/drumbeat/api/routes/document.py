"""The route for the OpenAPI document."""

from __future__ import annotations

from functools import cache
from typing import Any

from drumbeat.api.http.call import Call, Nothing
from drumbeat.api.http.response import JSON, Response, encode
from drumbeat.api.http.route import AnyRoute, read_route
from drumbeat.api.openapi.openapi import openapi
from drumbeat.version import VERSION


async def show(call: Call[Nothing, Any]) -> Response:
    """The document, with the place where the API is mounted as its server."""
    root = call.connection.get("root_path", "") or "/"
    return Response(200, encode({**document(), "servers": [{"url": root}]}), JSON)


@cache
def document() -> dict[str, Any]:
    """The document of the whole table."""
    from drumbeat.api.table import TABLE  # noqa: PLC0415 - this route stands in it

    return openapi(TABLE, VERSION)


ROUTES: tuple[AnyRoute, ...] = (
    read_route("/openapi.json", "The OpenAPI document of this API", dict[str, Any], show),
)
