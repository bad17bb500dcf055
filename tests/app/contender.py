"""One instance that runs its own tasks and takes locks at a coordinator, by its environment.

Run by `test_locks_without_election`. It does what each line of its input says, and answers with one
line: `lock` takes the lock and keeps it, `unlock` releases it, `put VALUE` writes a shared value,
`watch VALUE` answers when that value is seen.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack

from drumbeat import Drumbeat, LockHeld

app = Drumbeat("memory://")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def watch(wanted: str) -> None:
    async for entry in app.config.watch("colour"):
        if entry is not None and entry.value.decode() == wanted:
            return


async def main() -> None:
    async with app.running(), AsyncExitStack() as held:
        say("ready")
        while line := await asyncio.to_thread(sys.stdin.readline):
            match line.split():
                case ["lock"]:
                    try:
                        await held.enter_async_context(app.lock("deploy"))
                    except LockHeld:
                        say("refused")
                    else:
                        say("held")
                case ["unlock"]:
                    await held.aclose()
                    say("released")
                case ["put", value]:
                    await app.config.put("colour", value.encode())
                    say("written")
                case ["watch", value]:
                    await watch(value)
                    say(f"saw {value}")
                case _:
                    raise SystemExit(f"cannot {line!r}")


asyncio.run(main())
