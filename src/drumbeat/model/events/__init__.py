"""Events: what has happened on this node, for listeners.

The engine does not wait for listeners, and a failing listener stops nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drumbeat.lazy_names import lazy_names
from drumbeat.model.events.event import Event as Event

if TYPE_CHECKING:
    from drumbeat.model.events.job import AttemptCompleted as AttemptCompleted
    from drumbeat.model.events.job import AttemptEnded as AttemptEnded
    from drumbeat.model.events.job import AttemptLost as AttemptLost
    from drumbeat.model.events.job import AttemptOverran as AttemptOverran
    from drumbeat.model.events.job import AttemptStarted as AttemptStarted
    from drumbeat.model.events.job import AttemptSuperseded as AttemptSuperseded
    from drumbeat.model.events.job import JobConflicted as JobConflicted
    from drumbeat.model.events.job import JobExcluded as JobExcluded
    from drumbeat.model.events.job import JobExpired as JobExpired
    from drumbeat.model.events.job import JobSettled as JobSettled
    from drumbeat.model.events.job import JobsExpired as JobsExpired
    from drumbeat.model.events.job import JobSkipped as JobSkipped
    from drumbeat.model.events.job import JobSubmitted as JobSubmitted
    from drumbeat.model.events.job import ResultDropped as ResultDropped
    from drumbeat.model.events.job import TaskUnknown as TaskUnknown
    from drumbeat.model.events.job import TicketsRepublished as TicketsRepublished
    from drumbeat.model.events.leadership import CoordinatorAnswered as CoordinatorAnswered
    from drumbeat.model.events.leadership import CoordinatorFailed as CoordinatorFailed
    from drumbeat.model.events.leadership import ElectionOff as ElectionOff
    from drumbeat.model.events.leadership import LeaderEvicted as LeaderEvicted
    from drumbeat.model.events.leadership import LeaderForeign as LeaderForeign
    from drumbeat.model.events.leadership import LeadershipGained as LeadershipGained
    from drumbeat.model.events.leadership import LeadershipLost as LeadershipLost
    from drumbeat.model.events.leadership import LockFailed as LockFailed
    from drumbeat.model.events.node import ClockSkewed as ClockSkewed
    from drumbeat.model.events.node import FleetJoined as FleetJoined
    from drumbeat.model.events.node import HookFailed as HookFailed
    from drumbeat.model.events.node import LabelShared as LabelShared
    from drumbeat.model.events.node import ListenerFailed as ListenerFailed
    from drumbeat.model.events.node import NodeDraining as NodeDraining
    from drumbeat.model.events.node import NodeStarted as NodeStarted
    from drumbeat.model.events.node import NodeStopped as NodeStopped
    from drumbeat.model.events.node import NodeVanished as NodeVanished
    from drumbeat.model.events.node import QueueAnswered as QueueAnswered
    from drumbeat.model.events.node import QueueFailed as QueueFailed
    from drumbeat.model.events.node import ServiceFailed as ServiceFailed
    from drumbeat.model.events.node import ServiceRecovered as ServiceRecovered
    from drumbeat.model.events.node import SettingUnused as SettingUnused
    from drumbeat.model.events.node import StoreAnswered as StoreAnswered
    from drumbeat.model.events.node import StoreAwaited as StoreAwaited
    from drumbeat.model.events.node import StoreFailed as StoreFailed
    from drumbeat.model.events.node import TasksMissing as TasksMissing
    from drumbeat.model.events.node import WitnessLost as WitnessLost
    from drumbeat.model.events.node import WitnessTaken as WitnessTaken
    from drumbeat.model.events.schedule import PlanFailed as PlanFailed
    from drumbeat.model.events.schedule import ScheduleChanged as ScheduleChanged
    from drumbeat.model.events.schedule import ScheduleChangeWaits as ScheduleChangeWaits
    from drumbeat.model.events.schedule import ScheduleDeclared as ScheduleDeclared
    from drumbeat.model.events.schedule import ScheduleDrifted as ScheduleDrifted
    from drumbeat.model.events.schedule import SchedulesUndeclared as SchedulesUndeclared
    from drumbeat.model.events.schedule import SchedulesUnknown as SchedulesUnknown
    from drumbeat.model.events.schedule import TickFired as TickFired
    from drumbeat.model.events.schedule import TickPassed as TickPassed
    from drumbeat.model.events.schedule import TickRaced as TickRaced
    from drumbeat.model.events.schedule import TicksDropped as TicksDropped
    from drumbeat.model.events.schedule import TickSkipped as TickSkipped

# A class is made when it is first asked for: an app that is only declared needs none of them.
_NAMES = {
    "job": (
        "AttemptCompleted",
        "AttemptEnded",
        "AttemptLost",
        "AttemptOverran",
        "AttemptStarted",
        "AttemptSuperseded",
        "JobConflicted",
        "JobExcluded",
        "JobExpired",
        "JobSettled",
        "JobsExpired",
        "JobSkipped",
        "JobSubmitted",
        "ResultDropped",
        "TaskUnknown",
        "TicketsRepublished",
    ),
    "leadership": (
        "CoordinatorAnswered",
        "CoordinatorFailed",
        "ElectionOff",
        "LeaderEvicted",
        "LeaderForeign",
        "LeadershipGained",
        "LeadershipLost",
        "LockFailed",
    ),
    "node": (
        "ClockSkewed",
        "FleetJoined",
        "HookFailed",
        "LabelShared",
        "ListenerFailed",
        "NodeDraining",
        "NodeStarted",
        "NodeStopped",
        "NodeVanished",
        "QueueAnswered",
        "QueueFailed",
        "ServiceFailed",
        "ServiceRecovered",
        "SettingUnused",
        "StoreAnswered",
        "StoreAwaited",
        "StoreFailed",
        "TasksMissing",
        "WitnessLost",
        "WitnessTaken",
    ),
    "schedule": (
        "PlanFailed",
        "ScheduleChanged",
        "ScheduleChangeWaits",
        "ScheduleDeclared",
        "ScheduleDrifted",
        "SchedulesUndeclared",
        "SchedulesUnknown",
        "TickFired",
        "TickPassed",
        "TickRaced",
        "TicksDropped",
        "TickSkipped",
    ),
}

if not TYPE_CHECKING:  # else every name would seem to exist
    __getattr__ = lazy_names(__name__, _NAMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for names in _NAMES.values() for name in names)})
