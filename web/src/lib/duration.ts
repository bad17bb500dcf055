// Lengths of time in words.

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
]

/** `4 m 12 s`, `2 h`, `350 ms`: at most two units, for a length in seconds. */
export function duration(seconds: number): string {
  const length = Math.abs(seconds)
  if (length === 0) return '0 s'
  if (length < 1) return `${Math.max(1, Math.round(length * 1_000))} ms`
  if (length < 10) return `${trimmed(length)} s`
  let rest = Math.round(length)
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    if (count > 0) parts.push(`${count} ${unit}`)
    else if (parts.length > 0) break
    rest -= count * size
    if (parts.length === 2) break
  }
  return parts.join(' ')
}

/** One unit only: `4 m`, `2 h`, `3 d`. */
export function shortDuration(seconds: number): string {
  const length = Math.abs(seconds)
  if (length < 1) return length === 0 ? '0 s' : `${Math.max(1, Math.round(length * 1_000))} ms`
  for (const [unit, size] of UNITS) {
    if (length >= size * 1.5 || (length >= size && length % size === 0) || unit === 's') return `${Math.round(length / size)} ${unit}`
  }
  return '0 s'
}

/** `in 4 m 12 s`, `3 h ago`, `now`. */
export function distance(at: number, now: number): string {
  const seconds = (at - now) / 1_000
  if (Math.abs(seconds) < 1) return 'now'
  const whole = seconds > 0 ? Math.ceil(seconds) : Math.floor(seconds)
  return seconds > 0 ? `in ${duration(whole)}` : `${duration(whole)} ago`
}

/** Seconds of `15s`, `5 m`, `1h30m` or a plain number; null if it is none. */
export function seconds(text: string): number | null {
  const plain = text.replaceAll(/\s+/g, '').toLowerCase()
  if (/^\d+(\.\d+)?$/.test(plain)) return Number(plain)
  if (!/^(\d+(\.\d+)?(d|h|m|s))+$/.test(plain)) return null
  let total = 0
  for (const [, count, unit] of plain.matchAll(/(\d+(?:\.\d+)?)(d|h|m|s)/g)) {
    total += Number(count) * (UNITS.find(([name]) => name === unit)?.[1] ?? 0)
  }
  return total
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '')
}
