"""When a node may believe that it leads."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drumbeat.model.errors import UnsafeLease
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId
from drumbeat.rules.leadership.lease_trust import (
    Deposed,
    Following,
    Leading,
    LeaseTimings,
    expired,
    may_act,
    pause_before_campaign,
    refused,
    renewed,
    request_timeout,
    unanswered,
    won,
)

TEN = LeaseTimings.for_ttl(10.0)
LEASE = Lease("scheduler", NodeId("a:1"), "domain", 4, timedelta(seconds=10))


def test_the_defaults_for_ten_seconds() -> None:
    assert LeaseTimings(10.0, 3.0, 2.0, 1.0, 0.01) == TEN


@pytest.mark.parametrize("ttl", [0.05, 0.2, 1.0, 2.9, 3.0, 3.1, 5.0, 10.0, 15.0, 60.0, 3600.0])
def test_timings_for_any_ttl_are_legal_and_leave_time_to_lead(ttl: float) -> None:
    timings = LeaseTimings.for_ttl(ttl)
    trusted = timings.ttl * (1 - timings.drift) - timings.margin
    assert trusted > timings.renew_every + 2 * timings.request_timeout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"renew_every": 3.4}, "3.4 s must be at most a third", id="renews too late"),
        pytest.param({"request_timeout": 3.0}, "= 10.1 s must fit into", id="no room to ask twice"),
        pytest.param({"margin": 0.4}, "0.4 s must be at least 0.5 s", id="no room to stop"),
        pytest.param({"margin": 3.0}, "= 10.1 s must fit into", id="stops too early to renew"),
        pytest.param({"drift": 0.3}, "drift 3 s = 11 s must fit", id="clocks run too unequal"),
        pytest.param({"drift": -0.1}, "between 0 and 1", id="a drift below zero"),
        pytest.param({"ttl": 0.0}, "ttl must be longer than zero", id="no time at all"),
        pytest.param({"ttl": float("inf")}, "ttl must be longer", id="an endless term"),
        pytest.param({"renew_every": -1.0}, "renew_every must be", id="a period below zero"),
        pytest.param({"request_timeout": 0.0}, "request_timeout must be", id="no time to answer"),
        pytest.param({"margin": float("nan")}, "margin nan s", id="not a number"),
    ],
)
def test_unsafe_timings_are_refused_with_their_numbers(change: dict[str, float], said: str) -> None:
    with pytest.raises(UnsafeLease, match=said):
        replace(TEN, **change)


def test_a_long_ttl_needs_a_margin_of_a_twentieth() -> None:
    with pytest.raises(UnsafeLease, match=r"at least 3 s for a TTL of 60 s"):
        LeaseTimings(60.0, 15.0, 5.0, 2.0, 0.01)


def test_the_shortest_margin_shrinks_with_a_ttl_below_three_seconds() -> None:
    assert LeaseTimings.for_ttl(3.0).margin == pytest.approx(0.5)
    assert LeaseTimings.for_ttl(0.3).margin == pytest.approx(0.05)
    with pytest.raises(UnsafeLease, match="margin"):
        LeaseTimings(0.3, 0.09, 0.06, 0.04, 0.01)


def test_a_new_leader_trusts_itself_from_when_it_asked() -> None:
    leading = won(LEASE, sent_at=100.0, timings=TEN)
    assert leading.deadline == pytest.approx(100 + 9.9 - 1)
    assert leading.renew_at == pytest.approx(103)
    assert may_act(leading, 108.89)
    assert not may_act(leading, leading.deadline)


def test_a_coordinator_that_grants_less_than_asked_is_believed() -> None:
    shorter = replace(LEASE, ttl=timedelta(seconds=5))
    leading = won(shorter, 100.0, TEN)
    assert leading.deadline == pytest.approx(100 + 4.95 - 1)


def test_only_a_leader_may_act() -> None:
    assert not may_act(Following(since=0.0), 1.0)
    assert not may_act(Deposed("over", release=True), 1.0)


def test_a_renewal_moves_the_deadline_on_and_forgets_failures() -> None:
    troubled = unanswered(won(LEASE, 100.0, TEN), 105.0, TEN)
    assert isinstance(troubled, Leading)
    again = renewed(troubled, LEASE, 105.5, TEN)
    assert again.deadline == pytest.approx(114.4)
    assert again.renew_at == pytest.approx(108.5)
    assert again.unanswered == 0


def test_an_answer_that_was_overtaken_does_not_move_the_deadline_back() -> None:
    leading = renewed(won(LEASE, 100.0, TEN), LEASE, 106.0, TEN)
    late = renewed(leading, LEASE, 103.0, TEN)
    assert late.deadline == leading.deadline
    assert late.renew_at == leading.renew_at


@pytest.mark.parametrize("other", [{"token": 5}, {"domain": "restored"}])
def test_an_answer_about_another_term_lengthens_nothing(other: dict[str, object]) -> None:
    leading = won(LEASE, 100.0, TEN)
    assert renewed(leading, replace(LEASE, **other), 105.0, TEN) is leading  # type: ignore[arg-type]  # one field at a time


def test_without_an_answer_a_leader_asks_again_later_and_later_until_its_deadline() -> None:
    state = won(LEASE, 100.0, TEN)
    over: list[Deposed] = []
    waits: list[float] = []
    now = 103.0
    while not over and len(waits) < 20:
        match unanswered(state, now, TEN):
            case Leading() as state:
                waits.append(round(state.renew_at - now, 6))
                now = state.renew_at
            case Deposed() as end:
                over.append(end)
    assert waits[:4] == [0.25, 0.5, 1.0, 1.0]
    assert now == pytest.approx(108.9)
    said = f"term 4 could not be renewed in time: {len(waits) + 1} requests without an answer"
    assert over == [Deposed(said, release=True)]


def test_a_refused_leader_is_deposed_and_does_not_release_what_is_not_its_own() -> None:
    assert refused(won(LEASE, 100.0, TEN)) == Deposed(
        "term 4 is over at the coordinator", release=False
    )


def test_a_leader_expires_at_its_deadline_and_not_before() -> None:
    leading = won(LEASE, 100.0, TEN)
    assert expired(leading, 108.8) is None
    over = expired(leading, leading.deadline)
    assert over == Deposed("term 4 could not be renewed in time", release=True)


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        pytest.param(103.0, 2.0, id="a whole request in the middle of a term"),
        pytest.param(107.9, 1.0, id="what is left near its end"),
        pytest.param(120.0, 0.0, id="nothing after it"),
    ],
)
def test_a_renewal_does_not_outlive_the_term_that_it_renews(now: float, seconds: float) -> None:
    assert request_timeout(won(LEASE, 100.0, TEN), now, TEN) == pytest.approx(seconds)


def test_a_follower_waits_for_a_whole_request() -> None:
    assert request_timeout(Following(0.0), 5.0, TEN) == 2.0


@pytest.mark.parametrize(
    ("ttl", "shortest", "longest"), [(10.0, 0.5, 1.0), (3.0, 0.15, 0.3), (600.0, 0.5, 1.0)]
)
def test_campaigns_are_spread_but_never_late(ttl: float, shortest: float, longest: float) -> None:
    timings = LeaseTimings.for_ttl(ttl)
    assert pause_before_campaign(timings, 0.0) == pytest.approx(shortest)
    assert pause_before_campaign(timings, 0.999999) == pytest.approx(longest, rel=1e-4)


@st.composite
def conversations(draw: st.DrawFn) -> list[tuple[str, float, float]]:
    """What a leader hears: each answer, how long it took, and the pause before the next."""
    kinds = st.sampled_from(["granted", "granted late", "silence", "refused"])
    pauses = st.floats(0, 6)
    return draw(st.lists(st.tuples(kinds, pauses, pauses), max_size=30))


@given(conversations(), st.sampled_from([0.2, 3.0, 10.0, 30.0]))
def test_nobody_trusts_itself_beyond_what_the_last_granted_request_allows(
    conversation: list[tuple[str, float, float]], ttl: float
) -> None:
    """Times are drawn in fifths of the TTL; the coordinator keeps its own record of the term."""
    timings = LeaseTimings.for_ttl(ttl)
    lease = replace(LEASE, ttl=timedelta(seconds=ttl))
    scale, now = ttl / 5, 100.0
    last_granted = now
    state: Leading | Deposed = won(lease, now, timings)
    overtaken: list[float] = []
    for kind, took, pause in conversation:
        if isinstance(state, Deposed):
            break
        sent_at, now = now, now + took * scale
        match kind:
            case "granted":
                state = renewed(state, lease, sent_at, timings)
                last_granted = max(last_granted, sent_at)
            case "granted late":
                overtaken.append(sent_at)
                state = renewed(state, lease, overtaken[0], timings)
                last_granted = max(last_granted, overtaken[0])
            case "silence":
                state = unanswered(state, now, timings)
            case _:
                state = refused(state)
        now += pause * scale
        bound = last_granted + ttl * (1 - timings.drift) - timings.margin
        if isinstance(state, Leading):
            assert state.deadline == pytest.approx(bound)
            assert state.renew_at <= state.deadline
            assert request_timeout(state, now, timings) <= max(0.0, state.deadline - now) + 1e-9
            assert not may_act(state, bound + 1e-6)
        assert not may_act(state, max(now, bound + 1e-6))
