// How a tick looks in a strip and on the timeline, and what is said of it.

import type { TickMarkView } from '../api/types'
import type { Tone } from '../components/Badge.svelte'
import type { IconName } from '../components/Icon.svelte'
import { counted } from './counts'
import { duration } from './duration'
import { SKIPS } from './status'

export interface MarkLook {
  word: string
  tone: Tone
  icon: IconName
  /** Of its bar in a strip, in pixels. */
  height: number
  hollow: boolean
}

export function markLook(tick: TickMarkView): MarkLook {
  if (tick.outcome === 'skipped') {
    const tone = tick.reason === null ? 'idle' : SKIPS[tick.reason].tone
    return { word: 'skipped', tone, icon: tone === 'idle' ? 'dash' : 'warning', height: tone === 'bad' ? 10 : 6, hollow: false }
  }
  switch (tick.status) {
    case 'failed':
      return { word: 'failed', tone: 'bad', icon: 'cross', height: 18, hollow: false }
    case 'cancelled':
      return { word: 'cancelled', tone: 'idle', icon: 'stop', height: 12, hollow: false }
    case 'completed':
      return { word: 'completed', tone: 'good', icon: 'check', height: 18, hollow: false }
    case null:
      return { word: 'fired', tone: 'good', icon: 'check', height: 14, hollow: false }
    default:
      return { word: tick.status, tone: 'busy', icon: 'play', height: 16, hollow: true }
  }
}

export function runSeconds(tick: TickMarkView): number | null {
  if (tick.started_at === null || tick.finished_at === null) return null
  return (Date.parse(tick.finished_at) - Date.parse(tick.started_at)) / 1_000
}

/** What became of a tick, in a few words. */
export function markWords(tick: TickMarkView): string {
  if (tick.outcome === 'skipped') {
    const why = tick.reason === null ? '' : `: ${SKIPS[tick.reason].words}`
    return tick.count === 1 ? `skipped${why}` : `${counted(tick.count, 'tick')} skipped${why}`
  }
  const length = runSeconds(tick)
  const ran = length === null ? '' : ` in ${duration(length)}`
  const late = tick.lateness_seconds >= 1 ? `, ${duration(tick.lateness_seconds)} late` : ''
  return `${markLook(tick).word}${ran}${late}`
}
