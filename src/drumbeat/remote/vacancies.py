"""Vacancies: hints that a name may be vacant, without what was seen."""

from __future__ import annotations

from collections.abc import AsyncIterator


class Vacancies:
    """Tells of every look that finds the name vacant. It may be left and asked again."""

    def __init__(self, looks: AsyncIterator[bool]) -> None:
        self._looks = looks

    def __aiter__(self) -> AsyncIterator[None]:
        return self

    async def __anext__(self) -> None:
        await anext(self._looks)
