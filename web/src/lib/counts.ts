// Numbers in words.

const whole = new Intl.NumberFormat('en-US')
const compactly = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })

/** `1,234`. */
export function number(value: number): string {
  return whole.format(value)
}

/** `1.2K`, `5M`; small numbers whole. */
export function compact(value: number): string {
  return Math.abs(value) < 10_000 ? whole.format(Math.round(value)) : compactly.format(value)
}

/** `1 job`, `3 jobs`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${number(count)} ${count === 1 ? noun : plural}`
}
