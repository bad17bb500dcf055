// The ticks before and after an edit, side by side.

export interface Difference {
  at: string
  /** `later`: so late that nothing is known of it before the edit. */
  change: 'kept' | 'added' | 'removed' | 'later'
}

/** Both lists in the order of time. Beyond the end of a list nothing is known of it. */
export function differences(before: readonly string[], after: readonly string[]): Difference[] {
  const instants = (ticks: readonly string[]) => new Map(ticks.map((each) => [Date.parse(each), each]))
  const [old, fresh] = [instants(before), instants(after)]
  const [oldEnd, freshEnd] = [Math.max(...old.keys()), Math.max(...fresh.keys())]
  const all = [...new Map([...old, ...fresh])].toSorted(([one], [other]) => one - other)
  return all
    .filter(([instant]) => fresh.has(instant) || fresh.size === 0 || instant <= freshEnd)
    .map(([instant, at]) => {
      if (old.has(instant)) return { at, change: fresh.has(instant) ? 'kept' : 'removed' }
      return { at, change: old.size > 0 && instant > oldEnd ? 'later' : 'added' }
    })
}
