"""What a change by code or by a person makes of a stored schedule."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from drumbeat.model.errors import InvalidInput, NaiveDatetime
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.schedules.plan import Edit, Skip, SkipReason
from drumbeat.model.schedules.policy import Policies
from drumbeat.model.schedules.schedule import DueSchedule, Origin, Schedule, StoredSchedule
from drumbeat.model.triggers import Calendar, any_of, cron, every, every_between, once
from drumbeat.model.triggers.trigger import Trigger
from drumbeat.rules.planning.plan import plan
from drumbeat.rules.schedules import schedule_edit
from drumbeat.rules.schedules.fingerprint import fingerprint
from drumbeat.rules.schedules.schedule_edit import declare

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MINUTELY = cron("* * * * *")


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def schedule(trigger: Trigger = MINUTELY, task: str = "work") -> Schedule:
    return Schedule("beat", trigger, JobSpec(task))


def written(edit: Edit | None) -> StoredSchedule:
    """The schedule as it stands after an edit that there is."""
    assert edit is not None
    assert edit.after is not None
    return edit.after


def created(trigger: Trigger = MINUTELY, now: datetime = NOON) -> StoredSchedule:
    return written(declare(None, schedule(trigger), now).edit)


def edited_by_a_person() -> StoredSchedule:
    return written(schedule_edit.replace(created(), schedule(cron("0 * * * *")), NOON))


class TestCreating:
    def test_a_new_schedule_counts_from_now(self) -> None:
        edit = declare(None, schedule(), NOON).edit
        assert edit is not None
        assert (edit.before, edit.skips) == (None, ())
        after = written(edit)
        assert (after.version, after.cursor, after.next_tick) == (1, NOON, at(1))
        assert (after.created_at, after.updated_at) == (NOON, NOON)
        assert (after.origin, after.declared) == (Origin.CODE, fingerprint(schedule()))

    def test_a_person_can_create_one_too(self) -> None:
        after = written(schedule_edit.replace(None, schedule(), NOON))
        assert (after.origin, after.declared, after.next_tick) == (Origin.PERSON, "", at(1))

    def test_an_interval_begins_when_the_schedule_does_and_first_ticks_at_its_end(self) -> None:
        assert created(every(minutes=7), at(0.5)).next_tick == at(7.5)

    def test_a_random_interval_is_drawn_from_the_schedules_name(self) -> None:
        bound = every_between(60, 600).bound("beat").anchored(NOON)
        assert created(every_between(60, 600)).schedule.trigger == bound

    @pytest.mark.parametrize(
        "trigger",
        [
            pytest.param(once(), id="alone"),
            pytest.param(any_of(once(), every(hours=1)), id="beside an interval"),
            pytest.param(once().excluding(Calendar(dates=["2020-01-01"])), id="with a calendar"),
        ],
    )
    def test_once_fires_at_once(self, trigger: Trigger) -> None:
        after = created(trigger)
        assert after.next_tick == NOON
        (fire,) = plan(DueSchedule(after, None), NOON).fires
        assert fire.tick_at == NOON

    def test_once_at_an_instant_that_has_passed_never_fires(self) -> None:
        assert created(once(NOON)).next_tick is None

    def test_the_life_of_the_schedule_bounds_its_first_tick(self) -> None:
        late = replace(schedule(), policies=Policies(start_at=at(30)))
        assert written(schedule_edit.replace(None, late, NOON)).next_tick == at(30)


class TestDeclaring:
    def test_the_same_code_again_changes_nothing(self) -> None:
        for trigger in (MINUTELY, every(minutes=7), once(), every_between(60, 90)):
            declared = declare(created(trigger), schedule(trigger), at(500))
            assert (declared.edit, declared.drifted) == (None, False)

    def test_new_code_counts_from_now(self) -> None:
        before = created()
        edit = declare(before, schedule(cron("*/10 * * * *")), at(0.5)).edit
        assert edit is not None
        after = written(edit)
        assert edit.before is before
        assert (after.version, after.cursor, after.next_tick) == (2, at(0.5), at(10))
        assert edit.skips == ()
        assert after.declared == fingerprint(schedule(cron("*/10 * * * *")))

    def test_what_people_and_time_did_survives_new_code(self) -> None:
        before = replace(
            created(),
            paused=True,
            pause_reason="storm",
            runs=8,
            last_job=JobId(4),
            skips=frozenset({at(1), at(6), at(20)}),
        )
        after = written(declare(before, schedule(cron("*/10 * * * *")), at(3.5)).edit)
        assert (after.paused, after.pause_reason) == (True, "storm")
        assert (after.runs, after.last_job, after.created_at) == (8, JobId(4), NOON)
        assert after.updated_at == at(3.5)
        assert after.skips == {at(20)}, "of those to come, the ones that are still ticks"

    def test_new_code_with_the_same_interval_does_not_reset_it(self) -> None:
        before = created(every(minutes=10))
        after = written(declare(before, schedule(every(minutes=10), task="other"), at(3)).edit)
        assert after.schedule.task == "other"
        assert after.next_tick == at(10)

    def test_a_new_interval_begins_anew_and_does_not_fire_at_once(self) -> None:
        after = written(declare(created(every(minutes=10)), schedule(every(minutes=4)), at(3)).edit)
        assert after.next_tick == at(7)

    def test_new_code_around_a_once_that_has_fired_does_not_fire_it_again(self) -> None:
        fired = replace(created(once()), cursor=at(1), next_tick=None, runs=1)
        after = written(declare(fired, schedule(once(), task="other"), at(9)).edit)
        assert after.next_tick is None

    def test_the_edit_of_a_person_stands_and_is_reported_as_drift(self) -> None:
        before = edited_by_a_person()
        for code in (schedule(), schedule(cron("*/9 * * * *"))):
            declared = declare(before, code, at(5))
            assert (declared.edit, declared.drifted) == (None, True)

    def test_a_schedule_that_a_person_created_first_stands_as_well(self) -> None:
        before = written(schedule_edit.replace(None, schedule(cron("0 * * * *")), NOON))
        assert declare(before, schedule(), at(1)).drifted

    def test_code_that_comes_to_agree_with_a_person_takes_the_schedule_over(self) -> None:
        before = edited_by_a_person()
        declared = declare(before, schedule(cron("0 * * * *")), at(61))
        after = written(declared.edit)
        assert not declared.drifted
        assert (after.origin, after.version) == (Origin.CODE, before.version + 1)
        assert (after.cursor, after.next_tick) == (before.cursor, before.next_tick)
        assert declare(after, schedule(cron("0 * * * *")), at(62)).edit is None

    def test_what_a_person_hands_back_is_defined_by_code_again(self) -> None:
        handed = written(schedule_edit.hand_back(edited_by_a_person(), at(1)))
        assert written(declare(handed, schedule(), at(2)).edit).next_tick == at(3)
        assert schedule_edit.hand_back(created(), at(1)) is None

    def test_a_pause_is_no_drift(self) -> None:
        paused = written(schedule_edit.pause(created(), "storm", at(1)))
        declared = declare(paused, schedule(), at(5))
        assert (declared.edit, declared.drifted) == (None, False)


class TestReplacing:
    def test_a_person_defines_a_schedule_anew(self) -> None:
        before = created()
        edit = schedule_edit.replace(before, schedule(cron("0 * * * *")), at(2))
        after = written(edit)
        assert (after.origin, after.declared) == (Origin.PERSON, before.declared)
        assert (after.version, after.cursor, after.next_tick) == (2, at(2), at(60))
        assert edit.skips == (Skip(at(1), at(2), 2, SkipReason.OVERRIDDEN),)

    def test_the_same_definition_again_leaves_due_ticks_due(self) -> None:
        edit = schedule_edit.replace(created(), schedule(), at(2))
        after = written(edit)
        assert (after.cursor, after.next_tick, edit.skips) == (NOON, at(1), ())
        assert after.origin is Origin.CODE

    def test_replaced_by_once_it_fires_at_once_and_accounts_for_no_tick_twice(self) -> None:
        edit = schedule_edit.replace(created(), schedule(once()), at(2))
        after = written(edit)
        assert edit.skips == (Skip(at(1), at(1), 1, SkipReason.OVERRIDDEN),)
        assert (after.cursor, after.next_tick) == (at(2) - MICROSECOND, at(2))

    def test_a_clock_that_went_back_does_not_take_the_cursor_with_it(self) -> None:
        before = replace(created(), cursor=at(5), next_tick=at(6))
        edit = schedule_edit.replace(before, schedule(cron("*/2 * * * *")), at(3))
        assert (written(edit).cursor, written(edit).next_tick, edit.skips) == (at(5), at(6), ())

    def test_runs_so_far_count_under_the_new_definition(self) -> None:
        once_more = replace(schedule(), policies=Policies(max_runs=3))
        assert (
            written(schedule_edit.replace(replace(created(), runs=3), once_more, NOON)).next_tick
            is None
        )


class TestPausing:
    def test_a_pause_accounts_for_what_was_due(self) -> None:
        edit = schedule_edit.pause(created(), "storm", at(2.5))
        assert edit is not None
        after = written(edit)
        assert (after.paused, after.pause_reason, after.version) == (True, "storm", 2)
        assert (after.cursor, after.next_tick) == (at(2.5), at(3))
        assert edit.skips == (Skip(at(1), at(2), 2, SkipReason.PAUSED),)

    def test_a_tick_of_the_moment_of_a_pause_is_paused(self) -> None:
        edit = schedule_edit.pause(created(), "storm", at(1))
        assert edit is not None
        assert edit.skips == (Skip(at(1), at(1), 1, SkipReason.PAUSED),)
        assert written(edit).next_tick == at(2)

    def test_resuming_lets_nothing_fire_in_retrospect(self) -> None:
        paused = written(schedule_edit.pause(created(), "storm", at(0.5)))
        edit = schedule_edit.resume(paused, at(90))
        assert edit is not None
        after = written(edit)
        assert (after.paused, after.pause_reason) == (False, "")
        assert edit.skips == (Skip(at(1), at(90), 90, SkipReason.PAUSED),)
        assert plan(DueSchedule(after, None), at(90.9)).fires == ()

    def test_what_is_so_already_needs_no_edit(self) -> None:
        paused = written(schedule_edit.pause(created(), "storm", at(1)))
        assert schedule_edit.pause(paused, "storm", at(2)) is None
        assert schedule_edit.resume(created(), at(2)) is None

    def test_a_pause_can_be_given_another_reason(self) -> None:
        paused = written(schedule_edit.pause(created(), "storm", at(1)))
        assert written(schedule_edit.pause(paused, "flood", at(2))).pause_reason == "flood"


class TestSkipping:
    def test_a_tick_to_come_can_be_skipped_and_what_is_due_stays_due(self) -> None:
        edit = schedule_edit.skip_tick(created(), at(5), at(2))
        assert edit is not None
        after = written(edit)
        assert after.skips == {at(5)}
        assert (after.version, edit.skips) == (2, ())
        assert (after.cursor, after.next_tick) == (NOON, at(1))

    def test_it_can_be_taken_back(self) -> None:
        skipped = written(schedule_edit.skip_tick(created(), at(5), at(2)))
        assert schedule_edit.skip_tick(skipped, at(5), at(3)) is None
        assert written(schedule_edit.unskip(skipped, at(5), at(3))).skips == frozenset()
        assert schedule_edit.unskip(created(), at(5), at(3)) is None

    def test_skips_that_have_passed_are_forgotten(self) -> None:
        before = replace(created(), cursor=at(3), next_tick=at(4), skips=frozenset({at(2)}))
        assert written(schedule_edit.skip_tick(before, at(5), at(3))).skips == {at(5)}

    @pytest.mark.parametrize(
        "tick",
        [
            pytest.param(at(2.5), id="between ticks"),
            pytest.param(at(2), id="a tick of this moment"),
            pytest.param(at(1), id="a past tick"),
            pytest.param(at(31), id="an excluded tick"),
        ],
    )
    def test_only_a_tick_that_would_fire_can_be_skipped(self, tick: datetime) -> None:
        before = created(MINUTELY.excluding(Calendar(times=[("12:30", "12:40")])))
        said = r"next: 2026-03-02T12:03:00\+00:00, 2026-03-02T12:04:00\+00:00, 2026"
        with pytest.raises(InvalidInput, match=said):
            schedule_edit.skip_tick(before, tick, at(2))

    def test_a_schedule_that_is_over_has_no_tick_to_skip(self) -> None:
        before = replace(created(once(at(1))), cursor=at(2), next_tick=None)
        with pytest.raises(InvalidInput, match="none, it is over"):
            schedule_edit.skip_tick(before, at(5), at(3))
        run_out = replace(schedule(), policies=Policies(max_runs=1))
        with pytest.raises(InvalidInput, match="none, it is over"):
            schedule_edit.skip_tick(replace(created(), schedule=run_out, runs=1), at(5), at(3))

    def test_ticks_that_follow_a_job_cannot_be_skipped(self) -> None:
        with pytest.raises(InvalidInput, match="pause it instead"):
            schedule_edit.skip_tick(created(every(minutes=5, from_completion=True)), at(5), at(1))

    def test_not_more_than_a_thousand_can_be_skipped(self) -> None:
        many = replace(created(), skips=frozenset(at(n) for n in range(10, 1010)))
        with pytest.raises(InvalidInput, match="1,000"):
            schedule_edit.skip_tick(many, at(5), at(1))

    def test_a_tick_needs_a_zone(self) -> None:
        with pytest.raises(NaiveDatetime):
            schedule_edit.skip_tick(created(), datetime(2026, 3, 2, 13), NOON)


class TestRemoving:
    def test_what_was_due_is_accounted_for(self) -> None:
        edit = schedule_edit.remove(created(), at(2))
        assert (edit.after, edit.name) == (None, "beat")
        assert edit.skips == (Skip(at(1), at(2), 2, SkipReason.OVERRIDDEN),)

    def test_what_was_due_in_a_pause_was_paused(self) -> None:
        (skip,) = schedule_edit.remove(replace(created(), paused=True), at(2)).skips
        assert skip.reason is SkipReason.PAUSED

    def test_of_ticks_that_follow_a_job_one_was_due(self) -> None:
        edit = schedule_edit.remove(created(every(minutes=5, from_completion=True)), at(60))
        assert edit.skips == (Skip(at(5), at(5), 1, SkipReason.OVERRIDDEN),)

    def test_very_many_due_ticks_are_counted_up_to_a_bound_and_covered_beyond(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(schedule_edit, "COUNTED", 10)
        (exact,) = schedule_edit.remove(created(), at(10.5)).skips
        assert (exact.count, exact.through) == (10, at(10))
        (at_least,) = schedule_edit.remove(created(), at(11.5)).skips
        assert (at_least.count, at_least.through) == (10, at(11.5))
