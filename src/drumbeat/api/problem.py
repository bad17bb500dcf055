"""Problems: what is refused, said so that the caller can repair it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drumbeat.api.answer import Answer, encode
from drumbeat.wire.problem import KIND, MEDIA_TYPE, ProblemView

TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "The token does not allow this",
    404: "There is no such thing",
    405: "This cannot be done here",
    408: "The request took too long",
    409: "It has changed, or its status does not allow this",
    412: "It has changed meanwhile",
    413: "The request is too large",
    415: "The request is not JSON",
    422: "The request is not valid",
    429: "Too many requests",
    500: "Something broke",
    503: "The service is not available",
    504: "It did not happen in time",
}


@dataclass(slots=True)
class Problem(Exception):
    """A refusal. `kind` is a word that programs may rely on, `detail` a sentence for people."""

    status: int
    kind: str
    detail: str
    field: str | None = None
    rule: str | None = None
    headers: Mapping[str, str] | None = None

    def view(self) -> ProblemView:
        """The problem document."""
        return ProblemView(
            type=KIND + self.kind,
            title=TITLES.get(self.status, "The request was refused"),
            status=self.status,
            detail=self.detail,
            field=self.field,
            rule=self.rule,
        )

    def answer(self) -> Answer:
        """The problem document, as an answer."""
        return Answer(self.status, encode(self.view()), MEDIA_TYPE, self.headers or {})
