// The policies of a schedule, in sentences.

import type { ScheduleView } from '../../api/types'
import { counted } from '../../lib/counts'
import { duration } from '../../lib/duration'

export function policySentences(schedule: ScheduleView): string[] {
  const { policies, retry } = schedule
  const missed = {
    latest: `Of ticks that were missed only the latest fires, at most ${duration(policies.window)} late.`,
    all: `Every tick that was missed fires, at most ${duration(policies.window)} late and ${counted(policies.cap, 'tick')} at once.`,
    skip: 'A tick that was missed does not fire.',
  }[policies.misfire]
  const overlap = {
    skip: 'While the job of the tick before is unfinished, ticks are skipped.',
    allow: 'Jobs may run at the same time.',
    queue_one: 'While the job of the tick before is unfinished, one more waits.',
    replace: 'A tick cancels the unfinished job of the tick before.',
  }[policies.overlap]
  const told = [missed, overlap]
  if (policies.jitter > 0) told.push(`Its job runs up to ${duration(policies.jitter)} after the tick.`)
  if (policies.max_runs !== null) told.push(`It fires at most ${counted(policies.max_runs, 'time')}; ${schedule.runs} so far.`)
  if (policies.run_on === 'leader') told.push('Its job runs on the leader.')
  if (schedule.timeout !== null) told.push(`An attempt may take ${duration(schedule.timeout)}.`)
  if (schedule.expires !== null) told.push(`A job that has not started ${duration(schedule.expires)} after its tick is cancelled.`)
  if (retry !== null)
    told.push(retry.max_retries === 0 ? 'A run that fails is not tried again.' : `A run that fails is tried again ${counted(retry.max_retries, 'time')}.`)
  return told
}
