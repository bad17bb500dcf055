"""A process of our own sets aside what is there once it has started; one of the user's does not."""

from __future__ import annotations

import gc
import subprocess
import sys

from drumbeat import Drumbeat

NODE = """
import gc, os, signal
from drumbeat import Drumbeat, once

app = Drumbeat("memory://", environment={})

@app.scheduled(once())
async def look() -> None:
    print(gc.get_freeze_count(), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

app.run()
"""


def test_a_process_of_our_own_sets_aside_what_is_there() -> None:
    told = subprocess.run(
        [sys.executable, "-c", NODE], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(told.stdout) > 10_000


async def test_a_process_of_the_users_is_left_alone() -> None:
    before = gc.get_freeze_count()
    async with Drumbeat("memory://", environment={}).running():
        assert gc.get_freeze_count() == before
