"""The in-process mode in real processes: election on or off, one instance or several.

| election | instances | a scheduled task runs |
|---|---|---|
| on | one | on that instance |
| on | several | only on the leader |
| off | one | on that instance |
| off | several | on all of them |
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("instance.py")
PATIENCE = 60.0

EXECUTING = "Leader executing scheduled task"
SKIPPING = "Skipping task execution - not the leader"
UNANSWERED = "The coordinator does not answer"
"""A warning that says something of the machine only: one request was late, or the file was held."""
TASK = "CleanupOldRecords"


class Instance:
    """A running process, and the lines of its log."""

    def __init__(self, label: str, process: asyncio.subprocess.Process) -> None:
        self.label = label
        self.process = process
        self.lines: list[Mapping[str, Any]] = []

    async def listen(self, heard: asyncio.Event) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.lines.append(json.loads(line))
            heard.set()

    def of(self, sentence: str) -> list[Mapping[str, Any]]:
        return [line for line in self.lines if line["message"] == sentence]

    @property
    def leads(self) -> bool:
        return len(self.of("Became the leader")) > len(self.of("Lost leadership"))


class Fleet:
    """So many instances that share a coordinator, and nothing else."""

    def __init__(self, instances: list[Instance], heard: asyncio.Event) -> None:
        self.instances = instances
        self._heard = heard

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._heard.clear()
                await self._heard.wait()

    @property
    def leader(self) -> Instance:
        (leader,) = [each for each in self.instances if each.leads]
        return leader

    @property
    def followers(self) -> list[Instance]:
        return [each for each in self.instances if not each.leads]

    def ticks(self) -> Counter[str]:
        """How often each tick was run, by whomever."""
        return Counter(line["tick_at"] for each in self.instances for line in each.of(EXECUTING))


@asynccontextmanager
async def running(
    file: Path, count: int, *, election: bool, ttl: str = "60s"
) -> AsyncGenerator[Fleet]:
    """Processes that get everything by the environment, as in a container.

    The TTL is so long that a busy machine does not cost a leader its term.
    """
    heard = asyncio.Event()
    instances: list[Instance] = []
    environment = {
        **os.environ,
        "LEADER_ELECTION_ENABLED": "true" if election else "false",
        "LEADER_ELECTION_LOCK_TTL": ttl,
        "LEADER_ELECTION_RETRY_INTERVAL": "500ms",
        "LOG_LEVEL": "DEBUG",
        "LOG_FORMAT": "JSON",
    }
    async with asyncio.TaskGroup() as group:
        for number in range(1, count + 1):
            label = f"instance-{number}"
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(PROGRAM),
                f"sqlite:///{file}",
                env={**environment, "LEADER_ELECTION_INSTANCE_ID": label},
                cwd=file.parent,
                stderr=asyncio.subprocess.PIPE,
            )
            instances.append(Instance(label, process))
            group.create_task(instances[-1].listen(heard))
        try:
            yield Fleet(instances, heard)
        finally:
            for each in instances:
                if each.process.returncode is None:
                    each.process.kill()
                    await each.process.wait()


@pytest.mark.parametrize("count", [1, 3], ids=["single", "multiple"])
@pytest.mark.parametrize("election", [True, False], ids=["enabled", "disabled"])
async def test_the_behaviour_matrix(tmp_path: Path, election: bool, count: int) -> None:
    async with running(tmp_path / "leader.db", count, election=election) as fleet:
        sentence = {each.label: EXECUTING for each in fleet.instances}
        if election:
            await fleet.until(lambda: any(each.leads for each in fleet.instances))
            sentence.update({each.label: SKIPPING for each in fleet.followers})
        await fleet.until(
            lambda: all(len(each.of(sentence[each.label])) >= 3 for each in fleet.instances)
        )
        for each in fleet.instances:
            other = SKIPPING if sentence[each.label] == EXECUTING else EXECUTING
            assert each.of(other) == []
            line = each.of(sentence[each.label])[0]
            assert (line["task"], line["instance_id"]) == (TASK, each.label)
            assert line["level"] == ("INFO" if line["message"] == EXECUTING else "DEBUG")
            assert [row["task"] for row in each.of("Registering scheduled task")] == [TASK]
            assert len(each.of("Scheduler started successfully")) == 1
            warned = [row["message"] for row in each.lines if row["level"] == "WARNING"]
            expected = (
                [] if election else ["Leader election is off: every instance runs every task"]
            )
            assert [message for message in warned if message != UNANSWERED] == expected
        if election:
            assert set(fleet.ticks().values()) == {1}
        else:
            await fleet.until(lambda: count in fleet.ticks().values())


async def test_a_killed_leader_is_followed_and_no_tick_is_run_twice(tmp_path: Path) -> None:
    # It takes a TTL until another leads. A shorter one could be lost by a pause of the machine.
    async with running(tmp_path / "leader.db", 3, election=True, ttl="15s") as fleet:
        await fleet.until(lambda: any(len(each.of(EXECUTING)) >= 2 for each in fleet.instances))
        first = fleet.leader
        first.process.kill()
        await first.process.wait()
        rest = [each for each in fleet.instances if each is not first]
        await fleet.until(lambda: any(len(each.of(EXECUTING)) >= 3 for each in rest))
        (second,) = [each for each in rest if each.leads]
        (third,) = [each for each in rest if each is not second]
        skipped = len(third.of(SKIPPING))
        await fleet.until(lambda: len(third.of(SKIPPING)) > skipped)
        assert third.of(EXECUTING) == []
        assert set(fleet.ticks().values()) == {1}
        epochs = [each.of("Became the leader")[-1]["epoch"] for each in (first, second)]
        assert epochs[0] < epochs[1]


async def test_a_leader_that_is_stopped_hands_over_at_once(tmp_path: Path) -> None:
    async with running(tmp_path / "leader.db", 2, election=True) as fleet:
        await fleet.until(lambda: any(len(each.of(EXECUTING)) >= 1 for each in fleet.instances))
        first = fleet.leader
        (other,) = fleet.followers
        first.process.terminate()
        await fleet.until(lambda: len(other.of(EXECUTING)) >= 2)
        assert await first.process.wait() == 0
        assert set(fleet.ticks().values()) == {1}
