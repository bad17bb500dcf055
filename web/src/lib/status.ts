// How states of jobs and ticks look, in one place.

import type { Tone } from '../components/Badge.svelte'
import type { IconName } from '../components/Icon.svelte'
import type { SkipReason, Status } from '../api/types'

export interface Look {
  tone: Tone
  icon: IconName
}

export const STATUS: Record<Status, Look> = {
  pending: { tone: 'idle', icon: 'clock' },
  queued: { tone: 'accent', icon: 'queues' },
  running: { tone: 'busy', icon: 'play' },
  completed: { tone: 'good', icon: 'check' },
  failed: { tone: 'bad', icon: 'cross' },
  cancelled: { tone: 'idle', icon: 'stop' },
}

export const STATUSES = Object.keys(STATUS) as Status[]

/** What became of a tick, in one word, and whether somebody has to look at it. */
export const SKIPS: Record<SkipReason, { words: string; tone: Tone }> = {
  coalesced: { words: 'coalesced', tone: 'warn' },
  overlap: { words: 'overlap', tone: 'warn' },
  paused: { words: 'paused', tone: 'idle' },
  excluded: { words: 'excluded', tone: 'idle' },
  missed_window: { words: 'missed', tone: 'bad' },
  cap: { words: 'over the cap', tone: 'warn' },
  overridden: { words: 'skipped by hand', tone: 'idle' },
  too_expensive: { words: 'too expensive', tone: 'bad' },
  unknown_task: { words: 'unknown task', tone: 'bad' },
  elsewhere: { words: 'elsewhere', tone: 'idle' },
}
