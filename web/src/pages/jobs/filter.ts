// Which jobs are wanted: how a person writes it, how the address has it, how the API takes it.

import { seconds } from '../../lib/duration'

/** Every field is a part of the address; an empty one does not restrict. */
export interface Filter {
  task: string
  queue: string
  schedule: string
  tag: string
  /** `1h`: created within the last hour; or an instant. */
  since: string
  until: string
}

export const FIELDS = ['task', 'queue', 'schedule', 'tag', 'since', 'until'] as const
export const NONE: Filter = { task: '', queue: '', schedule: '', tag: '', since: '', until: '' }

export const TIMES = [
  { value: '', text: 'any time' },
  { value: '15m', text: 'last 15 minutes' },
  { value: '1h', text: 'last hour' },
  { value: '24h', text: 'last 24 hours' },
  { value: '7d', text: 'last 7 days' },
]

const PART = /(?:(task|queue|schedule|tag|since|until|status|id):)?(?:"([^"]*)"|(\S+))/g

export interface Asked {
  /** Of one job, whose page is wanted. */
  id: string | null
  changes: Partial<Filter & { status: string }>
}

/** What was written into the query bar: `task:charge queue:mail`, a name of a task, or a number. */
export function read(text: string): Asked {
  const asked: Asked = { id: null, changes: {} }
  for (const [, field, quoted, plain] of text.matchAll(PART)) {
    const value = quoted ?? plain ?? ''
    const number = /^#?(\d+)$/.exec(value)?.[1]
    if (field === undefined && quoted === undefined && number !== undefined) asked.id = number
    else if (field === 'id') asked.id = number ?? null
    else asked.changes[(field ?? 'task') as keyof Filter] = value
  }
  return asked
}

/** The fields as the API takes them; `since` as an instant, to the second, so that pages agree. */
export function query(filter: Filter, now: number): Record<string, string> {
  const found: Record<string, string> = {}
  for (const field of FIELDS) if (filter[field] !== '') found[field] = filter[field]
  const ago = filter.since === '' ? null : seconds(filter.since)
  if (ago !== null) found['since'] = new Date(Math.floor(now / 1_000 - ago) * 1_000).toISOString()
  return found
}

export function restricts(filter: Filter): boolean {
  return FIELDS.some((field) => filter[field] !== '')
}

/** Whether the counts of the queues are those of the filter: it restricts to a queue at most. */
export function countable(filter: Filter): boolean {
  return FIELDS.every((field) => field === 'queue' || filter[field] === '')
}
