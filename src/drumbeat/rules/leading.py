"""Leading: when a node may believe that it leads.

A lease does not stop two nodes from acting at once. A leader can be paused for a minute between
"do I still lead?" and the write that follows, and a reply can lie in a buffer until long after
the term that it speaks of. So safety does not live here: the store refuses the writes of an older
epoch, whatever their author believes. What lives here is the belief itself, and it is made so
that, while clocks run at nearly the same rate, no two nodes believe at the same time.

**Trust is counted from when we asked.** The coordinator starts its TTL when it grants the lease,
which is somewhere between our sending and our reading of the answer. Only the first of these two
is on the safe side:

    sent            granted              answered
     |----------------|----------------------|
     |<--- L * (1 - drift) - margin --->| deadline: we stop
                      |<--------------- L --------------->| others may start

`drift` is how much faster the coordinator's clock may run than ours; `margin` is the time that we
give ourselves to stop what is under way. Both come off *our* side, so the gap between our stopping
and another's starting never closes.

**Four things can follow a renewal.** It is granted: the deadline moves on, and never back, for
answers may overtake each other. It is refused: somebody else holds the lease, we are deposed at
once, and we do not release what is no longer ours. It fails or goes unanswered: that is not a
refusal, and not proof that nothing happened; we ask again, soon at first and then less often,
until the deadline. The deadline comes: we are deposed, and release the term in case a renewal
reached the coordinator after all; a release names the very term, so it can harm nobody.

**Nothing comes back.** A deposed leader keeps neither the term nor the epoch. It waits a little,
each node for a different time so that they do not collide for ever, and campaigns for a new one.

The checks of `LeaseTimings` keep room for this: two whole requests may time out between a renewal
that is due and the deadline, so that one lost packet does not cost a term.

Instants here are seconds of `Clock.elapsed`, which never jumps and counts suspended time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

from drumbeat.model.errors import UnsafeLease
from drumbeat.model.lease import Lease

SHORTEST_MARGIN = 0.5
"""Seconds: below this, a busy machine may not get to stop in time."""
SHORT_TTL = 3.0
"""Seconds: below this TTL, which only tests should use, the shortest margin shrinks with it."""
LONGEST_CAMPAIGN_PAUSE = 1.0
"""Seconds: a crash must be followed by a new leader within the TTL and three seconds more."""
ROUNDING = 1e-9
"""Timings that meet a bound exactly may miss it by the last digit of a float."""


@dataclass(frozen=True, slots=True)
class LeaseTimings:
    """The times of a lease, in seconds. Values that could not work together are refused."""

    ttl: float
    """How long a term lasts at the coordinator, from its last renewal."""
    renew_every: float
    request_timeout: float
    margin: float
    """How long before the end of its term a leader stops."""
    drift: float
    """By what share the coordinator's clock may run faster than ours."""

    def __post_init__(self) -> None:
        for name in ("ttl", "renew_every", "request_timeout"):
            seconds = getattr(self, name)
            _require(0 < seconds < inf, f"{name} must be longer than zero, not {seconds:g} s")
        _require(0 <= self.drift < 1, f"drift must lie between 0 and 1, not {self.drift:g}")
        self._require_room_to_renew()
        self._require_room_to_stop()

    def _require_room_to_renew(self) -> None:
        _require(
            self.renew_every <= self.ttl / 3 + ROUNDING,
            f"renew_every {self.renew_every:g} s must be at most a third of the TTL "
            f"of {self.ttl:g} s",
        )
        lost = self.drift * self.ttl
        needed = self.renew_every + 2 * self.request_timeout + self.margin + lost
        _require(
            needed <= self.ttl + ROUNDING,
            f"renew_every {self.renew_every:g} s + 2 x request_timeout {self.request_timeout:g} s "
            f"+ margin {self.margin:g} s + drift {lost:g} s = {needed:g} s "
            f"must fit into the TTL of {self.ttl:g} s",
        )

    def _require_room_to_stop(self) -> None:
        least = max(_shortest_margin(self.ttl), self.ttl / 20)
        _require(
            self.margin >= least - ROUNDING,
            f"margin {self.margin:g} s must be at least {least:g} s for a TTL of {self.ttl:g} s",
        )

    @classmethod
    def for_ttl(cls, ttl: float, renew_every: float | None = None) -> LeaseTimings:
        """Safe timings for a TTL: of 10 s, renew every 3, wait for 2, stop 1 s early, drift 1 %."""
        return cls(
            ttl=ttl,
            renew_every=ttl * 3 / 10 if renew_every is None else renew_every,
            request_timeout=ttl / 5,
            margin=max(ttl / 10, _shortest_margin(ttl)),
            drift=0.01,
        )

    def longest_renewal(self) -> float:
        """The longest `renew_every` that these timings leave room for."""
        room = self.ttl - 2 * self.request_timeout - self.margin - self.drift * self.ttl
        return min(self.ttl / 3, room)


def _shortest_margin(ttl: float) -> float:
    return SHORTEST_MARGIN * min(1.0, ttl / SHORT_TTL)


def _require(holds: object, otherwise: str) -> None:
    # Conditions are written so that a NaN, of which no comparison is true, is refused as well.
    if not holds:
        raise UnsafeLease(otherwise)


@dataclass(frozen=True, slots=True)
class Following:
    """Not leading, since an instant."""

    since: float


@dataclass(frozen=True, slots=True)
class Leading:
    """Leading, until the deadline and not an instant longer."""

    lease: Lease
    deadline: float
    renew_at: float
    """When to ask (again) for a renewal; never after the deadline."""
    unanswered: int = 0
    """Renewals in a row that failed or were not answered."""


@dataclass(frozen=True, slots=True)
class Deposed:
    """Led, and does not any more: stop leader tasks, drop the epoch, pause, campaign anew."""

    reason: str
    release: bool
    """Whether to release the term: only if it may still be ours."""


Standing: TypeAlias = Following | Leading | Deposed


def won(lease: Lease, sent_at: float, timings: LeaseTimings) -> Leading:
    """The coordinator granted a new term, asked for at `sent_at`."""
    deadline = _trusted_until(lease, sent_at, timings)
    return Leading(lease, deadline, renew_at=min(sent_at + timings.renew_every, deadline))


def renewed(state: Leading, lease: Lease, sent_at: float, timings: LeaseTimings) -> Leading:
    """The coordinator renewed the term, asked to at `sent_at`.

    The deadline never moves back. An answer about another term lengthens nothing.
    """
    if (lease.domain, lease.token) != (state.lease.domain, state.lease.token):
        return state
    again = won(lease, sent_at, timings)
    return again if again.deadline >= state.deadline else replace(state, unanswered=0)


def unanswered(state: Leading, now: float, timings: LeaseTimings) -> Leading | Deposed:
    """A renewal failed or timed out: ask again, a little later each time, until the deadline."""
    failures = state.unanswered + 1
    ask_at = min(now + _backoff(failures, timings), state.deadline)
    again = replace(state, renew_at=ask_at, unanswered=failures)
    return expired(again, now) or again


def refused(state: Leading) -> Deposed:
    """The coordinator says that the term is over. What is there now is someone else's."""
    return Deposed(f"term {state.lease.token} is over at the coordinator", release=False)


def resigned(state: Leading) -> Deposed:
    """The leader gives its term up of its own will, so that another can lead at once."""
    return Deposed(f"term {state.lease.token} was given up", release=True)


def expired(state: Leading, now: float) -> Deposed | None:
    """Deposed if the deadline has come; None while the term can be trusted."""
    if now < state.deadline:
        return None
    # A renewal that we heard nothing of may have been applied: without a release, the others
    # would wait a whole TTL for nobody.
    return Deposed(
        f"term {state.lease.token} could not be renewed in time"
        + (f": {state.unanswered} requests without an answer" if state.unanswered else ""),
        release=True,
    )


def may_act(state: Standing, now: float) -> bool:
    """Whether a leader's write may be sent now. The store has the last word all the same."""
    return isinstance(state, Leading) and now < state.deadline


def patience(state: Standing, now: float, timings: LeaseTimings) -> float:
    """How long to wait for an answer: a renewal may not outlive the term that it renews."""
    if isinstance(state, Leading):
        return max(0.0, min(timings.request_timeout, state.deadline - now))
    return timings.request_timeout


def pause_before_campaign(timings: LeaseTimings, chance: float) -> float:
    """How long to wait before asking for a term, by a chance in [0, 1): nodes must not collide."""
    longest = min(timings.ttl / 10, LONGEST_CAMPAIGN_PAUSE)
    return longest * (1 + chance) / 2


def _backoff(failures: int, timings: LeaseTimings) -> float:
    # An eighth, a quarter, then always half of a request's time-out: the term is short, and
    # whoever answers "try again" for longer than that is as good as silent.
    return timings.request_timeout / float(2 ** max(4 - failures, 1))


def _trusted_until(lease: Lease, sent_at: float, timings: LeaseTimings) -> float:
    # A coordinator may grant less than it was asked for: the shorter of the two binds us.
    ttl = min(timings.ttl, lease.ttl.total_seconds())
    return sent_at + ttl * (1 - timings.drift) - timings.margin
