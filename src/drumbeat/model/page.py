"""Pages: bounded parts of a long list, each with the position of the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from drumbeat.model.errors import InvalidInput

LARGEST_PAGE = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many items, and after which position. Positions come from an earlier page."""

    size: int = 100
    after: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.size <= LARGEST_PAGE:
            raise InvalidInput(f"a page has 1 to {LARGEST_PAGE:,} items, not {self.size}")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Items, and the position after which the next page begins (None: no more)."""

    items: tuple[T, ...]
    next: str | None = None
