// Where the thing is that an entry of the audit log is about.

import type { AuditView } from '../../api/types'
import { href } from '../../lib/router.svelte'

const PLACES: Record<string, (target: string) => string> = {
  schedule: (target) => href(['schedules', target]),
  job: (target) => href(['jobs', target]),
  operation: (target) => href(['jobs', target]),
  queue: (target) => href(['queues'], { q: target }),
  node: () => href(['nodes'], { gone: 'yes' }),
  election: () => href(['cluster']),
}

export function placeOf(entry: AuditView): string | null {
  return PLACES[entry.action.split('.')[0] ?? '']?.(entry.target) ?? null
}

export const TIMES = [
  { value: '', text: 'any time' },
  { value: '1h', text: 'last hour' },
  { value: '24h', text: 'last 24 hours' },
  { value: '7d', text: 'last 7 days' },
  { value: '30d', text: 'last 30 days' },
]
