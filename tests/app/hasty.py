"""A program that is told to stop while it starts. Run by `test_signals`."""

from __future__ import annotations

import os
import signal
import sys

from drumbeat import Drumbeat
from drumbeat.model.events import NodeStopped, ScheduleDeclared

app = Drumbeat("memory://", grace=5.0)


@app.scheduled("0 2 * * *")
async def nightly() -> None: ...


@app.on(ScheduleDeclared)
def interrupt(_: ScheduleDeclared) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@app.on(NodeStopped)
def say(_: NodeStopped) -> None:
    sys.stdout.write("drained\n")


app.run()
