// What the timeline draws: positions, marks that fall together, counts.

import type { TickMarkView } from '../../api/types'
import { markLook } from '../../lib/marks'

const NEAR = 9
/** The worst last. */
const ORDER = ['completed', 'fired', 'cancelled', 'intended', 'skipped', 'running', 'failed', 'missed']

export interface DrawnMark {
  x: number
  tick: TickMarkView
  /** How many other marks are at this place. */
  others: number
}

export function kindOf(tick: TickMarkView): string {
  if (tick.outcome === 'skipped') {
    // As in the strip: red was missed, orange nobody wanted, grey was paused, excluded or skipped by hand.
    const { tone } = markLook(tick)
    return tone === 'bad' ? 'missed' : tone === 'idle' ? 'intended' : 'skipped'
  }
  if (tick.status === null) return 'fired'
  return ORDER.includes(tick.status) ? tick.status : 'running'
}

/** The marks in the order of time; those within a few pixels are one, which looks as the worst. */
export function drawn(ticks: readonly TickMarkView[], place: (instant: number) => number): DrawnMark[] {
  const found: DrawnMark[] = []
  const ordered = ticks.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
  let end = Number.NEGATIVE_INFINITY
  for (const tick of ordered) {
    const x = place(Date.parse(tick.at))
    const last = found.at(-1)
    if (last === undefined || x >= end) {
      found.push({ x, tick, others: 0 })
      end = x + NEAR
      continue
    }
    last.others += 1
    if (ORDER.indexOf(kindOf(tick)) > ORDER.indexOf(kindOf(last.tick))) {
      last.tick = tick
      last.x = x
    }
  }
  return found
}

/** The first of the instants of each place: circles that overlap are one. */
export function apart(instants: readonly string[], place: (instant: number) => number): string[] {
  let end = Number.NEGATIVE_INFINITY
  return instants.filter((each) => {
    const x = place(Date.parse(each))
    if (x < end) return false
    end = x + NEAR
    return true
  })
}

/** How many instants fall into each of the buckets between start and end. */
export function buckets(instants: readonly number[], start: number, end: number, size: number): number[] {
  const counts = Array.from({ length: Math.max(1, Math.ceil((end - start) / size)) }, () => 0)
  for (const instant of instants) {
    const index = Math.floor((instant - start) / size)
    if (index >= 0 && index < counts.length) counts[index]! += 1
  }
  return counts
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440].map((minutes) => minutes * 60_000)

/** Instants for the axis: whole minutes or hours of the zone, about one per `apart` pixels. */
export function axis(start: number, end: number, width: number, ahead: number, apart = 90): number[] {
  const wanted = ((end - start) / Math.max(1, width)) * apart
  const step = STEPS.find((each) => each >= wanted) ?? STEPS.at(-1)!
  const first = Math.ceil((start + ahead) / step) * step - ahead
  const found: number[] = []
  for (let at = first; at <= end; at += step) found.push(at)
  return found
}
