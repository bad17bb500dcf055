"""A schedule to create, to replace or to change, on the wire."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from drumbeat.model.time.zones import DstGap, DstRepeat
from drumbeat.wire.fields import (
    Arguments,
    ExpirySeconds,
    MoreThanZeroSeconds,
    Name,
    Priority,
    Tags,
    When,
    Words,
)
from drumbeat.wire.policies import NewPoliciesView
from drumbeat.wire.retry import NewRetryView


class ScheduleChangesView(Struct, kw_only=True, forbid_unknown_fields=True):
    """What is to change of a schedule; the rest stays as it is."""

    task: Name | UnsetType = UNSET
    """The task that each tick submits. It need not be known to this server."""
    when: When | UnsetType = UNSET
    """A cron expression such as "0 2 * * *", or a trigger as `trigger` of a schedule shows it."""
    tz: Name | UnsetType = UNSET
    """The zone of a cron expression; the app's default if not given, which is usually UTC."""
    dst_gap: DstGap | UnsetType = UNSET
    """What a fixed time of day does where the clock jumps over it."""
    dst_repeat: DstRepeat | UnsetType = UNSET
    """What a fixed time of day does where the clock passes it twice."""
    args: Arguments | UnsetType = UNSET
    """The arguments by name, or in order."""
    policies: NewPoliciesView | UnsetType = UNSET
    queue: Name | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    timeout: MoreThanZeroSeconds | UnsetType | None = UNSET
    """Seconds that one attempt may take."""
    retry: NewRetryView | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    expires: ExpirySeconds | UnsetType | None = UNSET
    """Seconds after it is due until which an attempt may start; null: for ever."""
    description: Words | UnsetType = UNSET


class ScheduleDefinitionView(ScheduleChangesView, kw_only=True, forbid_unknown_fields=True):
    """A whole definition of a schedule."""

    task: Name  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] - here it has to be given
    when: When  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] - and so has this


class NewScheduleView(ScheduleDefinitionView, kw_only=True, forbid_unknown_fields=True):
    """A schedule to create."""

    name: Name
