"""Playing: several days, one after the other or a few at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from chaos.day import Day, Script
from chaos.history import History
from servers import Missing


async def play(
    pairs: Sequence[str], script: Script, tell: Callable[[str], None], at_once: int = 1
) -> dict[str, History | Missing]:
    """Play the script on each pair. A pair whose servers are not installed is `Missing`."""
    places = asyncio.Semaphore(at_once)

    async def play_one(pair: str) -> History | Missing:
        async with places:
            try:
                return await Day(pair, script, tell).play()
            except Missing as error:
                tell(f"NOT PLAYED: {pair}: {error}")
                return error

    async with asyncio.TaskGroup() as days:
        playing = {pair: days.create_task(play_one(pair)) for pair in pairs}
    return {pair: task.result() for pair, task in playing.items()}
