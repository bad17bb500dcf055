"""Local: the commands' questions, answered by an app here, from its store."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta, tzinfo

from drumbeat.app import Drumbeat
from drumbeat.cli.asked import Definition, Order
from drumbeat.cli.audited import LocalJobs, LocalOperations, LocalSchedules
from drumbeat.cli.auditing import DONE, actor, audited, done
from drumbeat.cli.checks import Check
from drumbeat.cli.migrations import Migrating, waits
from drumbeat.config.backends import NONE
from drumbeat.engine.explaining import Explaining
from drumbeat.engine.resigning import Resigning
from drumbeat.engine.runtime import SystemClock
from drumbeat.engine.scheduled import ScheduleOptions
from drumbeat.engine.task import TaskOptions
from drumbeat.engine.tokens import new_token
from drumbeat.model.audit import AuditNote
from drumbeat.model.duration import parse_duration
from drumbeat.model.explanation import ExplainedTick, Explanation
from drumbeat.model.ids import NodeId
from drumbeat.model.job import Job, JobSpec
from drumbeat.model.lease import SCHEDULER, Lease, TermRecord
from drumbeat.model.node import NodeRecord
from drumbeat.model.page import Page, PageRequest
from drumbeat.model.plan import AlreadyFired, Backfilled, Fire
from drumbeat.model.queue import PausedQueue, Queues
from drumbeat.model.schedule import Schedule, StoredSchedule
from drumbeat.model.token import NameTaken, NewToken, Scope, TokenRecord
from drumbeat.model.wording import counted
from drumbeat.ports.audit import AuditLog
from drumbeat.rules.explaining import explain_schedule, explain_tick
from drumbeat.rules.moments import Moments
from drumbeat.rules.tokens import check_name, digest_of, is_session

UNCHECKED = (
    "The app is not known here (--app): the arguments go unchecked, "
    "and the task's own options do not apply."
)


class LocalQueues:
    """The queues of a store. What a person changes is in the audit log."""

    def __init__(self, app: Drumbeat) -> None:
        self._app = app

    async def list(self) -> Queues:
        """All queues by name."""
        return await self._app.store.queues.list()

    async def pause(self, name: str, reason: str = "") -> PausedQueue:
        """Claim no job of it any more."""

        async def change() -> tuple[PausedQueue, str]:
            return await self._app.store.queues.pause(name, reason), DONE

        return await audited(self._app, AuditNote(actor(), "queue.pause", name, reason), change)

    async def resume(self, name: str) -> PausedQueue | None:
        """Claim jobs of it again; None: it was not paused."""

        async def change() -> tuple[PausedQueue | None, str]:
            before = await self._app.store.queues.resume(name)
            return before, DONE if before else "it was not paused"

        return await audited(self._app, AuditNote(actor(), "queue.resume", name), change)


class LocalTokens:
    """The tokens in a store. What a person changes is in the audit log."""

    def __init__(self, app: Drumbeat) -> None:
        self._app = app

    async def create(
        self, name: str, scope: Scope, lifetime: timedelta | None
    ) -> tuple[TokenRecord, str] | NameTaken:
        """A new token with its secret."""
        check_name(name)
        store, secret = self._app.store, new_token()
        expires_at = None if lifetime is None else await store.now() + lifetime
        new = NewToken(name, digest_of(secret), scope, expires_at)

        async def change() -> tuple[TokenRecord | NameTaken, str]:
            added = await store.tokens.add(new)
            return added, DONE if isinstance(added, TokenRecord) else "refused: the name is taken"

        note = AuditNote(actor(), "token.create", name, details={"scope": scope.value})
        made = await audited(self._app, note, change)
        return made if isinstance(made, NameTaken) else (made, secret)

    async def list(self) -> Sequence[TokenRecord]:
        """All tokens, without the sessions of browsers."""
        records = await self._app.store.tokens.list()
        return [record for record in records if not is_session(record)]

    async def revoke(self, name_or_id: str) -> TokenRecord | None:
        """Let nobody in by it any more; None: there is none."""

        async def change() -> tuple[TokenRecord | None, str]:
            found = await self._app.store.tokens.revoke(name_or_id)
            return found, DONE if found else "there is no such token"

        return await audited(self._app, AuditNote(actor(), "token.revoke", name_or_id), change)


class LocalLeadership:
    """Leaders, as the coordinator and the store have them."""

    def __init__(self, app: Drumbeat) -> None:
        self._app = app

    async def leader(self) -> Lease | None:
        """Who leads."""
        return await self._app.leadership.leader()

    async def history(self, page: PageRequest, election: str) -> Page[TermRecord]:
        """Who led, the latest first."""
        return await self._app.store.fence.history(election, page)

    async def resign(self, timeout: float) -> tuple[Lease | None, Lease | None]:
        """Who led, and who leads now; both None: nobody led."""
        resigning = Resigning(self._app.leadership, self._app.config, SystemClock())
        note = AuditNote(actor(), "election.resign", SCHEDULER)
        return await audited(self._app, note, done(lambda: resigning.ask(timeout)))


class Local:
    """An app here, connected and not running."""

    def __init__(self, app: Drumbeat, *, in_memory: bool = False) -> None:
        self._app = app
        self.in_memory = in_memory
        self.jobs = LocalJobs(app)
        self.schedules = LocalSchedules(app)
        self.operations = LocalOperations(app)
        self.queues = LocalQueues(app)
        self.tokens = LocalTokens(app)
        self.leadership = LocalLeadership(app)

    @property
    def has_coordinator(self) -> bool:
        """Whether a coordinator is named beside the store."""
        return self._app.settings.coordinator not in (None, NONE, "memory://")

    @property
    def audit(self) -> AuditLog:
        """The audit log."""
        return self._app.store.audit

    async def submit(self, order: Order) -> Job:
        """Submit a job; arguments of a task that is not known go unchecked."""
        if order.known or order.task in self._app.tasks:
            task = self._app.task_named(order.task).options(**order.options)
            return await task.submit(**order.arguments)
        options = TaskOptions.of(order.options)
        return await self._app.submit(
            JobSpec(
                task=order.task,
                arguments=json.dumps(order.arguments).encode(),
                queue=options.queue,
                priority=options.priority,
                run_at=options.run_at,
                delay=parse_duration(options.delay),
                retry=options.retry,
                timeout=None
                if options.timeout is None
                else parse_duration(options.timeout).total_seconds(),
                dedupe_key=options.dedupe_key,
                dedupe_for=parse_duration(options.dedupe_for),
                tags=options.tags,
            )
        )

    async def unchecked(self, task: str) -> str | None:
        """Why nobody checks the arguments of a task, in a sentence; None: somebody does."""
        return None if task in self._app.tasks else UNCHECKED

    async def define(self, definition: Definition) -> StoredSchedule:
        """Create a schedule, or replace its definition."""
        details = {"task": definition.task, "when": definition.trigger.to_json()}
        note = AuditNote(actor(), "schedule.put", definition.name, details=details)
        return await audited(self._app, note, done(lambda: self._define(definition)))

    async def _define(self, definition: Definition) -> StoredSchedule:
        schedules, name, when = self._app.schedules, definition.name, definition.trigger
        if definition.known or definition.task in self._app.tasks:
            return await schedules.put(
                name,
                when,
                definition.task,
                kwargs=definition.arguments,
                description=definition.description,
                **definition.options,
            )
        chosen = ScheduleOptions.sort(definition.options)
        options, arguments = TaskOptions.of(chosen.task), json.dumps(definition.arguments).encode()
        job = JobSpec(definition.task, arguments, options.queue, options.priority)
        return await schedules.write(
            Schedule(name, when, job, chosen.policies, definition.description)
        )

    async def backfill(
        self, name: str, start: datetime, end: datetime | None, *, dry_run: bool
    ) -> Sequence[Backfilled | AlreadyFired | Fire]:
        """Fire past ticks that did not fire, up to now if no end is given."""
        until = end or await self._app.store.now()
        if dry_run:
            return await self._app.schedules.backfill(name, start, until, dry_run=True)
        span = {"from": start.isoformat(), "to": until.isoformat()}
        note = AuditNote(actor(), "schedule.backfill", name, details=span)
        fill = done(lambda: self._app.schedules.backfill(name, start, until))
        return await audited(self._app, note, fill)

    async def explain(self, name: str, ticks: int, zone: tzinfo | None) -> Explanation:
        """Why a schedule did or did not run, with times in a zone (None: this machine's)."""
        app = self._app
        explaining = Explaining(app.store, app.schedules, app.leadership)
        evidence = await explaining.gather(name, ticks)
        moments = Moments(evidence.as_of, zone)
        return Explanation(
            name,
            tuple(explain_schedule(evidence, moments)),
            evidence.stored.paused,
            tuple(evidence.next),
            evidence.previous,
            tuple(
                ExplainedTick(tick, explain_tick(tick, moments, evidence.job_of(tick)))
                for tick in evidence.ticks
            ),
        )

    async def nodes(self) -> Sequence[NodeRecord]:
        """The nodes of the fleet."""
        return await self._app.nodes()

    async def drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop."""
        note = AuditNote(actor(), "node.drain", ", ".join(nodes))
        return await audited(self._app, note, done(lambda: self._app.drain(nodes)))

    async def now(self) -> datetime:
        """The store's time."""
        return await self._app.store.now()

    async def checks(self) -> Sequence[Check]:
        """Whether the store answers, and whether its schema is that of this version."""
        store = self._app.store
        await store.now()
        seen = [Check("store", sound=True, seen=f"{self._app.settings.shown('store')} answers")]
        if not isinstance(store, Migrating):
            return seen
        applied = await store.migrations.applied()
        missing = [
            step
            for step in store.migrations.known()
            if step.version not in applied and not waits(step)
        ]
        words = f"{counted(len(missing), 'migration')} missing"
        if not missing:
            words = f"version {max(applied, default=0)}"
        return [*seen, Check("schema", not missing, words)]

    async def unknown_tasks(self, limit: int) -> Sequence[str] | None:
        """Tasks that wait and that the app does not know; None: a bare store cannot tell."""
        if not self._app.tasks:
            return None
        queues = tuple(await self._app.jobs.counts())
        return await self._app.store.jobs.unknown_tasks(queues, self._app.tasks, limit)

    def secrets(self, task: str) -> Collection[str]:
        """The arguments of a task that are not to be shown."""
        return self._app.secrets(task)
