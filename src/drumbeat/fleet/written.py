"""The result of a write that either creates something or finds it there."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class WriteResult(NamedTuple, Generic[T]):
    """What is there after the write, and whether the write created it."""

    view: T
    is_new: bool
