"""The bodies of requests for changes."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from drumbeat.wire.fields import Arguments, Instant, Name, Reason, When, check_instants
from drumbeat.wire.parameters import Parameters


class ReasonView(Parameters, kw_only=True):
    """Why something is to be changed."""

    reason: Reason = ""
    """For those who look at it later."""


class TaggedView(Parameters, kw_only=True):
    """Which schedules are to be changed, and why."""

    tag: Name
    """All that have it."""
    reason: Reason = ""


class TriggerView(Parameters, kw_only=True):
    """How a schedule is to be triggered now."""

    args: Arguments | UnsetType = UNSET
    """In place of its own."""
    reason: Reason = ""


class SkipView(Parameters, kw_only=True):
    """Which tick of a schedule is meant."""

    tick_at: Instant | None = None
    """Null: the next one that would fire; to take a skip back, the first that is skipped."""
    reason: Reason = ""

    def __post_init__(self) -> None:
        check_instants(tick_at=self.tick_at)


class BackfillView(Parameters, kw_only=True, rename={"start": "from", "end": "to"}):
    """Which past ticks are to fire."""

    start: Instant
    """The first, included."""
    end: Instant | None = None
    """The last, included; null: now."""
    dry_run: bool = False
    """Only say which there are."""
    reason: Reason = ""

    def __post_init__(self) -> None:
        check_instants(**{"from": self.start, "to": self.end})


class CronPreviewView(Parameters, kw_only=True, rename={"count": "n"}):
    """A rule that is to be previewed."""

    when: When
    """A cron expression, or a trigger as a schedule shows it."""
    tz: Name | None = None
    """The zone of a cron expression; UTC if not given."""
    count: Annotated[int, Meta(ge=1, le=1_000)] = 10
    """How many ticks."""
