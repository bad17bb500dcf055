"""The suite of a store: all its cases."""

from __future__ import annotations

from drumbeat.ports.store import Store
from drumbeat.testing.conformance.store.audit import AuditConformance
from drumbeat.testing.conformance.store.cancellation import CancelConformance, ReopenConformance
from drumbeat.testing.conformance.store.claims import TakeConformance
from drumbeat.testing.conformance.store.commits import CommitConformance, StaleEpochConformance
from drumbeat.testing.conformance.store.due import DueConformance
from drumbeat.testing.conformance.store.expiry import ExpiryConformance
from drumbeat.testing.conformance.store.fence import FenceConformance
from drumbeat.testing.conformance.store.hints import HintConformance
from drumbeat.testing.conformance.store.insertion import (
    DedupeConformance,
    InsertConformance,
    PromoteConformance,
    StaleConformance,
)
from drumbeat.testing.conformance.store.job_lists import CountsConformance, JobListConformance
from drumbeat.testing.conformance.store.ledger import (
    BackfillConformance,
    RecordedConformance,
    TickPagesConformance,
)
from drumbeat.testing.conformance.store.limits import LimitConformance
from drumbeat.testing.conformance.store.nodes import LostConformance, NodeConformance
from drumbeat.testing.conformance.store.queues import PauseConformance, QueueListConformance
from drumbeat.testing.conformance.store.raced_plans import RacedConformance
from drumbeat.testing.conformance.store.races import RaceConformance
from drumbeat.testing.conformance.store.rates import RateConformance
from drumbeat.testing.conformance.store.retention import RetentionConformance
from drumbeat.testing.conformance.store.schedules import (
    RevisionConformance,
    ScheduleConformance,
    ScheduleListConformance,
)
from drumbeat.testing.conformance.store.settlement import (
    AttemptsConformance,
    HoldConformance,
    SettleConformance,
)
from drumbeat.testing.conformance.store.terms import TermConformance
from drumbeat.testing.conformance.store.tokens import TokenConformance


class JobStoreConformance(
    InsertConformance,
    DedupeConformance,
    PromoteConformance,
    StaleConformance,
    TakeConformance,
    LimitConformance,
    RateConformance,
    SettleConformance,
    HoldConformance,
    AttemptsConformance,
    CancelConformance,
    ReopenConformance,
    ExpiryConformance,
    JobListConformance,
    CountsConformance,
):
    """Jobs, and the holds on them."""


class ScheduleStoreConformance(
    ScheduleConformance,
    ScheduleListConformance,
    RevisionConformance,
    DueConformance,
    CommitConformance,
    StaleEpochConformance,
    RacedConformance,
    BackfillConformance,
    TickPagesConformance,
    RecordedConformance,
):
    """Schedules, their cursors and the ledger of their ticks."""


class StoreConformance(
    FenceConformance,
    TermConformance,
    ScheduleStoreConformance,
    JobStoreConformance,
    NodeConformance,
    LostConformance,
    RetentionConformance,
    QueueListConformance,
    PauseConformance,
    AuditConformance,
    TokenConformance,
    HintConformance,
    RaceConformance,
):
    """All cases of a store."""

    async def test_the_time_of_the_store_is_in_utc(self, store: Store) -> None:
        now = await store.now()
        offset = now.utcoffset()
        assert offset is not None
        assert not offset

    async def test_opening_again_does_nothing(self, store: Store) -> None:
        await store.open()
        assert (await store.now()).tzinfo is not None
