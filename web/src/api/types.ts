// Written by `python scripts/dashboard_types.py` from the OpenAPI document. Do not edit.

/** A past attempt of a job. */
export interface AttemptView {
  number: number
  fence: number
  node: string
  started_at: string
  ended_at: string
  change: Change
  error: string | null
}

/** Why something needs attention, the most urgent first. */
export type AttentionKind = 'dead_node' | 'failing' | 'leader_changes' | 'missed' | 'no_leader' | 'no_worker' | 'old_queue' | 'overdue' | 'paused_queue' | 'undeclared' | 'unknown_task'

/** Something that a person should look at. */
export interface AttentionView {
  kind: AttentionKind
  /** Whether something does not run at the moment because of it. */
  urgent: boolean
  /** The name of the schedule, the queue, the node or the election. */
  subject: string
  /** A sentence. */
  message: string
  since: string | null
  /** How many ticks, jobs, terms or schedules. */
  count: number
}

/** Which entries are wanted, and which page of them. */
export interface AuditQuery {
  limit?: number
  /** Where the page before ended; the `Link` header of that page has it. */
  after?: string | null
  /** Only changes that they asked for. */
  actor?: string | null
  /** Only changes of this kind, such as `queue.pause`. */
  action?: string | null
  /** Only changes of this. */
  target?: string | null
  /** Only changes at or after it. */
  since?: string | null
  /** Only changes before it. */
  until?: string | null
}

/** Who requested which change, why, and its outcome. */
export interface AuditView {
  id: number
  at: string
  /** The name of a token, or of a person. */
  actor: string
  /** The requested change, such as `queue.pause`. */
  action: string
  /** What was changed, such as the name of a queue. */
  target: string
  reason: string
  details: Record<string, unknown>
  /** `done`, or the kind of the error; null: it is not known, or the change still runs. */
  outcome: string | null
}

/** The store or the coordinator, as the server that answers reaches it. */
export interface BackendView {
  /** `store` or `coordinator`. */
  name: string
  /** Of its address, such as `postgresql`. */
  kind: string
  /** How long it took to answer; null: it did not. */
  seconds: number | null
  /** Why it did not answer. */
  fault: string | null
  /** How far its clock is ahead of that of the server; null: it tells no time. */
  clock_ahead_seconds: number | null
}

/** Which past ticks are to fire. */
export interface BackfillView {
  /** The first, included. */
  from: string
  /** The last, included; null: now. */
  to?: string | null
  /** Only say which there are. */
  dry_run?: boolean
  reason?: string
}

/** What a backfill did, or would do, with one tick. */
export interface BackfilledView {
  tick_at: string
  /** `fired`, `had fired before` or `would fire`. */
  outcome: string
  job_id: number | null
}

/** What can happen to a job. `rules.jobs.transitions` says which are legal. */
export type Change = 'be cancelled' | 'be claimed' | 'be given back' | 'be promoted' | 'be retried by hand' | 'complete' | 'fail' | 'snooze' | 'wait for a retry'

/** A change of the clock that moves, drops or doubles a run. */
export interface ClockChangeView {
  at: string
  change: string
  effect: string
}

/** A tick to come. */
export interface ComingTickView {
  at: string
  /** The time on the wall clock of its zone, such as `2026-07-01T02:30:00+02:00`. */
  local: string
  /** How far that clock is ahead of UTC, such as `+02:00`. */
  offset: string
  /** What a change of the clock does to it, if one does. */
  note: string
}

/** A rule that is to be previewed. */
export interface CronPreviewView {
  /** A cron expression, or a trigger as a schedule shows it. */
  when: string | Record<string, unknown>
  /** The zone of a cron expression; UTC if not given. */
  tz?: string | null
  /** How many ticks. */
  n?: number
}

/** Which nodes were asked to finish their work and stop. */
export interface DrainingView {
  draining: string[]
}

/** What happens to a fixed time of day that the clock skips. */
export type DstGap = 'run_after' | 'shift' | 'skip'

/** What happens to a fixed time of day that comes twice. */
export type DstRepeat = 'both' | 'first' | 'last'

/** An election, and who has won it. */
export interface ElectionView {
  name: string
  /** Who leads, as the coordinator has it; null: nobody does. */
  leader: string | null
  token: number | null
  ttl_seconds: number | null
  /** The term as the store counts them; null: none was ever accepted. */
  epoch: number | null
  /** The node whose epoch that is. It differs from `leader` for a moment at each change. */
  fenced: string | null
  /** Whether it is the node that answers. */
  is_leader: boolean
  /** The coordinator that counts the tokens. */
  domain: string | null
  /** How long it may lead without a renewal. Only the leader itself knows; null elsewhere. */
  lease_remaining_seconds: number | null
}

/** A value that the fleet shares. */
export interface EntryView {
  key: string
  value: unknown
  /** The number of its last write; `If-Match` takes it. */
  revision: number
}

/** Failed jobs whose errors have the same exception and the same frame. */
export interface ErrorGroupView {
  /** The class of the exception; of an error without a traceback, its sentence. */
  exception: string
  /** What the newest of them says. */
  message: string
  /** Of the frame that raised it; empty: there is no traceback. */
  file: string
  line: number
  function: string
  /** Of the jobs that were looked at. */
  count: number
  first_seen: string
  last_seen: string
  /** Their tasks, at most ten. */
  tasks: string[]
  /** The newest of them, at most fifty. */
  jobs: number[]
}

/** The newest failed jobs by their errors, the most frequent first. */
export interface ErrorGroupsView {
  groups: ErrorGroupView[]
  /** How many failed jobs were looked at. */
  looked_at: number
  /** Whether these are all that match; otherwise there are older ones. */
  complete: boolean
}

/** Which failed jobs are meant; what is not given does not restrict. */
export interface ErrorQuery {
  task?: string | null
  queue?: string | null
  schedule?: string | null
  tag?: string | null
  /** Only jobs that were created at or after it. */
  since?: string | null
  /** Only jobs that were created before it. */
  until?: string | null
}

/** What an event of the stream is about: its `event` field. */
export type EventKind = 'audit' | 'job' | 'leader' | 'node' | 'queue' | 'schedule' | 'tick'

/** Which events are wanted. */
export interface EventQuery {
  /** Only these; may be repeated, or separated by commas. */
  kinds?: EventKind[]
  /** Where to go on, for clients that cannot send the header `Last-Event-ID`. */
  last_event_id?: string
}

/** How much is to be explained. */
export interface ExplainQuery {
  /** How many rows of the ledger. */
  ticks?: number
  /** The zone of the times in the sentences. */
  tz?: string
}

/** A row of the ledger, and what it means. */
export interface ExplainedTickView {
  schedule: string
  tick_at: string
  /** The last tick of the run; the same as `tick_at` if it is alone. */
  through: string
  count: number
  outcome: Outcome
  reason: SkipReason | null
  job_id: number | null
  leader: string | null
  epoch: number | null
  lateness_seconds: number
  recorded_at: string
  backfilled: boolean
  explanation: string
}

/** What became of a schedule's last ticks, and what may keep it from running. */
export interface ExplanationView {
  name: string
  /** Sentences. */
  explanation: string[]
  paused: boolean
  next: string[]
  previous_job: JobView | null
  ticks: ExplainedTickView[]
}

/** Whether a node is healthy, and whether it leads. */
export interface HealthView {
  /** `healthy` or `unhealthy`. */
  status: string
  /** The node's label. */
  instance_id: string
  is_leader: boolean
  /** Whether the coordinator answers. */
  coordinator_health: boolean
  /** Whether the queue answers; a node is healthy without, since the store hints its workers. */
  queue_health: boolean
  /** Now, in seconds since 1970. */
  timestamp: number
  leader_election_enabled: boolean
  /** Whether the node would run what is scheduled: it leads, or there are no elections. */
  will_execute_tasks: boolean
  /** Why it is unhealthy. */
  reason?: string
  /** The tasks that it knows; only for viewers. */
  registered_tasks?: string[]
}

/** How many jobs there were over the last hour, as this server has seen it: parallel lists. */
export interface HistoryView {
  at: string[]
  queued: number[]
  running: number[]
  pending: number[]
  /** Since the point before; null: that was long ago. */
  completed_per_minute: (number | null)[]
  failed_per_minute: (number | null)[]
}

/** Which jobs are meant; what is not given does not restrict. */
export interface JobFilterView {
  /** Only these. In a query it may be repeated, or separated by commas. */
  status?: Status[]
  task?: string | null
  queue?: string | null
  schedule?: string | null
  tag?: string | null
  /** Only jobs that were created at or after it. */
  since?: string | null
  /** Only jobs that were created before it. */
  until?: string | null
  /** Only jobs that were cancelled because they had expired. */
  expired?: boolean
  /** Only jobs that were skipped because their limit was reached. */
  skipped?: boolean
}

/** Which jobs are wanted, and which page of them. */
export interface JobQuery {
  /** Only these. In a query it may be repeated, or separated by commas. */
  status?: Status[]
  task?: string | null
  queue?: string | null
  schedule?: string | null
  tag?: string | null
  /** Only jobs that were created at or after it. */
  since?: string | null
  /** Only jobs that were created before it. */
  until?: string | null
  /** Only jobs that were cancelled because they had expired. */
  expired?: boolean
  /** Only jobs that were skipped because their limit was reached. */
  skipped?: boolean
  limit?: number
  /** Where the page before ended; the `Link` header of that page has it. */
  after?: string | null
}

/** A job: what was asked for, and where it stands. */
export interface JobView {
  id: number
  status: Status
  task: string
  queue: string
  priority: number
  /** The arguments by name. Those that its task marks as secret are shown as "[redacted]". */
  arguments: unknown
  attempt: number
  created_at: string
  run_at: string
  started_at: string | null
  /** When it ended, however it did. The same as `finished_at`. */
  completed_at: string | null
  finished_at: string | null
  /** The label of the node that runs or ran it. */
  worker_id: string | null
  /** The identity of that node. */
  node: string | null
  schedule: string | null
  tick_at: string | null
  dedupe_key: string | null
  /** Whose dedupe keys it shares; null: those of its task. */
  dedupe_scope: string | null
  tags: string[]
  /** From then on no attempt of it starts. */
  expires_at: string | null
  /** Whether it was cancelled because it had expired. */
  expired: boolean
  /** Whether it was skipped because its limit was reached. */
  skipped: boolean
  result: unknown
  error: string | null
  cancel_requested: boolean
  progress: ProgressView | null
  fence: number
}

/** What an operation does to the jobs. */
export type Kind = 'cancel' | 'retry'

/** A token that opens a session. */
export interface LoginView {
  token: string
}

/** A new token, with its secret. Nobody can show it again. */
export interface MadeTokenView {
  id: number
  name: string
  scope: Scope
  created_at: string
  /** When it expires; null: never. */
  expires_at: string | null
  revoked_at: string | null
  /** About when it was last used. */
  last_used_at: string | null
  token: string
}

/** The state of the fleet in a few numbers. */
export interface MetricsView {
  /** Now, in seconds since 1970. */
  timestamp: number
  pending_jobs: number
  queued_jobs: number
  running_jobs: number
  /** All that ever completed. */
  completed_jobs: number
  /** All that ever failed. */
  failed_jobs: number
  /** Jobs of the whole fleet that a worker has, or has brought to an end. */
  jobs_dispatched: number
  /** When a job was last claimed, in seconds since 1970; null: by no node that is still listed. */
  last_dispatch: number | null
}

/** What happens to ticks that no leader handled in time. */
export type Misfire = 'all' | 'latest' | 'skip'

/** A value to share. */
export interface NewEntryView {
  /** Any JSON of at most 64 KiB. */
  value: unknown
}

/** A job to create. Without a task it goes to the server's `default_task`. */
export interface NewJobView {
  task?: string | null
  /** The one argument of the task. Give this or `args`. */
  payload?: unknown
  /** The arguments by name, or in order. */
  args?: Record<string, unknown> | unknown[]
  queue?: string | null
  /** 0 to 100; a higher one runs first. */
  priority?: number | null
  /** When it may start; null: now. */
  schedule_at?: string | null
  /** Seconds from now until it may start. Give this or `schedule_at`. */
  delay?: number | null
  /** Seconds that one attempt may take. */
  timeout?: number | null
  /** How often it is tried again if it fails, and when; null: as its task says. */
  retry?: NewRetryView | null
  /** While a job stands for the key, it is the answer and none is created. */
  dedupe_key?: string | null
  /** Seconds after its end for which a job still stands for its key; 86,400 if not given, at most 31,536,000, a year. */
  dedupe_for?: number | null
  /** Jobs of one scope share their dedupe keys; null: the jobs of this task. */
  dedupe_scope?: string | null
  tags?: string[]
  /** Until when an attempt may start: seconds after it is due, or an instant; null: for ever. */
  expires?: number | string | null
}

/** Jobs to create together, all or none. */
export interface NewJobsView {
  jobs: NewJobView[]
}

/** Which jobs are to be changed. */
export interface NewOperationView {
  filter: JobFilterView
  /** Has to be true where the filter restricts nothing. */
  all?: boolean
  reason?: string
  /** Only count them. */
  dry_run?: boolean
}

/** Policies to set; those that are not given have their default, or stay as they are. */
export interface NewPoliciesView {
  /** What becomes of ticks that nobody took up in time. */
  misfire?: Misfire
  /** Seconds that a tick may be late and still fire. */
  window?: number
  /** How many missed ticks may fire at once. */
  cap?: number
  /** What becomes of a tick while the job of the one before is unfinished. */
  overlap?: Overlap
  /** The job runs up to so many seconds after its tick. */
  jitter?: number
  start_at?: string | null
  end_at?: string | null
  max_runs?: number | null
  run_on?: RunOn
}

/** How often and when a failed job is retried: `delays`, or the other fields. */
export interface NewRetryView {
  /** `linear`: the same delay each time; `backpressure`, if not given: twice as long each time; `delays`: as `delays` says; `function`: as the task's own function says. */
  strategy?: Strategy
  /** 3 if not given. */
  max_retries?: number
  /** Seconds before the first retry; 1 if not given. */
  base_delay?: number
  /** No delay is longer than this; it is not shorter than `base_delay`. 3,600 if not given. */
  max_delay?: number
  /** Seconds before each retry, one for each. The other fields need not be given then. */
  delays?: number[]
}

/** A schedule to create. */
export interface NewScheduleView {
  /** The task that each tick submits. It need not be known to this server. */
  task: string
  /** A cron expression such as "0 2 * * *", or a trigger as `trigger` of a schedule shows it. */
  when: string | Record<string, unknown>
  /** The zone of a cron expression; the app's default if not given, which is usually UTC. */
  tz?: string
  /** What a fixed time of day does where the clock jumps over it. */
  dst_gap?: DstGap
  /** What a fixed time of day does where the clock passes it twice. */
  dst_repeat?: DstRepeat
  /** The arguments by name, or in order. */
  args?: Record<string, unknown> | unknown[]
  policies?: NewPoliciesView
  queue?: string
  priority?: number
  /** Seconds that one attempt may take. */
  timeout?: number | null
  retry?: NewRetryView
  tags?: string[]
  /** Seconds after it is due until which an attempt may start; null: for ever. */
  expires?: number | null
  description?: string
  name: string
}

/** A token to make. */
export interface NewTokenView {
  /** Its name, also in the audit log. */
  name: string
  /** What it may do; each scope includes those before it. */
  scope: Scope
  /** When it expires; null: never. */
  expires_at?: string | null
}

/** How many nodes there are, and how busy they are. */
export interface NodeCountsView {
  alive: number
  draining: number
  /** They stopped, or died, and are still listed. */
  gone: number
  slots: number
  busy: number
}

/** What a node has done since its start, as it last reported it. */
export interface NodeMetricsView {
  /** Jobs that it has claimed, each as often as it has. */
  claimed: number
  /** Jobs that were completed by an attempt of this node. */
  completed: number
  /** Jobs that failed with an attempt of this node. */
  failed: number
  /** Ticks that it has fired as the leader. */
  fired: number
  /** When it last claimed a job; null: never. */
  last_claim_at: string | null
}

/** Which nodes are wanted. */
export interface NodeQuery {
  /** Also those that are gone. */
  all?: boolean
}

/** A node of the fleet. */
export interface NodeView {
  id: string
  /** The part of its identity that people know. */
  label: string
  roles: Role[]
  alive: boolean
  draining: boolean
  drain_requested: boolean
  version: string
  /** How many jobs it may run at once. */
  slots: number
  busy: number
  queues: string[]
  started_at: string
  /** Its last heartbeat; null: only the coordinator lists it, since it has a store of its own. */
  beat_at: string | null
  expires_at: string | null
  /** Whether it leads. */
  leader: boolean
  /** Whether the coordinator lists it; null: the coordinator does not answer. */
  registered: boolean | null
  /** Where it serves HTTP, as `host:port`. */
  addresses: string[]
  /** What it has done; null: the server does not tell. */
  metrics: NodeMetricsView | null
}

/** A change of many jobs in the background. It is a job itself, of the same id. */
export interface OperationView {
  id: number
  kind: Kind
  status: Status
  filter: JobFilterView
  reason: string
  dry_run: boolean
  /** Jobs that were changed so far, or that a dry run has found. */
  done: number
  /** Jobs that there were to change; null: not counted yet, or too many to count. */
  total: number | null
  /** Jobs whose status had changed before their turn came. */
  failed: number
  message: string
  error: string | null
  created_at: string
  started_at: string | null
  finished_at: string | null
}

/** Who wrote the present definition of a schedule. */
export type Origin = 'code' | 'person'

/** How a tick ended. */
export type Outcome = 'fired' | 'skipped'

/** What happens to a tick while the job of the previous tick is unfinished. */
export type Overlap = 'allow' | 'queue_one' | 'replace' | 'skip'

/** The state of the whole fleet. */
export interface OverviewView {
  as_of: string
  /** What needs attention, the most urgent first. */
  attention: AttentionView[]
  schedules: ScheduleCountsView
  nodes: NodeCountsView
  /** How many jobs stand where. */
  jobs: Record<string, number>
  /** How long the job has waited that has waited longest. */
  oldest_age_seconds: number | null
  /** How many jobs end how in a minute; null: this server has not looked for long enough. */
  per_minute: Record<string, number> | null
  /** Null: no job has started lately. */
  waits: WaitsView | null
  election: ElectionView
}

/** Which page is wanted. */
export interface PageQuery {
  limit?: number
  /** Where the page before ended; the `Link` header of that page has it. */
  after?: string | null
}

/** An argument that a task takes. */
export interface ParameterView {
  name: string
  /** Its annotation, as it is written; empty: it has none. */
  type: string
  required: boolean
  /** Whether its values are redacted. */
  secret: boolean
}

/** Why no job of a queue is started, and since when. */
export interface PausedView {
  reason: string
  since: string
}

/** What a schedule does when time did not go as planned. Lengths are in seconds. */
export interface PoliciesView {
  misfire: Misfire
  window: number
  cap: number
  overlap: Overlap
  jitter: number
  start_at: string | null
  end_at: string | null
  max_runs: number | null
  run_on: RunOn
}

/** How much of a preview is wanted. */
export interface PreviewQuery {
  /** How many ticks. */
  n?: number
}

/** The ticks to come, as things stand. */
export interface PreviewView {
  /** The schedule; null for a rule without one. */
  name: string | null
  /** The rule in words. */
  means: string
  tz: string
  next: string[]
  /** The same, with their local time and notes. */
  ticks: ComingTickView[]
  /** Those from now until the last of these ticks. */
  clock_changes: ClockChangeView[]
}

/** How much is wanted. */
export interface ProbeQuery {
  /** Give it, with or without a value, to be told each check. That needs the scope viewer. */
  verbose?: string | null
}

/** The answer to a probe. */
export interface ProbeView {
  /** `ok`, or the problem in one word. */
  status: string
  /** The result of each check, `ok` or its fault; only with `?verbose`. */
  checks?: Record<string, string>
}

/** Why a request was rejected, and how to correct it. */
export interface ProblemView {
  /** `urn:drumbeat:problem:` and a word that programs may rely on. */
  type: string
  title: string
  status: number
  /** A sentence that says what to do. */
  detail: string
  /** The part of the request that is wrong. */
  field: string | null
  /** The rule for that part. */
  rule: string | null
  /** Of a `version-mismatch`: the present version of the schedule; absent if there is none. */
  version: number | null
}

/** How far an attempt has come, in its own words. */
export interface ProgressView {
  done: number
  total: number | null
  message: string
}

/** A queue: how many jobs stand where, and how fast they end. */
export interface QueueView {
  name: string
  /** How many of its jobs stand where; every status is there. */
  counts: Record<string, number>
  /** The earliest time from which on a queued job waits for a worker. */
  oldest_at: string | null
  oldest_age_seconds: number | null
  /** Null: it is not paused. */
  paused: PausedView | null
  /** How many of its jobs have ended how, ever. */
  totals: Record<string, number>
  /** How many end how in a minute, since this server looked before; null: it had not, or only less than 2 seconds ago. */
  per_minute: Record<string, number> | null
  /** The time that this is reckoned over: five minutes if it is asked often, else longer or shorter. */
  per_minute_over_seconds: number | null
}

/** Why something is to be changed. */
export interface ReasonView {
  /** For those who look at it later. */
  reason?: string
}

/** How long to wait for another leader. */
export interface ResignQuery {
  /** In seconds. */
  timeout?: number
}

/** Who led before, and who leads now. */
export interface ResignedView {
  before: ElectionLeaderView
  after: ElectionLeaderView
}

/** How often and when a failed job is retried. */
export interface RetryView {
  /** `linear`: the same delay each time; `backpressure`: twice as long each time; `delays`: one after the other; `function`: as the task's own function says. */
  strategy: Strategy
  max_retries: number
  /** Seconds before the first retry; with `delays` the shortest of them. */
  base_delay: number
  /** No delay is longer than this. */
  max_delay: number
  /** With `delays`: the seconds before each retry. */
  delays: number[]
}

/** What a node does. */
export type Role = 'api' | 'scheduler' | 'worker'

/** Where the jobs of a schedule run. */
export type RunOn = 'leader' | 'worker'

/** What is to change of a schedule; the rest stays as it is. */
export interface ScheduleChangesView {
  /** The task that each tick submits. It need not be known to this server. */
  task?: string
  /** A cron expression such as "0 2 * * *", or a trigger as `trigger` of a schedule shows it. */
  when?: string | Record<string, unknown>
  /** The zone of a cron expression; the app's default if not given, which is usually UTC. */
  tz?: string
  /** What a fixed time of day does where the clock jumps over it. */
  dst_gap?: DstGap
  /** What a fixed time of day does where the clock passes it twice. */
  dst_repeat?: DstRepeat
  /** The arguments by name, or in order. */
  args?: Record<string, unknown> | unknown[]
  policies?: NewPoliciesView
  queue?: string
  priority?: number
  /** Seconds that one attempt may take. */
  timeout?: number | null
  retry?: NewRetryView
  tags?: string[]
  /** Seconds after it is due until which an attempt may start; null: for ever. */
  expires?: number | null
  description?: string
}

/** How many schedules there are, and how many stand how. */
export interface ScheduleCountsView {
  total: number
  paused: number
  /** Of those that failed lately. */
  failing: number
  overdue: number
  /** They have no further tick. */
  ended: number
  /** The code of this server does not declare them: their declaration was removed, or another app has it. */
  undeclared: number
}

/** A whole definition of a schedule. */
export interface ScheduleDefinitionView {
  /** The task that each tick submits. It need not be known to this server. */
  task: string
  /** A cron expression such as "0 2 * * *", or a trigger as `trigger` of a schedule shows it. */
  when: string | Record<string, unknown>
  /** The zone of a cron expression; the app's default if not given, which is usually UTC. */
  tz?: string
  /** What a fixed time of day does where the clock jumps over it. */
  dst_gap?: DstGap
  /** What a fixed time of day does where the clock passes it twice. */
  dst_repeat?: DstRepeat
  /** The arguments by name, or in order. */
  args?: Record<string, unknown> | unknown[]
  policies?: NewPoliciesView
  queue?: string
  priority?: number
  /** Seconds that one attempt may take. */
  timeout?: number | null
  retry?: NewRetryView
  tags?: string[]
  /** Seconds after it is due until which an attempt may start; null: for ever. */
  expires?: number | null
  description?: string
}

/** How a list of schedules is ordered; with `-` the other way round. */
export type ScheduleOrder = '-name' | '-next' | '-state' | '-task' | 'name' | 'next' | 'state' | 'task'

/** Which schedules are wanted, and which page of them. */
export interface ScheduleQuery {
  limit?: number
  /** Where the page before ended; the `Link` header of that page has it. */
  after?: string | null
  /** Only names that begin with it. */
  prefix?: string
  /** Only schedules with this tag. */
  tag?: string | null
}

/** Which schedules are wanted, in which order, and which page of them. */
export interface ScheduleRowQuery {
  limit?: number
  /** Where the page before ended; the `Link` header of that page has it. */
  after?: string | null
  /** Words that are all in the name, the task, the tags or the rule. */
  search?: string
  state?: ScheduleState | null
  /** Only those that code declared and no longer does. */
  undeclared?: boolean
  tag?: string | null
  order?: ScheduleOrder
  /** How many of the last rows of each ledger. */
  ticks?: number
}

/** A schedule, how it stands, and its last ticks. */
export interface ScheduleRowView {
  name: string
  task: string
  /** The rule in words. */
  when: string
  trigger: Record<string, unknown>
  /** The zone of its rule; UTC if that uses no wall clock. */
  tz: string
  state: ScheduleState
  paused: boolean
  pause_reason: string
  undeclared: boolean
  origin: Origin
  queue: string
  tags: string[]
  version: number
  next_tick: string | null
  /** The time between its next two ticks; null: there are none. */
  interval_seconds: number | null
  /** The last rows of its ledger, the latest first. */
  ticks: TickMarkView[]
  /** When a run of these ticks last completed. */
  last_success_at: string | null
  /** How long a run of these ticks takes: the median. */
  run_seconds: number | null
}

/** How a schedule stands. */
export type ScheduleState = 'ended' | 'failing' | 'ok' | 'overdue' | 'paused'

/** A schedule, as it is defined and where it stands. */
export interface ScheduleView {
  name: string
  task: string
  /** The rule in words. */
  when: string
  /** The rule itself; it may be given back as `when`. */
  trigger: Record<string, unknown>
  paused: boolean
  pause_reason: string
  next_tick: string | null
  /** Every tick up to here is accounted for in the ledger. */
  cursor: string
  runs: number
  last_job: number | null
  /** Single ticks, still to come, that were skipped by hand. */
  skips: string[]
  queue: string
  /** By name. Those that the task marks as secret are shown as "[redacted]". */
  arguments: unknown
  policies: PoliciesView
  origin: Origin
  /** Raised by every edit, pause and resume. */
  version: number
  description: string
  created_at: string
  updated_at: string
  priority: number
  timeout: number | null
  tags: string[]
  /** Seconds after they are due until which its jobs may start. */
  expires: number | null
  retry: RetryView | null
  /** The fingerprint of what code declared last; empty: no code declares it. */
  declared: string
  /** Code declared it, and the app that answers knows its task and no longer declares it. */
  undeclared: boolean
}

/** What a token allows. Each scope includes those before it. */
export type Scope = 'admin' | 'operator' | 'submitter' | 'viewer'

/** A setting of the server that answers. */
export interface SettingView {
  /** Secrets are masked. */
  value: string | number | boolean | null
  /** Where the value came from. */
  origin: string
  /** The environment variable that sets it. */
  variable: string
}

/** Why a tick did not fire. */
export type SkipReason = 'cap' | 'coalesced' | 'elsewhere' | 'excluded' | 'missed_window' | 'overlap' | 'overridden' | 'paused' | 'too_expensive' | 'unknown_task'

/** Which tick of a schedule is meant. */
export interface SkipView {
  /** Null: the next one that would fire; to take a skip back, the first that is skipped. */
  tick_at?: string | null
  reason?: string
}

/** The status of a job. */
export type Status = 'cancelled' | 'completed' | 'failed' | 'pending' | 'queued' | 'running'

/** How the delay grows from one retry to the next. */
export type Strategy = 'backpressure' | 'delays' | 'function' | 'linear'

/** Which schedules are to be changed, and why. */
export interface TaggedView {
  /** All that have it. */
  tag: string
  reason?: string
}

/** A task. */
export interface TaskView {
  name: string
  /** The first line of its documentation. */
  description: string
  queue: string
  priority: number
  timeout: number | null
  tags: string[]
  parameters: ParameterView[]
  /** Earlier names, under which jobs and schedules may still be stored. */
  aliases: string[]
}

/** A term that became an epoch. */
export interface TermView {
  election: string
  epoch: number
  node: string
  domain: string
  token: number
  since: string
}

/** A row of the ledger in short, with the state of its job. */
export interface TickMarkView {
  at: string
  through: string
  count: number
  outcome: Outcome
  reason: SkipReason | null
  lateness_seconds: number
  job_id: number | null
  /** Of its job; null: it has none, or it is no longer kept. */
  status: Status | null
  started_at: string | null
  finished_at: string | null
}

/** A row of the ledger: one tick that fired, or a run of ticks that were skipped together. */
export interface TickView {
  schedule: string
  tick_at: string
  /** The last tick of the run; the same as `tick_at` if it is alone. */
  through: string
  count: number
  outcome: Outcome
  reason: SkipReason | null
  job_id: number | null
  leader: string | null
  epoch: number | null
  lateness_seconds: number
  recorded_at: string
  backfilled: boolean
}

/** The ticks of one schedule within a time. */
export interface TimelineLineView {
  name: string
  when: string
  tz: string
  state: ScheduleState
  /** The latest first. */
  past: TickMarkView[]
  /** Before it there are rows that are left out; the start if there are none. */
  complete_from: string
  coming: string[]
  /** After it there are ticks that are left out; the end if there are none. */
  complete_until: string
}

/** Which schedules are wanted, and over which time. */
export interface TimelineQuery {
  /** Null: six hours ago. */
  from?: string | null
  /** Null: in an hour. */
  to?: string | null
  /** Words that are all in the name, the task, the tags or the rule. */
  search?: string
  limit?: number
}

/** Schedules over time. */
export interface TimelineView {
  as_of: string
  start: string
  end: string
  lines: TimelineLineView[]
  /** How many schedules match; `lines` has the first of them. */
  schedules: number
}

/** Which tokens are wanted. */
export interface TokenQuery {
  /** Also the sessions of browsers. */
  sessions?: boolean
}

/** A token without its secret. */
export interface TokenView {
  id: number
  name: string
  scope: Scope
  created_at: string
  /** When it expires; null: never. */
  expires_at: string | null
  revoked_at: string | null
  /** About when it was last used. */
  last_used_at: string | null
}

/** How a schedule is to be triggered now. */
export interface TriggerView {
  /** In place of its own. */
  args?: Record<string, unknown> | unknown[]
  reason?: string
}

/** How long to wait. */
export interface WaitQuery {
  /** In seconds. */
  timeout?: number
}

/** How long jobs waited for a worker, in seconds. */
export interface WaitsView {
  p50: number
  p95: number
  p99: number
  /** Of how many of the newest jobs. */
  jobs: number
}

/** Who one is, to the server. */
export interface WhoView {
  name: string
  /** What one may do: viewer, submitter, operator or admin. */
  scope: Scope
  /** Whether the server changes nothing at all. */
  read_only: boolean
}

/** Who leads; every value is null if nobody does. */
export interface ElectionLeaderView {
  leader: string | null
  election: string | null
  token: number | null
  ttl_seconds: number | null
  domain: string | null
}

/** Who leads. */
export interface HealthLeaderView {
  current_leader: string | null
  is_leader: boolean
  instance_id: string
}
