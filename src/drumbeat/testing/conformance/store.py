"""The store's suite: the cases of all its roles."""

from __future__ import annotations

from drumbeat.ports.store import Store
from drumbeat.testing.conformance.audit import AuditConformance
from drumbeat.testing.conformance.cancelling import CancelConformance, ReopenConformance
from drumbeat.testing.conformance.claiming import TakeConformance
from drumbeat.testing.conformance.commits import CommitConformance, StaleEpochConformance
from drumbeat.testing.conformance.due import DueConformance
from drumbeat.testing.conformance.fence import FenceConformance
from drumbeat.testing.conformance.hints import HintConformance
from drumbeat.testing.conformance.inserting import (
    DedupeConformance,
    InsertConformance,
    PromoteConformance,
    StaleConformance,
)
from drumbeat.testing.conformance.ledger import (
    BackfillConformance,
    RecordedConformance,
    TickPagesConformance,
)
from drumbeat.testing.conformance.limiting import LimitConformance
from drumbeat.testing.conformance.nodes import LostConformance, NodeConformance
from drumbeat.testing.conformance.queues import PauseConformance, QueueListConformance
from drumbeat.testing.conformance.races import RaceConformance
from drumbeat.testing.conformance.racing import RacedConformance
from drumbeat.testing.conformance.rates import RateConformance
from drumbeat.testing.conformance.reading import CountsConformance, JobListConformance
from drumbeat.testing.conformance.retention import RetentionConformance
from drumbeat.testing.conformance.schedules import (
    RevisionConformance,
    ScheduleConformance,
    ScheduleListConformance,
)
from drumbeat.testing.conformance.settling import (
    AttemptsConformance,
    HoldConformance,
    SettleConformance,
)
from drumbeat.testing.conformance.terms import TermConformance
from drumbeat.testing.conformance.tokens import TokenConformance


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
    """All roles of a store, on one truth."""

    async def test_the_store_tells_its_time_in_utc(self, store: Store) -> None:
        now = await store.now()
        offset = now.utcoffset()
        assert offset is not None
        assert not offset

    async def test_opening_again_does_nothing(self, store: Store) -> None:
        await store.open()
        assert (await store.now()).tzinfo is not None
