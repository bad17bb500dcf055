import { expect, test } from 'vitest'

import { href, parsePlace } from '../src/lib/router.svelte'

test('a name may hold any character', () => {
  for (const name of ['billing/nightly', 'a?b#c', '100%', 'ночь', '..', '<script>']) {
    const place = parsePlace(href(['schedules', name], { q: name }))
    expect(place).toEqual({ path: ['schedules', name], query: { q: name } })
  }
})

test('values that are empty are left out', () => {
  expect(href(['jobs'], { status: '', task: 'x' })).toBe('#/jobs?task=x')
  expect(href([])).toBe('#/')
})

test('an address that is no encoding is taken as it is', () => {
  expect(parsePlace('#/schedules/100%').path).toEqual(['schedules', '100%'])
})
