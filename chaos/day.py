"""A day: run a fleet on one pair under faults, heal it, let it finish, and check the result."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from chaos.client import Client
from chaos.crew import Crew, clock
from chaos.drawing import draw
from chaos.gathering import dump, words
from chaos.history import Fault, History, Kind
from chaos.journal import Journal, read_journals
from chaos.nemesis import Nemesis, field_of
from chaos.node import make_app
from chaos.pairs import Ground
from drumbeat import Drumbeat
from drumbeat.demo.node import DemoSetting
from drumbeat.model.errors import Unavailable, WaitTimeout

LOOK_EVERY = 0.1
PATIENCE = 120.0
"""Seconds after the healing within which everything has to be caught up."""
START_PATIENCE = 120.0
SCHEDULES = 2

T = TypeVar("T")


class NotStarted(Exception):
    """A node could not even be started; its last words are in the message."""


@dataclass(frozen=True, slots=True)
class Script:
    """How long a day is, how large its fleet, and what is drawn for it."""

    seconds: float = 120.0
    nodes: int = 5
    ttl: float = 2.0
    seed: int = 1


class Day:
    """Plays a script on one pair."""

    def __init__(self, pair: str, script: Script, tell: Callable[[str], None]) -> None:
        self._pair = pair
        self._script = script
        self._tell = tell
        self._seed = f"{script.seed}/{pair}"
        self._names = [f"beat-{number}" for number in range(SCHEDULES)]
        self._unsettled: list[str] = []

    async def play(self) -> History:
        """Start everything, harm it, heal it, and gather what is known then."""
        folder = Path(tempfile.mkdtemp(prefix="drumbeat-chaos-"))
        try:
            with await asyncio.to_thread(Ground, self._pair) as ground:
                return await self._on(ground, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _on(self, ground: Ground, folder: Path) -> History:
        script = self._script
        setting = DemoSetting(
            ground.store, ground.coordinator, "chaos", script.ttl, SCHEDULES, folder
        )
        app, work = make_app(setting, "client")
        crew = Crew(ground, setting, [f"node-{n}" for n in range(1, script.nodes + 1)])
        client = Client(work, Journal(folder, "client"))
        nemesis = Nemesis(ground, crew, app, self._seed)
        async with app.connected():
            for label in crew.labels:
                crew.start(label)
            supervising = asyncio.create_task(crew.supervise())
            try:
                await self._all_started(folder, crew)
                zero, began_at = clock.elapsed(), clock.now()
                blows = draw(self._seed, field_of(ground, crew), script.seconds, script.ttl)
                self._tell(f"{self._pair}: {script.nodes} nodes, {len(blows)} faults are drawn")
                async with client.submitting():
                    await nemesis.harm(blows)
                    await clock.sleep(zero + script.seconds - clock.elapsed())
                self._tell(f"{self._pair}: healed; waiting for the last ticks and jobs")
                end = await self._settle(app)
                held = await patient(lambda: dump(app, self._names, end))
            finally:
                supervising.cancel()
                await crew.disband()
        said = words(folder, zero, crew.ends, script.ttl)
        return History(
            pair=self._pair,
            seed=script.seed,
            ttl=script.ttl,
            longest_term=ground.longest_term(script.ttl),
            began_at=began_at,
            seconds=clock.elapsed() - zero,
            nodes=crew.labels,
            servers=(*ground.servers, *(["disk"] if ground.disk else [])),
            due=held.due,
            ledger=held.ledger,
            lives=said.lives,
            terms=said.terms,
            gains=said.gains,
            runs=said.runs,
            endings=said.endings,
            jobs=held.jobs,
            submissions=client.submissions,
            faults=_in_seconds(nemesis.faults, zero, said.blocks),
            unsettled=[*self._unsettled, *held.skipped],
            crashes=crew.crashes,
            forgetful=ground.forgetful,
            left_out=_left_out(ground, crew),
        )

    async def _all_started(self, folder: Path, crew: Crew) -> None:
        async with asyncio.timeout(START_PATIENCE):
            while sum(each.kind == "started" for each in read_journals(folder)) < len(crew.labels):
                if crew.crashes:
                    raise NotStarted(f"{self._pair}: {crew.crashes[0]}")
                await clock.sleep(LOOK_EVERY)

    async def _settle(self, app: Drumbeat) -> datetime:
        """Wait until all is caught up and finished; what is not, is noted. The last instant."""
        end = await patient(app.store.now)
        for name in self._names:
            if not await self._caught_up(app, name, end):
                self._unsettled.append(f"{name} was not caught up {PATIENCE:g} s after the healing")
            await patient(partial(app.schedules.pause, name))
        try:
            await patient(lambda: app.wait_until_idle(PATIENCE))
        except WaitTimeout as error:
            self._unsettled.append(str(error))
        return end

    async def _caught_up(self, app: Drumbeat, name: str, end: datetime) -> bool:
        give_up_at = clock.elapsed() + PATIENCE
        while (await patient(lambda: app.schedules.get(name))).cursor < end:
            if clock.elapsed() > give_up_at:
                return False
            await clock.sleep(LOOK_EVERY)
        return True


def _in_seconds(faults: list[Fault], zero: float, blocks: list[Fault]) -> list[Fault]:
    done = [
        Fault(each.kind, each.target, each.since - zero, each.until - zero, each.detail)
        for each in faults
        if each.kind is not Kind.BLOCK  # the handlers themselves said when they blocked
    ]
    return sorted([*done, *blocks], key=lambda fault: fault.since)


def _left_out(ground: Ground, crew: Crew) -> list[str]:
    missing: list[str] = []
    if not crew.can_skew and ground.disk is None:
        missing.append("no clock was skewed: `python -m servers install faketime`")
    if ground.disk is not None and not ground.disk.mounted:
        missing.append("the disk was filled by a limit on file sizes: only root can mount one")
    return missing


async def patient(ask: Callable[[], Awaitable[T]]) -> T:
    """The answer of a store that may need a moment to come back."""
    async with asyncio.timeout(2 * PATIENCE):
        while True:
            try:
                return await ask()
            except Unavailable:
                await clock.sleep(LOOK_EVERY)
