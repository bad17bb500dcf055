// The life of a job as bars: how long it waited, ran, and waited for a retry.

import type { AttemptView, JobView } from '../../api/types'

/** `ended`: the job was over, until a person retried it. */
export type SpanKind = 'wait' | 'run' | 'backoff' | 'ended'

export interface Span {
  kind: SpanKind
  from: number
  to: number
}

export interface Line {
  number: number
  node: string
  startedAt: number
  endedAt: number | null
  /** How it ended; null: it runs. */
  change: AttemptView['change'] | null
  error: string | null
  spans: Span[]
}

export interface Life {
  from: number
  to: number
  lines: Line[]
  /** What comes after the last attempt: the job waits for a worker, or for its time. */
  next: Span | null
}

const AFTER: Partial<Record<AttemptView['change'], SpanKind>> = {
  'wait for a retry': 'backoff',
  snooze: 'backoff',
  complete: 'ended',
  fail: 'ended',
  'be cancelled': 'ended',
}

export function lifeOf(job: JobView, attempts: readonly AttemptView[], now: number): Life {
  const created = Date.parse(job.created_at)
  const due = Date.parse(job.run_at)
  const running = job.status === 'running' && job.started_at !== null
  const lines: Line[] = []
  // A job for later waits for its time, not for a worker. Retries move the time that is kept.
  const first = attempts[0] ? Date.parse(attempts[0].started_at) : running ? Date.parse(job.started_at!) : now
  let from = due > created && due <= first ? due : created
  let between: SpanKind = 'wait'
  const beginning = from
  const line = (number: number, node: string, startedAt: number, endedAt: number | null): Line => {
    const before: Span = { kind: between, from, to: startedAt }
    return {
      number,
      node,
      startedAt,
      endedAt,
      change: null,
      error: null,
      spans: [before, { kind: 'run', from: startedAt, to: endedAt ?? Math.max(now, startedAt) }],
    }
  }
  for (const each of attempts) {
    const ended = Date.parse(each.ended_at)
    lines.push({ ...line(each.number, each.node, Date.parse(each.started_at), ended), change: each.change, error: each.error })
    from = ended
    between = AFTER[each.change] ?? 'wait'
  }
  if (running) lines.push(line(job.attempt, job.node ?? '', Date.parse(job.started_at!), null))
  const waits = job.status === 'pending' || job.status === 'queued'
  const next: Span | null = waits ? { kind: between === 'ended' ? 'wait' : between, from: between === 'ended' ? due : from, to: Math.max(now, from) } : null
  const ends = [...lines.map((each) => each.spans[1]!.to), next?.to ?? beginning]
  return { from: beginning, to: Math.max(beginning + 1, ...ends), lines, next }
}
