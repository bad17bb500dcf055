"""S1 to S6, S9 and S10: the fate of every tick, in the order of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from drumbeat.model.fleet.lease import Epoch
from drumbeat.model.schedules.plan import Edit, Fire, Skip, SkipReason
from drumbeat.model.schedules.schedule import Origin, Schedule, StoredSchedule
from drumbeat.rules.planning.ticks import next_tick
from simulation.checkers.history_queries import Commit, changes_by, written_by
from simulation.checkers.violation import Violation
from simulation.checkers.watcher import ServerWatcher
from simulation.faults import LONGEST_DELAYS
from simulation.history import ExecutedRequest, History

EARLY = timedelta(microseconds=1)
LEEWAY = timedelta(seconds=max(LONGEST_DELAYS) + 1.0)
"""A removal accounts for the ticks that were due when it was sent; it may travel this long."""


class EveryTickHasAnAccount(ServerWatcher):
    """S2: every tick up to the cursor fired once or was skipped for a reason, and nothing else.

    A change by code drops no tick: ticks due before it are handled by the old definition.
    """

    calls = frozenset({"commit", "put"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._stored: dict[str, StoredSchedule] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        for change in changes_by(step):
            wrong = self._edited(step, change) if isinstance(change, Edit) else self._fired(change)
            if wrong:
                name = change.name if isinstance(change, Edit) else change.plan.name
                yield Violation("S2", step.at, f"{step.by} on {name}: {wrong}")

    def _edited(self, request: ExecutedRequest, edit: Edit) -> str:
        before, after = self._stored.pop(edit.name, None), edit.after
        if after is not None:
            self._stored[edit.name] = after
        if before is None:
            return ""
        if after is not None and after.origin is Origin.CODE and (dropped := _dropped(edit)):
            return f"a change by code dropped {dropped} due ticks"
        passed_to = after.cursor if after else self.history.wall(request.at)
        due = _ticks(before.schedule, before.cursor, passed_to)
        if after is None:
            due = [tick for tick in due if tick <= passed_to - LEEWAY]
        return _unaccounted(due, (), edit.skips, before.schedule, lenient=after is None)

    def _fired(self, commit: Commit) -> str:
        plan = commit.plan
        before = self._stored.get(plan.name)
        if before is None:
            return ""
        self._stored[plan.name] = _advanced(before, plan.cursor)
        due = _ticks(before.schedule, before.cursor, plan.cursor)
        return _unaccounted(due, plan.fires, plan.skips, before.schedule, lenient=False)


class TheCursorOnlyRises(ServerWatcher):
    """S4: no plan and no edit moves a cursor back."""

    calls = frozenset({"commit", "put"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._cursors: dict[str, datetime] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        cursors = self._cursors
        for change in changes_by(step):
            if isinstance(change, Edit):
                name, cursor = change.name, change.after.cursor if change.after else None
            else:
                name, cursor = change.plan.name, change.plan.cursor
            if cursor is None:
                cursors.pop(name, None)
                continue
            if name in cursors and cursor < cursors[name]:
                yield Violation("S4", step.at, f"{step.by} moved {name} back to {cursor}")
            cursors[name] = cursor


class EpochsNeverFall(ServerWatcher):
    """S5: in the order of writing, the epochs in the ledger never fall."""

    calls = frozenset({"commit"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._highest = 0

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        for commit in written_by(step):
            if commit.epoch < self._highest:
                text = f"{step.by} wrote at {commit.epoch} after {self._highest}"
                yield Violation("S5", step.at, text)
            self._highest = max(self._highest, commit.epoch)


class NoWriteBelowTheFence(ServerWatcher):
    """S6: each claim raises the epoch, and leaders write at the epoch that holds the fence."""

    calls = frozenset({"claim", "commit"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._fence = 0

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        if step.call == "claim":
            if isinstance(step.answer, Epoch):
                if step.answer.number <= self._fence:
                    text = f"{step.by} was given epoch {step.answer.number} after {self._fence}"
                    yield Violation("S6", step.at, text)
                self._fence = step.answer.number
        elif step.error is None:
            epoch = step.arguments[1]
            assert isinstance(epoch, Epoch)
            if epoch.number != self._fence:
                text = f"{step.by} wrote at epoch {epoch.number}, the fence is {self._fence}"
                yield Violation("S6", step.at, text)


class NothingFiresEarly(ServerWatcher):
    """S9: no tick fires before its time, whatever the clock of one machine says."""

    calls = frozenset({"commit"})

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        for commit in written_by(step):
            for fire in commit.plan.fires:
                early = fire.tick_at - self.history.wall(step.at)
                if early > EARLY:
                    text = f"{step.by} fired {commit.plan.name} {early.total_seconds():g} s early"
                    yield Violation("S9", step.at, text)


class NothingFiresWhilePaused(ServerWatcher):
    """S10: after a pause or a removal is written, no tick fires."""

    calls = frozenset({"commit", "put"})

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._stopped: dict[str, ExecutedRequest] = {}

    def see(self, step: ExecutedRequest) -> Iterator[Violation]:
        for change in changes_by(step):
            if isinstance(change, Edit):
                self._stopped.pop(change.name, None)
                if change.after is None or change.after.paused:
                    self._stopped[change.name] = step
            elif change.plan.fires and change.plan.name in self._stopped:
                since = self._stopped[change.plan.name].at
                text = f"{step.by} fired {change.plan.name}, paused or removed since {since:.3f} s"
                yield Violation("S10", step.at, text)


def _dropped(edit: Edit) -> int:
    return sum(skip.count for skip in edit.skips if skip.reason is SkipReason.OVERRIDDEN)


def _advanced(before: StoredSchedule, cursor: datetime) -> StoredSchedule:
    return StoredSchedule(
        before.schedule, before.version, cursor, None, before.created_at, before.updated_at
    )


def _ticks(schedule: Schedule, after: datetime, to: datetime) -> list[datetime]:
    ticks: list[datetime] = []
    tick = next_tick(schedule, after)
    while tick is not None and tick <= to:
        ticks.append(tick)
        tick = next_tick(schedule, tick)
    return ticks


def _unaccounted(
    due: list[datetime],
    fires: tuple[Fire, ...],
    skips: tuple[Skip, ...],
    schedule: Schedule,
    *,
    lenient: bool,
) -> str:
    """What is wrong with the account of these ticks, or an empty text."""
    accounted = Counter(fire.tick_at for fire in fires)
    for skip in skips:
        run = [skip.tick_at, *_ticks(schedule, skip.tick_at, skip.through)]
        accounted.update(run)
        if len(run) != skip.count:
            return f"a run of {skip.count} skipped ticks holds {len(run)}"
    missing = [tick for tick in due if not accounted[tick]]
    doubled = [tick for tick, times in accounted.items() if times > 1]
    invented = [] if lenient else [tick for tick in accounted if tick not in due]
    wrong = [("lost", missing), ("accounted for twice", doubled), ("never due", invented)]
    return "; ".join(
        f"{', '.join(tick.isoformat() for tick in ticks)} {what}" for what, ticks in wrong if ticks
    )
