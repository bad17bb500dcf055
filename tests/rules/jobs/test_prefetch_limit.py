"""How many attempts a node may hold before it can start them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drumbeat.rules.jobs.prefetch_limit import (
    MOST_AHEAD,
    PATIENCE,
    TARGET,
    Allowance,
    Ask,
    ClaimAnswer,
    Stretch,
    after,
    allowance_at_start,
    answered,
    ask_for,
)

SLOTS = 100
QUICK = Stretch(ended=100, spent=0.1, waited=0.01)

allowances = st.builds(Allowance, st.just(SLOTS), st.integers(1, SLOTS + MOST_AHEAD), st.booleans())
stretches = st.builds(
    Stretch, st.integers(0, 10_000), st.floats(0, 1e6), st.floats(0, PATIENCE), st.booleans()
)


def held(unstarted: int, *, quick: bool = True) -> Allowance:
    return Allowance(SLOTS, unstarted, quick)


@pytest.mark.parametrize(
    ("before", "seen", "unstarted"),
    [
        pytest.param(held(400), QUICK, 400, id="while all is well it stays"),
        pytest.param(held(400), Stretch(), 400, id="nothing seen changes nothing"),
        pytest.param(held(400), Stretch(10, 0.1, 2 * TARGET), 200, id="twice as long: half"),
        pytest.param(held(10), Stretch(9, 0.1, 4 * TARGET), 2, id="also below the slots"),
        pytest.param(held(1), Stretch(1, 0.0, 4 * TARGET), 1, id="one may always wait"),
        pytest.param(held(400), Stretch(2, 3 * TARGET), SLOTS, id="slow on the average: no more"),
        pytest.param(
            held(400), Stretch(1, 3 * TARGET), SLOTS, id="one job, longer than the target"
        ),
        pytest.param(held(40), Stretch(2, 3 * TARGET), 40, id="slow handlers need their slots"),
        pytest.param(held(400), Stretch(100, 0.1 + 2.0), 400, id="a few slow ones among many"),
        pytest.param(held(400), Stretch(100, 0.1, 0.01, gave_up=True), 1, id="it gave up: one"),
    ],
)
def test_what_was_seen_lowers_the_allowance(
    before: Allowance, seen: Stretch, unstarted: int
) -> None:
    assert after(before, seen).unstarted == unstarted


@pytest.mark.parametrize(
    ("before", "answer", "unstarted"),
    [
        pytest.param(held(100), ClaimAnswer(50, ran_dry=True), 200, id="ran dry: twice as many"),
        pytest.param(held(100), ClaimAnswer(50), 100, id="never ran dry: enough"),
        pytest.param(held(1000), ClaimAnswer(50, ran_dry=True), 1100, id="up to the most"),
        pytest.param(held(300), ClaimAnswer(49, ran_dry=True), 100, id="the backlog is over"),
        pytest.param(held(30), ClaimAnswer(49, ran_dry=True), 30, id="the same below the slots"),
        pytest.param(
            held(100, quick=False), ClaimAnswer(50, ran_dry=True), 100, id="not for slow ones"
        ),
        pytest.param(
            held(30, quick=False), ClaimAnswer(50, ran_dry=True), 60, id="but up to the slots"
        ),
        pytest.param(held(300), ClaimAnswer(50, ran_dry=True, last=True), 100, id="last attempts"),
    ],
)
def test_what_the_store_gave_moves_the_allowance(
    before: Allowance, answer: ClaimAnswer, unstarted: int
) -> None:
    assert answered(before, Ask(10, 40), answer).unstarted == unstarted


@pytest.mark.parametrize(
    ("unstarted", "busy", "waiting", "ask"),
    [
        pytest.param(100, 0, 0, Ask(100), id="as many as there are slots"),
        pytest.param(100, 30, 0, Ask(70), id="as many as are free"),
        pytest.param(100, 30, 20, Ask(50), id="those that wait have theirs"),
        pytest.param(100, 100, 0, Ask(0), id="nothing if none is free"),
        pytest.param(300, 100, 0, Ask(0, 200), id="ahead although none is free"),
        pytest.param(300, 1, 0, Ask(99, 200), id="both"),
        pytest.param(300, 1, 150, Ask(0, 149), id="what waits counts first for the free slots"),
        pytest.param(300, 1, 299, Ask(0), id="enough waits"),
        pytest.param(100, 1, 400, Ask(0), id="more than enough waits"),
        pytest.param(1, 30, 0, Ask(1), id="free slots that start nothing count as one"),
        pytest.param(1, 30, 1, Ask(0), id="and one waits already"),
    ],
)
def test_what_is_asked_for(unstarted: int, busy: int, waiting: int, ask: Ask) -> None:
    assert ask_for(held(unstarted), busy, waiting) == ask


def test_four_rounds_of_quick_jobs_lead_from_nothing_to_the_most() -> None:
    allowance = allowance_at_start(SLOTS)
    assert allowance.ahead == 0
    seen = [allowance.ahead]
    for _ in range(4):
        allowance = after(allowance, QUICK)
        ask = ask_for(allowance, busy=0, waiting=0)
        allowance = answered(allowance, ask, ClaimAnswer(ask.total, ran_dry=True))
        seen.append(allowance.ahead)
    assert seen == [0, 100, 300, 700, MOST_AHEAD]


def test_a_node_that_gave_up_proves_itself_anew() -> None:
    allowance = after(held(1100), Stretch(gave_up=True))
    steps: list[int] = []
    while allowance.unstarted < SLOTS:
        ask = ask_for(allowance, busy=0, waiting=0)
        steps.append(ask.total)
        allowance = answered(allowance, ask, ClaimAnswer(ask.total, ran_dry=True))
    assert steps == [1, 2, 4, 8, 16, 32, 64]
    assert allowance.ahead == 0  # nothing has ended yet, so nothing says that they are quick


@given(allowances, stretches)
def test_what_was_seen_never_raises_it(allowance: Allowance, seen: Stretch) -> None:
    assert 1 <= after(allowance, seen).unstarted <= allowance.unstarted


@given(allowances, stretches)
def test_nothing_is_held_ahead_of_slow_handlers(allowance: Allowance, seen: Stretch) -> None:
    if seen.ended and seen.spent > TARGET * seen.ended:
        assert after(allowance, seen).ahead == 0


@given(allowances, st.integers(0, SLOTS), st.integers(0, 2000), st.data())
def test_a_node_never_holds_more_than_it_is_allowed(
    allowance: Allowance, busy: int, waiting: int, data: st.DataObject
) -> None:
    ask = ask_for(allowance, busy, waiting)
    assert ask.limit >= 0
    assert ask.ahead >= 0
    assert ask.limit <= SLOTS - busy
    if ask.total:
        assert waiting + ask.total <= allowance.unstarted
    given_ = data.draw(st.integers(0, ask.total))
    answer = ClaimAnswer(given_, data.draw(st.booleans()), data.draw(st.booleans()))
    later = answered(allowance, ask, answer)
    assert 1 <= later.unstarted <= SLOTS + MOST_AHEAD
    assert later.unstarted <= 2 * allowance.unstarted
    if later.ahead > allowance.ahead:
        assert later.quick
