// Instants in a named zone. Every time that is shown says its zone.

import { preferences } from './preferences.svelte'

export const BROWSER = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** The zone that a person chose, for something of a schedule in `own`. */
export function chosenZone(own?: string | null): string {
  if (preferences.zone === 'utc') return 'UTC'
  if (preferences.zone === 'schedule' && own && isZone(own)) return own
  return BROWSER
}

const formats = new Map<string, Intl.DateTimeFormat>()

function format(zone: string): Intl.DateTimeFormat {
  let found = formats.get(zone)
  if (found === undefined) {
    found = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'short',
      year: 'numeric',
      month: 'short',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(zone, found)
  }
  return found
}

export interface Parts {
  weekday: string
  day: string
  month: string
  year: string
  hour: string
  minute: string
  second: string
}

export function parts(at: number, zone: string): Parts {
  const found = format(zone).formatToParts(at)
  return Object.fromEntries(found.map((each) => [each.type, each.value])) as unknown as Parts
}

/** `Tue 18 Nov 02:00:00`, with the year if it is not this one. */
export function dateTime(at: number, zone: string, now: number): string {
  const told = parts(at, zone)
  const year = told.year === parts(now, zone).year ? '' : ` ${told.year}`
  return `${told.weekday} ${told.day} ${told.month}${year} ${told.hour}:${told.minute}:${told.second}`
}

/** `02:00:00` on the same day, else `18 Nov 02:00`, with the year if it is not this one. */
export function shortTime(at: number, zone: string, now: number): string {
  const told = parts(at, zone)
  const today = parts(now, zone)
  if (told.year === today.year && told.month === today.month && told.day === today.day)
    return `${told.hour}:${told.minute}:${told.second}`
  const year = told.year === today.year ? '' : ` ${told.year}`
  return `${told.day} ${told.month}${year} ${told.hour}:${told.minute}`
}

export function hourMinute(at: number, zone: string): string {
  const told = parts(at, zone)
  return `${told.hour}:${told.minute}`
}

/** `Paris` for `Europe/Paris`: short, and still a name. */
export function zoneName(zone: string): string {
  return zone === 'UTC' || zone === 'Etc/UTC' ? 'UTC' : (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')
}

export function isZone(zone: string): boolean {
  try {
    format(zone)
    return true
  } catch {
    return false
  }
}

/** How far a zone is ahead of UTC at an instant, in milliseconds. */
export function offset(at: number, zone: string): number {
  const whole = Math.floor(at / 1_000) * 1_000
  const told = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(whole)
  const value = (type: string) => Number(told.find((each) => each.type === type)?.value)
  return (
    Date.UTC(value('year'), value('month') - 1, value('day'), value('hour'), value('minute'), value('second')) - whole
  )
}

/** The instant of a `datetime-local` field, read in a zone; null if it is empty or wrong. */
export function instantOf(local: string, zone: string): number | null {
  const plain = Date.parse(`${local}Z`)
  if (Number.isNaN(plain)) return null
  const first = plain - offset(plain, zone)
  return plain - offset(first, zone)
}

/** The value of a `datetime-local` field for an instant in a zone. */
export function localOf(at: number, zone: string): string {
  return new Date(at + offset(at, zone)).toISOString().slice(0, 19)
}
