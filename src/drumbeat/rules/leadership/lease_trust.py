"""Lease trust: how long a node may assume that it leads.

A lease does not stop two nodes from acting at once. A leader can be paused for a minute between
the check "do I still lead?" and the write that follows, and an answer can stay in a buffer until
long after its term. So this module does not provide safety: the store does, by refusing the writes
of older epochs. This module makes sure that no two nodes assume leadership at the same time as long
as their clocks run at nearly the same rate.

**Trust counts from when the request was sent.** The coordinator starts the TTL when it grants the
lease, at some time between our sending the request and our reading the answer. Only the first of
the two is safe to count from:

    sent            granted              answered
     |----------------|----------------------|
     |<--- L * (1 - drift) - margin --->| deadline: we stop
                      |<--------------- L --------------->| others may start

`drift` is how much faster the coordinator's clock may run than ours; `margin` is the time that a
leader has to stop its work. Both shorten *our* side, so there is always a gap between our stop and
the start of the next leader.

**A renewal has four outcomes.** It is granted: the deadline moves forward, never back, since
answers may overtake each other. It is refused: another node holds the lease, we are deposed at
once, and do not release a lease that is not ours. It fails or is not answered: the outcome is
unknown, so we retry, soon at first and then less often, until the deadline. The deadline passes: we
are deposed, and release the term in case a renewal reached the coordinator after all. A release
names its term, so it cannot end a later one.

**A deposed leader starts again.** It keeps neither the term nor the epoch. It waits for a random
time, so that nodes do not collide again and again, and campaigns for a new term.

The checks of `LeaseTimings` leave room for this: two requests may time out between the time of a
renewal and the deadline, so one lost packet does not end a term.

Instants here are seconds of `Clock.elapsed`, which never jumps and counts suspended time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

from drumbeat.model.errors import UnsafeLease
from drumbeat.model.fleet.lease import Lease

SHORTEST_MARGIN = 0.5
"""Seconds: with less, a busy machine may not stop in time."""
SHORT_TTL = 3.0
"""Seconds: below this TTL, which only tests should use, the shortest margin shrinks with it."""
LONGEST_CAMPAIGN_PAUSE = 1.0
"""Seconds: after a crash there must be a new leader within the TTL and three seconds."""
ROUNDING = 1e-9
"""Tolerance for timings that meet a bound exactly, except for float rounding."""


@dataclass(frozen=True, slots=True)
class LeaseTimings:
    """The timings of a lease in seconds. Raises `UnsafeLease` if they do not fit together."""

    ttl: float
    """How long a term lasts at the coordinator, from its last renewal."""
    renew_every: float
    request_timeout: float
    margin: float
    """How long before the end of its term a leader stops acting."""
    drift: float
    """The share by which the coordinator's clock may run faster than ours."""

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
        """Safe timings for a TTL. For 10 s: renew every 3 s, time out after 2 s, stop 1 s early."""
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
    """Leading until the deadline."""

    lease: Lease
    deadline: float
    renew_at: float
    """When to ask for the next renewal; never after the deadline."""
    unanswered: int = 0
    """Renewals in a row that failed or were not answered."""


@dataclass(frozen=True, slots=True)
class Deposed:
    """No longer leading: stop the leader's tasks, drop the epoch, pause, campaign again."""

    reason: str
    release: bool
    """Whether to release the term: only if it may still be ours."""


LeadershipState: TypeAlias = Following | Leading | Deposed


def won(lease: Lease, sent_at: float, timings: LeaseTimings) -> Leading:
    """The coordinator granted a new term; the request was sent at `sent_at`."""
    deadline = _trusted_until(lease, sent_at, timings)
    return Leading(lease, deadline, renew_at=min(sent_at + timings.renew_every, deadline))


def renewed(state: Leading, lease: Lease, sent_at: float, timings: LeaseTimings) -> Leading:
    """The coordinator renewed the term; the request was sent at `sent_at`.

    The deadline never moves back. An answer about another term changes nothing.
    """
    if (lease.domain, lease.token) != (state.lease.domain, state.lease.token):
        return state
    again = won(lease, sent_at, timings)
    return again if again.deadline >= state.deadline else replace(state, unanswered=0)


def unanswered(state: Leading, now: float, timings: LeaseTimings) -> Leading | Deposed:
    """A renewal failed or timed out: retry with backoff until the deadline."""
    failures = state.unanswered + 1
    ask_at = min(now + _backoff(failures, timings), state.deadline)
    again = replace(state, renew_at=ask_at, unanswered=failures)
    return expired(again, now) or again


def refused(state: Leading) -> Deposed:
    """The coordinator says that the term is over. The present one is not ours."""
    return Deposed(f"term {state.lease.token} is over at the coordinator", release=False)


def expired(state: Leading, now: float) -> Deposed | None:
    """`Deposed` if the deadline has passed; None while the term can be trusted."""
    if now < state.deadline:
        return None
    # An unanswered renewal may have been applied: without a release, the other nodes would wait
    # for a whole TTL although nobody leads.
    return Deposed(
        f"term {state.lease.token} could not be renewed in time"
        + (f": {state.unanswered} requests without an answer" if state.unanswered else ""),
        release=True,
    )


def may_act(state: LeadershipState, now: float) -> bool:
    """Whether a leader may send a write now. The store still decides."""
    return isinstance(state, Leading) and now < state.deadline


def request_timeout(state: LeadershipState, now: float, timings: LeaseTimings) -> float:
    """How long to wait for an answer: at most until the end of the term that it renews."""
    if isinstance(state, Leading):
        return max(0.0, min(timings.request_timeout, state.deadline - now))
    return timings.request_timeout


def pause_before_campaign(timings: LeaseTimings, chance: float) -> float:
    """How long to wait before a campaign, by `chance` in [0, 1), so that nodes do not collide."""
    longest = min(timings.ttl / 10, LONGEST_CAMPAIGN_PAUSE)
    return longest * (1 + chance) / 2


def _backoff(failures: int, timings: LeaseTimings) -> float:
    # An eighth, a quarter, then always half of the request time-out, since the term is short.
    return timings.request_timeout / float(2 ** max(4 - failures, 1))


def _trusted_until(lease: Lease, sent_at: float, timings: LeaseTimings) -> float:
    # A coordinator may grant a shorter TTL than requested: the shorter one counts.
    ttl = min(timings.ttl, lease.ttl.total_seconds())
    return sent_at + ttl * (1 - timings.drift) - timings.margin
