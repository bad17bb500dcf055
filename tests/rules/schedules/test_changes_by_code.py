"""A change by code waits for the ticks that were due before it, and loses none of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.schedules.plan import Skip, SkipReason
from drumbeat.model.schedules.policy import Misfire, Overlap, Policies
from drumbeat.model.schedules.schedule import DueSchedule, Origin, Schedule, StoredSchedule
from drumbeat.model.triggers import Cron, cron, every, once
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.planning.plan import plan
from drumbeat.rules.planning.ticks import next_tick
from drumbeat.rules.schedules import schedule_edit
from drumbeat.rules.schedules.schedule_edit import declare

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTELY, TENTH = cron("* * * * *"), cron("*/10 * * * *")
CATCH_UP = Policies(misfire=Misfire.ALL, overlap=Overlap.ALLOW, window=timedelta(days=9))


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def schedule(trigger: Trigger, policies: Policies = CATCH_UP, task: str = "work") -> Schedule:
    return Schedule("beat", trigger, JobSpec(task), policies)


def created(trigger: Trigger = MINUTELY, policies: Policies = CATCH_UP) -> StoredSchedule:
    edit = declare(None, schedule(trigger, policies), NOON).edit
    assert edit is not None
    assert edit.after is not None
    return edit.after


def led(stored: StoredSchedule, now: datetime) -> StoredSchedule:
    """The schedule after a leader has taken up what is due."""
    made = plan(DueSchedule(stored, None), now)
    runs = stored.runs + len(made.fires)
    return replace(stored, cursor=made.cursor, next_tick=made.next_tick, runs=runs)


def test_a_change_waits_while_ticks_of_the_old_definition_are_due() -> None:
    declared = declare(created(), schedule(TENTH), at(86.5))
    assert (declared.edit, declared.waits) == (None, True)


def test_a_tick_at_the_very_moment_of_the_change_belongs_to_the_old_definition() -> None:
    assert declare(created(), schedule(TENTH), at(1)).waits
    assert not declare(created(), schedule(TENTH), at(0.9)).waits


def test_the_change_is_written_when_the_leader_has_caught_up() -> None:
    edit = declare(led(created(), at(86.5)), schedule(TENTH), at(86.6), since=at(86.4)).edit
    assert edit is not None
    assert edit.after is not None
    assert edit.skips == ()
    assert (edit.after.cursor, edit.after.next_tick) == (at(86.6), at(90))


def test_ticks_that_come_due_while_it_waits_do_not_hold_it_up_for_ever() -> None:
    """The cursor has passed the moment at which the change was asked for."""
    caught_up = led(created(), at(86.5))
    edit = declare(caught_up, schedule(TENTH), at(91), since=at(86.4)).edit
    assert edit is not None
    assert edit.after is not None
    assert edit.skips == ()
    assert edit.after.cursor == caught_up.cursor
    assert edit.after.next_tick == at(90), "the new definition rules from the cursor on"


def test_a_cursor_before_the_change_was_asked_for_is_not_enough() -> None:
    behind = led(created(), at(80.5))
    assert declare(behind, schedule(TENTH), at(91), since=at(86.4)).waits


def test_once_fires_after_it_had_to_wait() -> None:
    edit = declare(led(created(), at(86.5)), schedule(once()), at(91), since=at(86.4)).edit
    assert edit is not None
    assert edit.after is not None
    assert edit.after.next_tick == at(91)


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(replace(created(), paused=True), id="paused"),
        pytest.param(replace(created(), next_tick=None), id="over"),
        pytest.param(replace(created(), next_tick=at(100)), id="nothing is due"),
    ],
)
def test_nothing_is_waited_for_that_will_not_fire(stored: StoredSchedule) -> None:
    declared = declare(stored, schedule(TENTH), at(86.5))
    assert declared.edit is not None
    assert not declared.waits


def test_a_pause_skips_what_is_due_as_paused() -> None:
    paused = replace(created(), paused=True)
    edit = declare(paused, schedule(TENTH), at(3.5)).edit
    assert edit is not None
    assert edit.skips == (Skip(at(1), at(3), 3, SkipReason.PAUSED),)


class Broken(Cron):
    """A trigger that fails once it is stored."""

    def named_after(self, instant: datetime) -> datetime | None:
        raise ValueError("no such zone any more")


def test_a_schedule_that_no_leader_can_plan_does_not_block_the_repair() -> None:
    stored = created(every(minutes=1))
    broken = replace(stored, schedule=schedule(Broken("* * * * *")))
    with pytest.raises(ValueError, match="no such zone"):
        plan(DueSchedule(broken, None), at(5))
    edit = declare(broken, schedule(TENTH), at(5)).edit
    assert edit is not None
    assert edit.skips == (Skip(at(1), at(1), 1, SkipReason.OVERRIDDEN),)
    assert schedule_edit.remove(broken, at(5)).after is None


def test_a_person_who_defined_it_is_not_overruled_by_waiting() -> None:
    person = replace(created(), origin=Origin.PERSON)
    declared = declare(person, schedule(TENTH), at(5))
    assert (declared.drifted, declared.waits, declared.edit) == (True, False, None)


def test_a_change_by_a_person_does_not_wait() -> None:
    edit = schedule_edit.replace(created(), schedule(TENTH), at(3.5))
    assert edit.skips == (Skip(at(1), at(3), 3, SkipReason.OVERRIDDEN),)


triggers = st.sampled_from(
    [MINUTELY, TENTH, cron("*/7 * * * *"), every(minutes=3), every(seconds=45)]
)
moves = st.lists(
    st.tuples(st.sampled_from(["deploy", "lead"]), st.floats(0, 40), triggers), max_size=25
)


@settings(max_examples=150, deadline=None)
@given(moves)
def test_over_any_deployments_and_outages_every_tick_fires_once_under_its_own_definition(
    steps: list[tuple[str, float, Trigger]],
) -> None:
    stored = created()
    now, wanted, since = NOON, schedule(MINUTELY), None
    fired: list[datetime] = []
    expected: list[datetime] = []
    for what, minutes, trigger in steps:
        now += timedelta(minutes=minutes)
        if what == "deploy":
            wanted, since = schedule(trigger), None
        else:
            made = plan(DueSchedule(stored, None), now)
            assert made.skips == ()
            fired += [fire.tick_at for fire in made.fires]
            expected += _named(stored, made.cursor)
            stored = led(stored, now)
        declared = declare(stored, wanted, now, since)
        since = (since or now) if declared.waits else None
        if declared.edit is not None:
            assert declared.edit.skips == (), "nothing is dropped"
            assert declared.edit.after is not None
            assert declared.edit.after.cursor >= stored.cursor
            assert _named(stored, declared.edit.after.cursor) == []
            stored = declared.edit.after
    assert fired == expected
    assert len(set(fired)) == len(fired)


def _named(stored: StoredSchedule, until: datetime) -> list[datetime]:
    """The ticks of the stored definition after its cursor, up to an instant."""
    ticks: list[datetime] = []
    tick = next_tick(stored.schedule, stored.cursor)
    while tick is not None and tick <= until:
        ticks.append(tick)
        tick = next_tick(stored.schedule, tick)
    return ticks
