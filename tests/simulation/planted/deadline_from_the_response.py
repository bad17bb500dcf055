"""A leader trusts its term for a whole TTL from the response: the classic bug of locks."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.ports.coordinator import Leases
from drumbeat.rules.leadership.lease_trust import Leading

CAUGHT_BY = {"S8"}
FOUND_AT = 52

enter, renew = LeaderElector._enter, LeaderElector._renew


def trusting(elector: LeaderElector, state: Leading) -> Leading:
    ttl = elector.candidacy.timings.ttl
    return replace(state, deadline=elector._clock.elapsed() + ttl)


def enter_trusting(self: LeaderElector, state: Leading) -> None:
    enter(self, trusting(self, state))


async def renew_trusting(self: LeaderElector, state: Leading, leases: Leases) -> None:
    await renew(self, state, leases)
    after = self._state
    if isinstance(after, Leading) and after is not state and after.unanswered == 0:
        self._state = trusting(self, after)


@contextmanager
def planted() -> Generator[None]:
    with (
        patch.object(LeaderElector, "_enter", enter_trusting),
        patch.object(LeaderElector, "_renew", renew_trusting),
    ):
        yield
