"""A leader trusts its term for a whole TTL from when the answer came: the classic of locks."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from drumbeat.engine.elector import Elector
from drumbeat.ports.coordinator import Leases
from drumbeat.ports.runtime import Isolated
from drumbeat.rules.leading import Leading

CAUGHT_BY = {"S8"}
FOUND_AT = 52

enter, renew = Elector._enter, Elector._renew


def trusting(elector: Elector, state: Leading) -> Leading:
    ttl = elector.candidacy.timings.ttl
    return replace(state, deadline=elector._clock.elapsed() + ttl)


def enter_trusting(self: Elector, state: Leading, isolated: Isolated) -> None:
    enter(self, trusting(self, state), isolated)


async def renew_trusting(self: Elector, state: Leading, leases: Leases, isolated: Isolated) -> None:
    await renew(self, state, leases, isolated)
    after = self._state
    if isinstance(after, Leading) and after is not state and after.unanswered == 0:
        self._state = trusting(self, after)


@contextmanager
def planted() -> Generator[None]:
    with (
        patch.object(Elector, "_enter", enter_trusting),
        patch.object(Elector, "_renew", renew_trusting),
    ):
        yield
