"""What the tests of the electors share."""

from __future__ import annotations

import asyncio


class Word:
    """An elector that says what a test tells it to, and notes what it is told."""

    def __init__(self, *, leads: bool = False) -> None:
        self.leads = leads
        self.standing = True
        self.error: Exception | None = None
        self.asked = 0
        self.told: list[str] = []
        self.gate = asyncio.Event()
        """Answers wait for it."""
        self.gate.set()

    async def is_leader(self) -> bool:
        self.asked += 1
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return self.leads and self.standing

    async def elect(self) -> bool:
        self.standing = True
        self.told.append("elect")
        return self.leads

    async def resign(self, reason: str = "resigned") -> None:
        self.standing = False
        self.told.append(f"resign: {reason}")

    def step_down(self, reason: str) -> None:
        self.told.append(f"step down: {reason}")


class Bare:
    """An elector that can do nothing but answer."""

    def __init__(self, *, leads: bool) -> None:
        self.leads = leads

    async def is_leader(self) -> bool:
        return self.leads
