"""The suites bite: broken backends fail the cases named for them, and the right ones pass those."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from inspect import signature
from itertools import count

import pytest

from drumbeat.backends.memory.coordinator import MemoryCoordinator, MemoryLeases
from drumbeat.backends.memory.queue import MemoryQueue
from drumbeat.backends.memory.store import MemoryStore
from drumbeat.backends.memory.store.witnesses import MemoryWitnesses
from drumbeat.backends.store_queue import StoredQueue
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import DEFAULT_QUEUE, Change, Ticket
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store, Topic
from drumbeat.testing.conformance import (
    CoordinatorConformance,
    CoordinatorTraits,
    QueueTraits,
    StoreConformance,
    StoreTraits,
    TicketQueueConformance,
    WitnessConformance,
)
from drumbeat.testing.conformance.builders import insert, spec
from drumbeat.testing.conformance.traits import PATIENCE

from .broken.coordinators import (
    AcquireIsReentrant,
    DeadlineFromTheReply,
    EvictByHolderOnly,
    EvictByNameOnly,
    EvictInSilence,
    ReleaseByNameOnly,
    RenewByHolderOnly,
    TokenPerHolder,
    coordinator_with,
)
from .broken.queues import (
    AcknowledgesForAnyone,
    AcknowledgesOnReceipt,
    CountsOnlyWhatWaits,
    DeafWhileNobodyWaits,
    DeliversToEveryone,
    DeliversUrgentOnly,
    ForgetsWhatIsDone,
    IgnoresQueues,
    IgnoresTheLimit,
    ReclaimsInSilence,
    ReclaimsOnce,
)
from .broken.stores import (
    AnyEpochWrites,
    ClaimWithoutCompareAndSet,
    CommitsEarly,
    ComparesOnlyTheVersion,
    CursorAfterJobs,
    DedupeWithoutUniqueness,
    FenceAcceptsEqualTokens,
    FenceByAttempt,
    FenceForgetsDomains,
    ForgetsAllThatIsOver,
    ForgetsCancellation,
    ForgetsTotals,
    GiveBackCounts,
    HintsOfTheEarliestOnly,
    HoldsWhatHasLimits,
    LastOutcomeStands,
    LooksForPausesFirst,
    LooksForTheNameFirst,
    PausesOnlyWhatComes,
    ReapsByAnOldAnswer,
    RefillsEvenly,
    RemembersWhoWasOutranked,
    ResumesInSilence,
    SettleByIdOnly,
    StorePart,
    store_with,
)
from .broken.witnesses import (
    AccusesEverybody,
    BuriesByNameOnly,
    BuriesInWordsOnly,
    MissesEverybody,
    NeverFrees,
    ProvesByMemory,
    TakesWhatIsHeld,
    store_with_witnesses,
)
from .hand_clock import HandClock

Case = Callable[..., Awaitable[None]]
TTL = timedelta(seconds=10)
stores, coordinators, queues = StoreConformance, CoordinatorConformance, TicketQueueConformance
witnesses = WitnessConformance

BROKEN_STORES: dict[StorePart, Sequence[Case]] = {
    SettleByIdOnly: [
        stores.test_a_late_settlement_of_a_reaped_attempt_is_refused,
        stores.test_an_old_hold_is_refused_even_if_the_attempt_has_the_same_number,
        stores.test_a_node_that_wakes_up_is_told_what_it_lost,
    ],
    ReapsByAnOldAnswer: [stores.test_nothing_is_reaped_of_a_node_that_lives_again],
    FenceByAttempt: [
        stores.test_an_old_hold_is_refused_even_if_the_attempt_has_the_same_number,
        stores.test_an_old_hold_is_refused_after_the_attempts_were_counted_anew,
        stores.test_the_fence_rises_with_every_claim,
    ],
    CursorAfterJobs: [
        stores.test_a_plan_committed_at_once_by_many_leaders_of_one_epoch_is_written_once,
        stores.test_an_edit_and_a_commit_at_once_happen_in_one_of_two_orders,
    ],
    ComparesOnlyTheVersion: [
        stores.test_a_plan_cannot_be_committed_twice,
        stores.test_a_new_leader_cannot_commit_the_old_ones_plan_again,
        stores.test_a_plan_committed_at_once_by_many_leaders_of_one_epoch_is_written_once,
    ],
    CommitsEarly: [stores.test_a_plan_for_an_instant_to_come_is_refused_until_then],
    HintsOfTheEarliestOnly: [
        stores.test_a_new_schedule_wakes_the_ticker_although_others_come_first
    ],
    AnyEpochWrites: [
        stores.test_a_leader_of_an_earlier_epoch_is_refused_and_writes_nothing,
        stores.test_an_epoch_that_nobody_claimed_is_refused,
    ],
    ClaimWithoutCompareAndSet: [
        stores.test_jobs_claimed_at_once_by_many_workers_go_to_one_each,
        stores.test_a_limit_holds_against_many_workers_at_once,
    ],
    HoldsWhatHasLimits: [
        stores.test_a_job_with_limits_is_claimed_to_be_started_and_not_to_be_held,
        stores.test_a_job_with_a_rate_is_not_claimed_to_be_held,
    ],
    DedupeWithoutUniqueness: [
        stores.test_one_key_inserted_at_once_by_many_creates_one_job,
        stores.test_the_second_of_two_equal_keys_in_one_batch_creates_nothing,
    ],
    FenceAcceptsEqualTokens: [
        stores.test_the_same_lease_cannot_claim_twice,
        stores.test_one_lease_claimed_at_once_by_many_becomes_one_epoch,
    ],
    FenceForgetsDomains: [stores.test_an_old_lease_of_an_earlier_domain_stays_outranked],
    GiveBackCounts: [
        stores.test_a_job_given_back_is_queued_at_once_and_does_not_count,
        stores.test_a_snooze_waits_for_its_delay_and_does_not_count,
    ],
    ForgetsCancellation: [stores.test_a_job_that_is_to_be_cancelled_does_not_wait_again],
    RefillsEvenly: [
        stores.test_the_number_starts_at_once_and_no_more_until_the_period_is_over,
        stores.test_no_window_has_more_starts_than_the_rate_allows,
        stores.test_a_start_counts_until_its_own_period_is_over,
        stores.test_a_large_number_is_kept_as_well,
        stores.test_a_clock_that_goes_back_holds_a_job_up_for_one_period,
    ],
    ForgetsTotals: [stores.test_totals_outlive_the_jobs],
    LooksForPausesFirst: [stores.test_no_claim_comes_after_a_pause_was_acknowledged],
    PausesOnlyWhatComes: [
        stores.test_no_job_of_a_paused_queue_is_claimed,
        stores.test_no_job_with_limits_of_a_paused_queue_is_claimed_or_cancelled,
        stores.test_a_limit_that_a_paused_queue_waits_for_is_free_for_others,
        stores.test_nothing_of_a_paused_queue_is_held_ahead,
        stores.test_what_runs_goes_on_and_is_settled,
        stores.test_a_job_that_is_retried_in_a_paused_queue_waits,
        stores.test_a_pause_holds_through_every_handle,
    ],
    ResumesInSilence: [stores.test_a_resumed_queue_wakes_workers],
    RemembersWhoWasOutranked: [stores.test_a_lease_that_is_outranked_leaves_no_term],
    LastOutcomeStands: [stores.test_the_outcome_is_said_afterwards_and_the_first_stands],
    LooksForTheNameFirst: [stores.test_one_name_added_at_once_by_many_becomes_one_token],
    ForgetsAllThatIsOver: [stores.test_only_sessions_that_are_over_are_forgotten],
}

BROKEN_LEASES: dict[type[MemoryLeases], Sequence[Case]] = {
    RenewByHolderOnly: [
        coordinators.test_a_lease_is_not_renewed_by_a_later_term_of_the_same_holder,
        coordinators.test_a_lease_is_not_renewed_for_another_holder,
    ],
    DeadlineFromTheReply: [
        coordinators.test_an_expired_lease_cannot_be_renewed_even_if_nobody_took_its_place,
    ],
    EvictByNameOnly: [
        coordinators.test_a_term_is_not_evicted_by_the_name_of_another_holder,
        coordinators.test_the_eviction_of_an_old_term_touches_nothing,
        coordinators.test_the_eviction_of_an_expired_term_touches_nothing,
    ],
    EvictByHolderOnly: [coordinators.test_the_eviction_of_an_old_term_touches_nothing],
    EvictInSilence: [
        coordinators.test_the_eviction_of_an_expired_term_touches_nothing,
        coordinators.test_waiting_candidates_are_woken_by_an_eviction,
    ],
    ReleaseByNameOnly: [
        coordinators.test_the_release_of_an_old_term_touches_nothing,
        coordinators.test_the_release_of_an_expired_term_touches_nothing,
    ],
    AcquireIsReentrant: [coordinators.test_a_name_is_refused_to_its_own_holder_too],
    TokenPerHolder: [coordinators.test_tokens_rise_over_all_terms_of_a_name],
}

BROKEN_QUEUES: dict[type[MemoryQueue | StoredQueue], Sequence[Case]] = {
    AcknowledgesOnReceipt: [
        queues.test_a_ticket_that_was_not_acknowledged_is_brought_again,
        queues.test_no_more_than_the_limit_are_reclaimed,
    ],
    AcknowledgesForAnyone: [
        queues.test_a_late_acknowledgement_does_not_touch_anothers_delivery,
    ],
    DeafWhileNobodyWaits: [
        queues.test_what_comes_while_nobody_waits_is_not_lost,
        queues.test_what_comes_between_two_calls_is_not_lost,
    ],
    ForgetsWhatIsDone: [queues.test_receiving_acknowledges_what_is_done],
    CountsOnlyWhatWaits: [queues.test_tickets_count_until_they_are_acknowledged],
    DeliversUrgentOnly: [queues.test_a_ticket_of_any_priority_is_received],
    ReclaimsOnce: [queues.test_a_reclaimed_ticket_is_not_lost_if_its_new_receiver_stops_too],
    ReclaimsInSilence: [queues.test_a_reclaimed_ticket_wakes_a_receiver],
    IgnoresQueues: [queues.test_only_tickets_of_the_wanted_queues_are_received],
    IgnoresTheLimit: [queues.test_no_more_than_the_limit_are_received],
    DeliversToEveryone: [
        queues.test_each_ticket_goes_to_one_of_many_receivers,
        queues.test_a_ticket_comes_out_as_it_went_in,
    ],
}

BROKEN_WITNESSES: dict[type[MemoryWitnesses], Sequence[Case]] = {
    TakesWhatIsHeld: [witnesses.test_a_number_is_held_by_one_session],
    ProvesByMemory: [witnesses.test_a_session_that_is_closed_proves_nothing],
    NeverFrees: [witnesses.test_a_number_is_free_once_its_session_is_closed],
    AccusesEverybody: [
        witnesses.test_a_node_that_holds_its_number_has_not_vanished,
        witnesses.test_a_node_whose_number_is_free_has_vanished,
        witnesses.test_calling_the_roll_takes_no_number,
    ],
    MissesEverybody: [witnesses.test_a_node_whose_number_is_free_has_vanished],
    BuriesByNameOnly: [witnesses.test_a_node_that_has_sent_a_heartbeat_since_is_not_buried],
    BuriesInWordsOnly: [
        witnesses.test_what_a_buried_node_held_is_lost_at_once,
        witnesses.test_an_unknown_node_is_not_buried,
    ],
}


@pytest.mark.parametrize(
    ("part", "case"), [(part, case) for part, cases in BROKEN_STORES.items() for case in cases]
)
async def test_a_broken_store_fails_the_case_named_for_it(part: StorePart, case: Case) -> None:
    await fails(case, store_bench(store_with(part, HandClock()), patience=0.5))
    await run(case, store_bench(MemoryStore(HandClock())))


@pytest.mark.parametrize(
    ("kind", "case"), [(part, case) for part, cases in BROKEN_WITNESSES.items() for case in cases]
)
async def test_broken_witnesses_fail_the_case_named_for_them(
    kind: type[MemoryWitnesses], case: Case
) -> None:
    broken, right = (
        replace(store_bench(store_with_witnesses(each, HandClock()), patience=0.5), suite=witnesses)
        for each in (kind, MemoryWitnesses)
    )
    await fails(case, broken)
    await run(case, right)


@pytest.mark.parametrize(
    ("leases", "case"), [(part, case) for part, cases in BROKEN_LEASES.items() for case in cases]
)
async def test_a_broken_coordinator_fails_the_case_named_for_it(
    leases: type[MemoryLeases], case: Case
) -> None:
    clock = HandClock()
    await fails(case, coordinator_bench(coordinator_with(leases, clock), clock))
    await run(case, coordinator_bench(MemoryCoordinator(clock, domain="right"), clock))


@pytest.mark.parametrize(
    ("kind", "case"), [(part, case) for part, cases in BROKEN_QUEUES.items() for case in cases]
)
async def test_a_broken_queue_fails_the_case_named_for_it(
    kind: type[MemoryQueue | StoredQueue], case: Case
) -> None:
    right = MemoryQueue if issubclass(kind, MemoryQueue) else StoredQueue
    await fails(case, await queue_bench(kind, patience=0.05))
    await run(case, await queue_bench(right))


@dataclass(frozen=True, slots=True)
class Bench:
    """The fixtures of a case, by name."""

    suite: type[
        StoreConformance | CoordinatorConformance | TicketQueueConformance | WitnessConformance
    ]
    fixtures: dict[str, object]


async def run(case: Case, bench: Bench) -> None:
    """Run a case as pytest would."""
    wanted = [name for name in signature(case).parameters if name != "self"]
    await case(bench.suite(), **{name: bench.fixtures[name] for name in wanted})


async def fails(case: Case, bench: Bench) -> None:
    """Make sure that a case fails, and by its own judgement: not by an accident of its backend."""
    judged = (AssertionError, pytest.fail.Exception, TimeoutError)
    with pytest.raises(judged):
        await run(case, bench)


def store_bench(store: Store, patience: float = PATIENCE) -> Bench:
    @asynccontextmanager
    async def another() -> AsyncGenerator[Store]:
        yield store

    traits = StoreTraits(another, patience=patience)
    return Bench(stores, {"store": store, "traits": traits, "change": Change.RETRY})


def coordinator_bench(coordinator: Coordinator, clock: HandClock) -> Bench:
    @asynccontextmanager
    async def another() -> AsyncGenerator[Coordinator]:
        yield coordinator

    traits = CoordinatorTraits(another, clock.advance, ttl=TTL, expires_within=TTL)
    return Bench(coordinators, {"coordinator": coordinator, "traits": traits})


async def queue_bench(kind: type[MemoryQueue | StoredQueue], patience: float = PATIENCE) -> Bench:
    clock = HandClock()
    store = MemoryStore(clock)
    numbers = count(1)
    queue: Queue
    if issubclass(kind, MemoryQueue):
        queue = kind(clock)
    else:
        queue = kind(lambda wake: store.subscribe(Topic.JOBS, wake))
    await queue.open()

    async def hint() -> None:
        await insert(store, spec())
        await queue.publish([Ticket(JobId(next(numbers)), DEFAULT_QUEUE)])

    return Bench(
        queues, {"queue": queue, "traits": QueueTraits(clock.advance, hint, patience=patience)}
    )
