"""Crashes of a MongoDB store: it is killed at each of its writes in turn, and another goes on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from drumbeat.backends.mongo.store import MongoStore
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from servers import GivenMongo, Mongo

from .mongo_steps import Moment, Steps, Stopped
from .mongo_wholeness import check_whole, empty

NAMESPACE = "crashes"
MOST_WRITES = 60

Act = Callable[[MongoStore], Awaitable[object]]


@asynccontextmanager
async def opened(address: str) -> AsyncGenerator[MongoStore]:
    """A store that waits for nobody."""
    store = MongoStore(address, SystemClock(), NAMESPACE, patience=0)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


class Crashes:
    """Kills a store at each write of an act, and goes on with another one."""

    def __init__(self, server: Mongo | GivenMongo, moment: Moment, *, swept: bool) -> None:
        self._server = server
        self._address = server.address
        self._moment = moment
        self._swept = swept

    async def at_each_write(
        self,
        prepare: Act,
        act: Act,
        go_on: Callable[[MongoStore, bool], Awaitable[object]],
        whole: bool = True,
    ) -> int:
        """How many writes the act has. `go_on` is told whether the act got through."""
        for number in range(1, MOST_WRITES):
            async with opened(self._address) as survivor:
                empty(self._address, NAMESPACE)
                await prepare(survivor)
                through = await self._act(act, number)
                if self._swept:
                    with survivor.server.calls() as collections:
                        await survivor.decisions.settle_all(collections)
                await go_on(survivor, through)
                with survivor.server.calls() as collections:
                    await survivor.decisions.settle_all(collections)
            if whole:
                check_whole(self._address, NAMESPACE)
            if through:
                return number - 1
        raise AssertionError("it writes without end")

    async def _act(self, act: Act, number: int) -> bool:
        async with opened(self._address) as victim:
            steps = Steps(victim)
            if self._moment is Moment.UNCONFIRMED:
                assert isinstance(self._server, Mongo), "it has fail points"
                steps.leave_unconfirmed(number, self._server)
            else:
                steps.stop_at(number, self._moment)
            try:
                await act(victim)
            except (Stopped, Unavailable):
                return False
            return True
