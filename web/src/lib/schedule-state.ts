import type { ScheduleState } from '../api/types'
import type { Look } from './status'

export const STATES: Record<ScheduleState, Look> = {
  ok: { tone: 'good', icon: 'check' },
  failing: { tone: 'bad', icon: 'cross' },
  overdue: { tone: 'bad', icon: 'warning' },
  paused: { tone: 'warn', icon: 'pause' },
  ended: { tone: 'idle', icon: 'stop' },
}
