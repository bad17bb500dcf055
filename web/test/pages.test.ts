import { expect, test } from 'vitest'

import type { TickMarkView } from '../src/api/types'
import { markWords } from '../src/lib/marks'
import { differences } from '../src/pages/schedule/differences'
import { zoneOf } from '../src/pages/schedule/zone'
import { buckets, drawn, kindOf } from '../src/pages/timeline/drawing'

const at = (minute: number) => new Date(minute * 60_000).toISOString()

test('an edit keeps, adds and removes ticks, and claims nothing beyond what is known', () => {
  expect(differences([at(0), at(1), at(2)], [at(1), at(1.5), at(9)])).toEqual([
    { at: at(0), change: 'removed' },
    { at: at(1), change: 'kept' },
    { at: at(1.5), change: 'added' },
    { at: at(2), change: 'removed' },
    { at: at(9), change: 'later' },
  ])
  expect(differences([at(0), at(5)], [at(0), at(1)])).toEqual([
    { at: at(0), change: 'kept' },
    { at: at(1), change: 'added' },
  ])
  expect(differences([at(1)], [])).toEqual([{ at: at(1), change: 'removed' }])
})

test('the zone of a combined trigger is that of its parts', () => {
  expect(zoneOf({ type: 'every', interval: 5 })).toBe('UTC')
  expect(zoneOf({ type: 'any_of', triggers: [{ type: 'every' }, { type: 'cron', tz: 'Asia/Tokyo' }] })).toBe('Asia/Tokyo')
})

const mark = (minute: number, changes: Partial<TickMarkView> = {}): TickMarkView => ({
  at: at(minute),
  through: at(minute),
  count: 1,
  outcome: 'fired',
  reason: null,
  lateness_seconds: 0,
  job_id: 1,
  status: 'completed',
  started_at: at(minute),
  finished_at: at(minute + 1),
  ...changes,
})

test('a mark says what became of its tick', () => {
  expect(markWords(mark(0, { lateness_seconds: 90 }))).toBe('completed in 1 m, 1 m 30 s late')
  expect(markWords(mark(0, { outcome: 'skipped', reason: 'missed_window', count: 3, job_id: null, status: null }))).toBe(
    '3 ticks skipped: missed',
  )
})

test('marks that fall together are drawn as the worst of them', () => {
  const failed = mark(1, { status: 'failed' })
  const found = drawn([mark(0), failed, mark(2), mark(60)], (instant) => instant / 60_000)
  expect(found.map((each) => [each.x, each.tick.status, each.others])).toEqual([
    [1, 'failed', 2],
    [60, 'completed', 0],
  ])
})

test('a tick that somebody wanted to be skipped is not drawn as one that was missed', () => {
  const skipped = (reason: TickMarkView['reason']) => kindOf(mark(0, { outcome: 'skipped', reason, job_id: null, status: null }))
  expect([skipped('paused'), skipped('overridden'), skipped('excluded')]).toEqual(['intended', 'intended', 'intended'])
  expect([skipped('overlap'), skipped('missed_window')]).toEqual(['skipped', 'missed'])
})

test('ticks are counted by the five minutes that they fall into', () => {
  const counts = buckets([0, 60_000, 299_999, 300_000, 900_001], 0, 900_000, 300_000)
  expect(counts).toEqual([3, 1, 0])
})
