"""One instance of a backend with a scheduler inside, all by its environment.

Run by `test_behaviour_matrix`. Its argument is the address of the coordinator.
"""

from __future__ import annotations

import sys

from drumbeat import Context, Drumbeat, ScheduledTask

app = Drumbeat("memory://", coordinator=sys.argv[1])


class CleanupTask(ScheduledTask):
    """Once a second: a minute is long for a test."""

    name = "CleanupOldRecords"
    schedule = "* * * * * *"

    async def execute(self, ctx: Context) -> None:
        ctx.log.info("Cleanup completed")


app.register(CleanupTask())
app.run()
