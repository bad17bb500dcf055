"""What a witness proves, and when a free one means death."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drumbeat.model.errors import UnsafeLease
from drumbeat.model.fleet.node import Vanished, WitnessCheck
from drumbeat.model.ids import NodeId
from drumbeat.rules.leadership.witness_trust import (
    Held,
    Look,
    Released,
    Suspicion,
    Unwitnessed,
    WitnessState,
    WitnessTimings,
    dead,
    is_over,
    look_every,
    may_act,
    may_evict,
    next_look,
    patience_at,
    suspected,
    turn_of,
)

USUAL = WitnessTimings()
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ANNE = Vanished(NodeId("anne:1"), 1, NOON)
BERT = Vanished(NodeId("bert:2"), 2, NOON)
CARL = Vanished(NodeId("carl:3"), 3, NOON)
LONG_AGO = -1000.0


def look(asked_at: float, *vanished: Vanished, expected: int = 3, took: float = 0.0) -> Look:
    return Look(WitnessCheck(expected, vanished), asked_at, asked_at + took)


def looked(*looks: Look, patience: float = 0.8) -> list[NodeId]:
    """Who is dead after these looks."""
    suspicions: dict[Vanished, Suspicion] = {}
    found: list[NodeId] = []
    for each in looks:
        suspicions = dict(suspected(suspicions, each, patience))
        found += [one.node for one in dead(suspicions, each)]
    return found


@pytest.mark.parametrize(
    ("state", "turn", "now", "acts"),
    [
        (Unwitnessed(), 1, 99.0, True),
        (Held(7, 1, 10.0), 1, 10.0, True),
        (Held(7, 1, 10.0), 1, 10.499, True),
        (Held(7, 1, 10.0), 1, 10.5, False),
        (Held(7, 1, 10.0), 2, 10.0, False),
        (Held(7, 2, 10.0), 1, 10.0, False),
        (Released(7, 1, 10.0, "cut"), 1, 10.0, False),
    ],
)
def test_a_leader_acts_for_twice_the_interval_after_a_proof_was_sent(
    state: WitnessState, turn: int, now: float, acts: bool
) -> None:
    assert may_act(state, turn, now, USUAL) is acts


@pytest.mark.parametrize(
    ("state", "turn", "over"),
    [
        (Unwitnessed(), 1, False),
        (Held(7, 1, 0.0), 1, False),
        (Held(7, 1, -99.0), 1, False),
        (Held(7, 2, 0.0), 1, True),
        (Released(7, 1, 0.0, "cut"), 1, True),
    ],
)
def test_a_term_is_over_once_its_witness_was_free_and_not_while_a_proof_is_late(
    state: WitnessState, turn: int, over: bool
) -> None:
    assert (is_over(state, turn) is not None) is over


def test_a_term_that_began_before_the_first_number_is_judged_by_the_first_turn() -> None:
    assert turn_of(Unwitnessed()) == 1
    assert turn_of(Held(7, 1, 0.0)) == 1
    assert turn_of(Held(7, 3, 0.0)) == 3
    assert turn_of(Released(7, 3, 0.0, "cut")) == 3


def test_a_node_is_dead_once_it_was_gone_at_two_looks_far_enough_apart() -> None:
    assert looked(look(0.0, ANNE)) == []
    assert looked(look(0.0, ANNE), look(0.79, ANNE)) == []
    assert looked(look(0.0, ANNE), look(0.8, ANNE)) == [ANNE.node]


def test_patience_counts_from_an_answer_to_a_question() -> None:
    assert looked(look(0.0, ANNE, took=0.5), look(1.0, ANNE)) == []
    assert looked(look(0.0, ANNE, took=0.5), look(1.2, ANNE, took=5.0)) == []
    assert looked(look(0.0, ANNE, took=0.5), look(1.3, ANNE, took=5.0)) == [ANNE.node]


def test_a_node_that_was_there_between_two_looks_is_not_dead() -> None:
    assert looked(look(0.0, ANNE), look(0.4), look(0.8, ANNE), look(1.5, ANNE)) == []


def test_a_heartbeat_between_two_looks_starts_a_new_suspicion() -> None:
    later = Vanished(ANNE.node, ANNE.witness, NOON + timedelta(seconds=1))
    assert looked(look(0.0, ANNE), look(0.8, later), look(1.5, later)) == []
    assert looked(look(0.0, ANNE), look(0.8, later), look(1.6, later)) == [ANNE.node]


@pytest.mark.parametrize(
    ("vanished", "expected", "lost_at", "patience"),
    [
        ([ANNE], 1, LONG_AGO, 0.8),
        ([ANNE], 2, LONG_AGO, 0.8),
        ([ANNE, BERT], 4, LONG_AGO, 0.8),
        ([ANNE, BERT], 3, LONG_AGO, 5.0),
        ([ANNE, BERT, CARL], 3, LONG_AGO, 5.0),
        ([ANNE], 3, -4.9, 5.0),
        ([ANNE], 3, -5.0, 0.8),
    ],
)
def test_patience_is_longer_when_many_are_gone_or_our_own_witness_was(
    vanished: list[Vanished], expected: int, lost_at: float, patience: float
) -> None:
    seen = look(0.0, *vanished, expected=expected)
    assert patience_at(seen, USUAL.patience, lost_at, USUAL) == patience


def test_many_at_once_are_believed_where_no_server_can_free_all_witnesses() -> None:
    seen = replace(look(0.0, ANNE, BERT, CARL, expected=3), freed_together=False)
    assert patience_at(seen, USUAL.patience, LONG_AGO, USUAL) == USUAL.patience
    assert patience_at(seen, USUAL.patience, -4.9, USUAL) == USUAL.mass_loss_patience


def test_nodes_that_went_one_by_one_are_not_many_at_once() -> None:
    first = look(0.0, ANNE, expected=3)
    second = Look(WitnessCheck(3, (ANNE, BERT)), 5.0, 5.0, frozenset(first.check.vanished))
    assert second.new == 1
    assert patience_at(second, USUAL.patience, LONG_AGO, USUAL) == USUAL.patience


def test_longer_patience_lasts_when_the_others_are_back() -> None:
    many = suspected({}, look(0.0, ANNE, BERT), 5.0)
    later = suspected(many, look(1.0, ANNE), 0.8)
    assert not dead(later, look(1.0, ANNE))
    assert dead(later, look(5.0, ANNE))


def test_the_next_look_confirms_a_suspicion() -> None:
    suspicions = suspected({}, look(0.0, ANNE), 0.8)
    assert next_look(suspicions, 0.6, 0.5) == pytest.approx(0.2)
    assert next_look(suspicions, 0.1, 0.5) == 0.5
    assert next_look(suspicions, 0.9, 0.5) == 0.5
    assert next_look({}, 0.0, 0.5) == 0.5


def test_a_large_fleet_looks_about_as_often_as_a_small_one() -> None:
    assert look_every(1, USUAL) == look_every(4, USUAL) == USUAL.look_every
    assert look_every(100, USUAL) == 25 * USUAL.look_every


def test_nobody_is_evicted_twice_within_a_ttl() -> None:
    evicted = {ANNE.node: 100.0}
    assert not may_evict(ANNE.node, evicted, 109.9, 10.0)
    assert may_evict(ANNE.node, evicted, 110.0, 10.0)
    assert may_evict(BERT.node, evicted, 100.0, 10.0)


@pytest.mark.parametrize(
    "change",
    [
        {"prove_every": 0.3},
        {"patience": 0.5},
        {"in_flight": 0.5},
        {"idle_every": 1.5},
        {"rescue_patience": 1.0},
    ],
)
def test_timings_that_do_not_fit_together_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(UnsafeLease, match="must be longer"):
        WitnessTimings(**change)


@given(
    freed_at=st.floats(0, 10),
    rtt=st.floats(0, 0.5),
    noticed_after=st.floats(0, 5),
    slow=st.floats(0.99, 1.0),
)
def test_a_leader_has_stopped_before_it_can_be_evicted(
    freed_at: float, rtt: float, noticed_after: float, slow: float
) -> None:
    """The last proof was answered before the number was freed, so it was sent even earlier. The
    leader's clock may be slower than the others' by one percent.
    """
    proof_sent_at = freed_at - rtt
    stops_at = proof_sent_at + USUAL.trust / slow
    first = look(freed_at + noticed_after, ANNE)
    second = look(first.answered_at + USUAL.patience, ANNE)
    assert looked(first, second) == [ANNE.node] or second.asked_at - first.answered_at < 0.8
    assert stops_at < second.asked_at
