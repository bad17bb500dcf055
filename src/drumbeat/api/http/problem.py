"""Problems: why a request is rejected, and how to repair it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drumbeat.api.http.response import Response, encode
from drumbeat.wire.problem import KIND, MEDIA_TYPE, ProblemView

TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "This is not allowed",
    404: "There is no such thing",
    405: "This cannot be done here",
    408: "The request took too long",
    409: "This clashes with what is there",
    412: "It has changed meanwhile",
    413: "The request is too large",
    415: "The request is not JSON",
    422: "The request is not valid",
    429: "Too many requests",
    500: "Something broke",
    503: "The service is not available",
    504: "It did not happen in time",
}

AGAINST_A_RULE = 422
"""The status of a request that is readable and invalid. Its problem always names the rule."""


@dataclass(slots=True)
class Problem(Exception):
    """A rejected request. `kind` is a stable word for programs, `detail` a sentence for people."""

    status: int
    kind: str
    detail: str
    field: str | None = None
    rule: str | None = None
    headers: Mapping[str, str] | None = None
    version: int | None = None

    def view(self) -> ProblemView:
        """The problem document."""
        return ProblemView(
            type=KIND + self.kind,
            title=TITLES.get(self.status, "The request was refused"),
            status=self.status,
            detail=self.detail,
            field=self.field,
            rule=self.rule or (self.detail if self.status == AGAINST_A_RULE else None),
            version=self.version,
        )

    def response(self) -> Response:
        """The response with the problem document."""
        return Response(self.status, encode(self.view()), MEDIA_TYPE, self.headers or {})
