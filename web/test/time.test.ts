import { expect, test } from 'vitest'

import { ahead } from '../src/lib/ahead'
import { distance, duration, seconds, shortDuration } from '../src/lib/duration'
import { dateTime, instantOf, localOf, shortTime, zoneName } from '../src/lib/time'

test.each([
  [0, '0 s'],
  [0.35, '350 ms'],
  [2.53, '2.5 s'],
  [252, '4 m 12 s'],
  [7_200, '2 h'],
  [7_201, '2 h'],
  [90_000, '1 d 1 h'],
])('%d seconds are %s', (length, words) => expect(duration(length)).toBe(words))

test('a short duration has one unit', () => {
  expect([59, 300, 3_600, 5_000, 172_800].map(shortDuration)).toEqual(['59 s', '5 m', '1 h', '83 m', '2 d'])
})

test('a distance says before or after', () => {
  expect(distance(252_000, 0)).toBe('in 4 m 12 s')
  expect(distance(0, 3_600_000)).toBe('1 h ago')
  expect(distance(500, 0)).toBe('now')
})

test('durations of people are read', () => {
  expect(['90', '15s', '1h30m', '2 d'].map(seconds)).toEqual([90, 15, 5_400, 172_800])
  expect(['', 'soon', '5x', '-3'].map(seconds)).toEqual([null, null, null, null])
})

test('an instant is shown in a zone, with the day only if it is another', () => {
  const at = Date.UTC(2026, 6, 1, 0, 30)
  expect(dateTime(at, 'Europe/Paris', at)).toBe('Wed 01 Jul 02:30:00')
  expect(shortTime(at, 'Europe/Paris', at)).toBe('02:30:00')
  expect(shortTime(at, 'UTC', at + 86_400_000)).toBe('01 Jul 00:30')
  expect(zoneName('America/New_York')).toBe('New York')
})

test('a local time is read and written in its zone, on both sides of a clock change', () => {
  for (const local of ['2026-03-29T01:59:59', '2026-03-29T03:00:00', '2026-10-25T12:00:00']) {
    const at = instantOf(local, 'Europe/Paris')
    expect(at).not.toBeNull()
    expect(localOf(at ?? 0, 'Europe/Paris')).toBe(local)
  }
  expect(instantOf('', 'UTC')).toBeNull()
})

test('the clock of the fleet is that of the browser if the time of the answer explains the difference', () => {
  expect(ahead(10_000, 10_400, 10_450)).toBe(0)
  expect(ahead(10_000, 10_400, 16_000)).toBe(0) // the page was busy, and read it late
})
test('the clock of the fleet is as far ahead or behind as answers say', () => {
  expect(Math.round(ahead(3_610_000, 10_400, 10_450) / 2_000)).toBe(1_800)
  expect(Math.round(ahead(10_000, 3_610_400, 3_610_450) / 2_000)).toBe(-1_800)
})
