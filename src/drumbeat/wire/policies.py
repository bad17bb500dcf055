"""The policies of a schedule on the wire."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from drumbeat.model.schedules.policy import HIGHEST_CAP, Misfire, Overlap, Policies, RunOn
from drumbeat.wire.fields import Instant, MoreThanZeroSeconds, Seconds, check_instants

LENGTHS = frozenset({"window", "jitter"})


class PoliciesView(Struct, frozen=True, kw_only=True):
    """What a schedule does when time did not go as planned. Lengths are in seconds."""

    misfire: Misfire
    window: float
    cap: int
    overlap: Overlap
    jitter: float
    start_at: datetime | None = None
    end_at: datetime | None = None
    max_runs: int | None = None
    run_on: RunOn = RunOn.WORKER


class NewPoliciesView(Struct, kw_only=True, forbid_unknown_fields=True):
    """Policies to set; those that are not given have their default, or stay as they are."""

    misfire: Misfire | UnsetType = UNSET
    """What becomes of ticks that nobody took up in time."""
    window: MoreThanZeroSeconds | UnsetType = UNSET
    """Seconds that a tick may be late and still fire."""
    cap: Annotated[int, Meta(ge=1, le=HIGHEST_CAP)] | UnsetType = UNSET
    """How many missed ticks may fire at once."""
    overlap: Overlap | UnsetType = UNSET
    """What becomes of a tick while the job of the one before is unfinished."""
    jitter: Seconds | UnsetType = UNSET
    """The job runs up to so many seconds after its tick."""
    start_at: Instant | UnsetType | None = UNSET
    end_at: Instant | UnsetType | None = UNSET
    max_runs: Annotated[int, Meta(ge=1, le=2**53)] | UnsetType | None = UNSET
    run_on: RunOn | UnsetType = UNSET

    def __post_init__(self) -> None:
        check_instants(start_at=self.start_at, end_at=self.end_at)

    def given(self) -> dict[str, Any]:
        """Those that were given, by name, as the model has them."""
        return {
            name: timedelta(seconds=value) if name in LENGTHS else value
            for name, value in structs.asdict(self).items()
            if value is not UNSET
        }


def policies_view(policies: Policies) -> PoliciesView:
    return PoliciesView(
        misfire=policies.misfire,
        window=policies.window.total_seconds(),
        cap=policies.cap,
        overlap=policies.overlap,
        jitter=policies.jitter.total_seconds(),
        start_at=policies.start_at,
        end_at=policies.end_at,
        max_runs=policies.max_runs,
        run_on=policies.run_on,
    )
