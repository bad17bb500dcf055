/** The zone of a trigger, as far as it has one: combined ones have it in a part. */
export function zoneOf(trigger: Record<string, unknown>): string {
  if (typeof trigger['tz'] === 'string') return trigger['tz']
  for (const value of Object.values(trigger)) {
    const parts = Array.isArray(value) ? value : [value]
    for (const part of parts) {
      if (part !== null && typeof part === 'object') {
        const found = zoneOf(part as Record<string, unknown>)
        if (found !== 'UTC') return found
      }
    }
  }
  return 'UTC'
}
