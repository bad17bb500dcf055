// The rule of a schedule as it was written, beside its sentence.

/** The cron expression of a trigger; null: it is no cron trigger, and its sentence says all. */
export function cronOf(trigger: Record<string, unknown>): string | null {
  return typeof trigger['expression'] === 'string' ? trigger['expression'] : null
}
