"""Each checker finds the violation that is planted in the history of a good world."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from drumbeat.model.fleet.lease import Epoch, Lease
from drumbeat.model.jobs.job import Settled, Status, Taken
from drumbeat.model.schedules.plan import Committed, Edit, Plan, Written
from simulation import seed_runs
from simulation.checkers import Monitor, violations
from simulation.checkers.history_queries import settlements
from simulation.faults import has_separate_stores
from simulation.history import (
    Acknowledged,
    ExecutedRequest,
    HandlerStep,
    History,
    LockUse,
    LogEntry,
)
from simulation.world import World

SEED = 3
"""A world in which the coordinator and the clocks keep their promises."""
Change = Callable[[History], None]


@pytest.fixture(scope="module")
def good() -> History:
    _, history, broken = seed_runs.simulate(SEED)
    assert broken == []
    history.kinds = frozenset()
    assert violations(history) == []
    return history


def copied(history: History) -> History:
    """A copy with new lists, which can be changed."""
    return replace(
        history,
        requests=[*history.requests],
        beliefs=[*history.beliefs],
        handler_steps=[*history.handler_steps],
        lock_uses=[*history.lock_uses],
        draining={**history.draining},
        log=[*history.log],
        acknowledged=[*history.acknowledged],
        dump=replace(history.dump),
    )


def find(history: History, call: str, wanted: Callable[[ExecutedRequest], object]) -> int:
    """The index of the last matching request in the history."""
    places = [
        place
        for place, request in enumerate(history.requests)
        if request.call == call and request.error is None and wanted(request)
    ]
    return places[-1]


def fires(request: ExecutedRequest) -> bool:
    plans, verdicts = plans_of(request), cast("Sequence[object]", request.answer)
    return bool(plans) and bool(plans[0].fires) and isinstance(verdicts[0], Committed)


def plans_of(request: ExecutedRequest) -> Sequence[Plan]:
    return cast("Sequence[Plan]", request.arguments[0])


def first_plan(history: History, change: Callable[[Plan], Plan]) -> None:
    place = find(history, "commit", fires)
    request = history.requests[place]
    plans = plans_of(request)
    arguments = ((change(plans[0]), *plans[1:]), *request.arguments[1:])
    history.requests[place] = replace(request, arguments=arguments)


def doubled_job(history: History) -> None:
    job = next(job for job in history.dump.jobs if job.spec.tick_at is not None)
    history.dump.jobs = [*history.dump.jobs, job]


def lost_tick(history: History) -> None:
    first_plan(history, lambda plan: replace(plan, fires=(), skips=()))


def missing_job(history: History) -> None:
    history.dump.jobs = [job for job in history.dump.jobs if job.spec.tick_at is None]


def cursor_back(history: History) -> None:
    def back(plan: Plan) -> Plan:
        return replace(plan, cursor=plan.cursor - timedelta(minutes=5))

    first_plan(history, back)


def wrote_at(history: History, change: Callable[[int], int]) -> None:
    place = find(history, "commit", fires)
    request = history.requests[place]
    epoch = request.arguments[1]
    assert isinstance(epoch, Epoch)
    other = replace(epoch, number=change(epoch.number))
    history.requests[place] = replace(request, arguments=(request.arguments[0], other))


def epoch_back(history: History) -> None:
    wrote_at(history, lambda number: number - 1)


def epoch_ahead(history: History) -> None:
    wrote_at(history, lambda number: number + 1)


def epoch_again(history: History) -> None:
    place = find(history, "claim", lambda request: isinstance(request.answer, Epoch))
    history.requests.append(history.requests[place])


def token_again(history: History) -> None:
    place = find(history, "acquire", lambda request: isinstance(request.answer, Lease))
    history.requests.append(history.requests[place])


def two_believers(history: History) -> None:
    history.beliefs[-1] = replace(history.beliefs[-1], others=("n9.1",))


def early(history: History) -> None:
    def later(plan: Plan) -> Plan:
        fire = plan.fires[0]
        return replace(plan, fires=(replace(fire, tick_at=fire.tick_at + timedelta(hours=1)),))

    first_plan(history, later)


def fired_though_paused(history: History) -> None:
    place = find(history, "commit", fires)
    request = history.requests[place]
    stored = plans_of(request)[0].before
    edit = Edit(stored, replace(stored, paused=True))
    written = [Written(stored.name)]
    history.requests.insert(
        place, replace(request, call="put", arguments=((edit,),), answer=written)
    )


def settles(request: ExecutedRequest) -> bool:
    return isinstance(request.answer, Taken) and any(
        isinstance(verdict, Settled) and verdict.status is Status.COMPLETED
        for verdict in request.answer.verdicts
    )


def settled_again(history: History) -> None:
    place = find(history, "take", settles)
    history.requests.insert(place + 1, history.requests[place])


def claims(request: ExecutedRequest) -> bool:
    return isinstance(request.answer, Taken) and bool(request.answer.attempts)


def claimed_twice(history: History) -> None:
    place = find(history, "take", claims)
    history.requests.insert(place + 1, history.requests[place])


def lost_submission(history: History) -> None:
    history.acknowledged.append(Acknowledged(1.0, "submitted", (99_999, "lost")))


def too_many_attempts(history: History) -> None:
    jobs = list(history.dump.jobs)
    jobs[0] = replace(jobs[0], attempt=9)
    history.dump.jobs = jobs


def other_payload(history: History) -> None:
    place = next(place for place, ran in enumerate(history.handler_steps) if ran.what == "started")
    history.handler_steps[place] = replace(history.handler_steps[place], payload="other")


def half_a_write(history: History) -> None:
    history.dump.ledger = dict.fromkeys(history.dump.ledger, ())


def lease_out_of_order(history: History) -> None:
    place = find(history, "acquire", lambda request: isinstance(request.answer, Lease))
    history.requests[place] = replace(history.requests[place], answer=None)


def two_holders(history: History) -> None:
    history.lock_uses.append(LockUse(1.0, "n1.1", "door", 7, ("n2.1",)))


def started_while_draining(history: History) -> None:
    last = next(ran for ran in reversed(history.handler_steps) if ran.what == "started")
    history.draining[last.by] = last.at - 1.0


def completed_by_giving_up(history: History) -> None:
    request, hold = next(
        (request, settlement.hold)
        for request, settlement, _ in settlements(history)
        if settlement.change == "complete"
    )
    history.handler_steps.append(HandlerStep(request.at, request.by, hold, "gave up"))


def nobody_leads(history: History) -> None:
    history.leaders = [(at, None) for at, _ in history.leaders]


def tick_left(history: History) -> None:
    stored = history.dump.schedules[0]
    due = history.wall(history.ended_at - 30)
    history.dump.schedules = [replace(stored, next_tick=due)]


def taken_up_late(history: History) -> None:
    name, rows = next(item for item in history.dump.ledger.items() if item[0] == "often")
    late = replace(rows[-1], recorded_at=rows[-1].recorded_at + timedelta(seconds=20))
    history.dump.ledger = {**history.dump.ledger, name: [*rows[:-1], late]}


def backlog(history: History) -> None:
    jobs = list(history.dump.jobs)
    jobs[0] = replace(jobs[0], status=Status.QUEUED)
    history.dump.jobs = jobs


def ping_pong(history: History) -> None:
    at = history.ended_at - 1
    history.log += [LogEntry(at, f"n{n}.1", "LeadershipGained", "leads") for n in range(3)]


CHANGES: list[tuple[str, Change]] = [
    ("S1", doubled_job),
    ("S2", lost_tick),
    ("S3", missing_job),
    ("S4", cursor_back),
    ("S5", epoch_back),
    ("S6", epoch_ahead),
    ("S6", epoch_again),
    ("S7", token_again),
    ("S8", two_believers),
    ("S9", early),
    ("S10", fired_though_paused),
    ("S11", settled_again),
    ("S12", settled_again),
    ("S13", lost_submission),
    ("S14", claimed_twice),
    ("S15", too_many_attempts),
    ("S16", other_payload),
    ("S17", half_a_write),
    ("S18", lease_out_of_order),
    ("S19", two_holders),
    ("S20", started_while_draining),
    ("S21", completed_by_giving_up),
    ("L1", nobody_leads),
    ("L2", tick_left),
    ("L3", taken_up_late),
    ("L4", backlog),
    ("L5", ping_pong),
]


@pytest.mark.parametrize(("invariant", "change"), CHANGES, ids=[name for name, _ in CHANGES])
def test_a_violation_is_found(good: History, invariant: str, change: Change) -> None:
    history = copied(good)
    change(history)
    assert invariant in {violation.invariant for violation in violations(history)}


def test_every_promise_has_a_planted_violation() -> None:
    promised = {f"S{number}" for number in range(1, 22)} | {f"L{number}" for number in range(1, 6)}
    assert {invariant for invariant, _ in CHANGES} == promised


def fired_twice(history: History) -> None:
    ((name, fires), *_) = (each for each in history.dump.fires.items() if each[1])
    history.dump.fires = {**history.dump.fires, name: [*fires, fires[-1]]}


def fired_early(history: History) -> None:
    ((name, fires), *_) = (each for each in history.dump.fires.items() if each[1])
    by, tick, at = fires[-1]
    early = (by, tick + timedelta(hours=1), at)
    history.dump.fires = {**history.dump.fires, name: [*fires, early]}


def fires_no_more(history: History) -> None:
    history.dump.fires = {}


@pytest.fixture(scope="module")
def apart() -> History:
    seed = next(seed for seed in range(100) if has_separate_stores(seed))
    _, history, broken = seed_runs.simulate(seed)
    assert broken == []
    return history


@pytest.mark.parametrize(
    ("invariant", "change"),
    [("S1", fired_twice), ("S9", fired_early), ("L3", fires_no_more), ("L1", nobody_leads)],
)
def test_a_violation_is_found_with_separate_stores(
    apart: History, invariant: str, change: Change
) -> None:
    history = copied(apart)
    change(history)
    assert invariant in {violation.invariant for violation in violations(history)}


def test_a_violation_is_found_in_the_step_that_causes_it(good: History) -> None:
    """While the world still runs, and the same violations as from the whole history."""
    history = copied(good)
    settled_again(history)
    monitor = Monitor(history)
    seen: list[int] = []
    for place, request in enumerate(history.requests):
        monitor.see(request)
        if monitor.broken:
            seen.append(place)
    assert seen[0] == find(history, "take", settles)
    assert monitor.broken == [each for each in violations(history) if each.invariant[0] == "S"]


def test_answers_of_the_store_are_compared_with_its_content() -> None:
    world = World(SEED)
    forgetful = Monitor(world.history, lambda ids: [None for _ in ids])
    world.network.on_executed = forgetful.see
    world.run()
    named = {violation.invariant for violation in forgetful.broken}
    assert {"S3", "S17"} <= named
