"""The part of a query that selects a page of a list."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from drumbeat.model.page import LARGEST_PAGE, PageRequest

Limit = Annotated[int, Meta(ge=1, le=LARGEST_PAGE)]
Place = Annotated[str, Meta(max_length=500)]


class PageQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which page is wanted."""

    limit: Limit = 100
    after: Place | None = None
    """Where the page before ended; the `Link` header of that page has it."""

    def page(self) -> PageRequest:
        return PageRequest(self.limit, self.after)
