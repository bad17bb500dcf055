"""`app.run()` and the signals of the operating system, in a process of its own."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("stoppable.py")
PATIENCE = 60.0


class Program:
    """A running program, and what it says."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def hear(self, *expected: str) -> None:
        """The next lines are these."""
        assert self.process.stdout is not None
        for line in expected:
            async with asyncio.timeout(PATIENCE):
                heard = (await self.process.stdout.readline()).decode().strip()
            assert heard == line

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n".encode())

    async def exit_code(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


@asynccontextmanager
async def program(manner: str, grace: float) -> AsyncGenerator[Program]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROGRAM),
        manner,
        str(grace),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        running = Program(process)
        await running.hear("running")
        yield running
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_first_signal_lets_running_jobs_finish_and_exits_with_success(
    number: signal.Signals,
) -> None:
    async with program("finish", grace=60) as running:
        running.process.send_signal(number)
        await running.hear("told: the node is stopping", "finished", "stopped")
        await running.hear("completed after 1 attempts")
        assert await running.exit_code() == 0


async def test_a_job_that_outlasts_the_grace_is_given_back() -> None:
    async with program("stubborn", grace=0.2) as running:
        running.process.send_signal(signal.SIGTERM)
        await running.hear("told: the node is stopping", "interrupted", "stopped")
        await running.hear("queued after 0 attempts")
        assert await running.exit_code() == 0


async def test_a_second_signal_cuts_the_grace_short() -> None:
    async with program("stubborn", grace=600) as running:
        running.process.send_signal(signal.SIGTERM)
        await running.hear("told: the node is stopping")
        running.process.send_signal(signal.SIGTERM)
        await running.hear("interrupted", "stopped", "queued after 0 attempts")
        assert await running.exit_code() == 0


async def test_a_third_signal_ends_the_process_on_the_spot() -> None:
    async with program("deaf", grace=600) as running:
        for line in ("told: the node is stopping", "interrupted"):
            running.process.send_signal(signal.SIGTERM)
            await running.hear(line)
        running.process.send_signal(signal.SIGINT)
        assert await running.exit_code() == 1


async def test_sigquit_waits_without_limit() -> None:
    async with program("slow", grace=0) as running:
        running.process.send_signal(signal.SIGQUIT)
        await running.hear("told: the node is stopping")
        running.say("go on")
        await running.hear("finished", "stopped", "completed after 1 attempts")
        assert await running.exit_code() == 0


async def test_a_request_to_drain_ends_the_program_too() -> None:
    async with program("drain", grace=60) as running:
        await running.hear("told: the node is draining", "finished", "stopped")
        await running.hear("completed after 1 attempts")
        assert await running.exit_code() == 0


async def test_a_signal_that_comes_during_the_start_drains_as_any_other() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAM.with_name("hasty.py")), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        said, _ = await process.communicate()
    assert (process.returncode, said.decode().split()) == (0, ["drained"])
