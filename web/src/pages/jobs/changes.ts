// Changes of jobs, from any page.

import { send } from '../../api/client'
import type { JobView } from '../../api/types'
import { confirmation } from '../../lib/confirm.svelte'
import { counted } from '../../lib/counts'

export const EXAMPLE = `@app.task
async def send_receipt(order_id: int) -> None: ...

await send_receipt.submit(42)`

export const COMMAND = 'drumbeat job submit send_receipt order_id=42'

export function mayRetry(job: JobView): boolean {
  return job.status === 'failed' || job.status === 'cancelled'
}

export function mayCancel(job: JobView): boolean {
  return (job.status === 'pending' || job.status === 'queued' || job.status === 'running') && !job.cancel_requested
}

export function retryJob(job: JobView, changed: () => Promise<void>): void {
  confirmation.ask({
    title: `Retry job ${job.id}?`,
    text: 'It is queued again with the same arguments, and its attempts are counted anew.',
    act: 'Retry',
    make: async (reason) => {
      await send('POST', ['jobs', job.id, 'retry'], { body: { reason } }).finally(changed)
      return `Job ${job.id} is queued again`
    },
  })
}

export function cancelJob(job: JobView, changed: () => Promise<void>): void {
  confirmation.ask({
    title: `Cancel job ${job.id}?`,
    text: job.status === 'running' ? 'Its task is asked to stop. What it has done stays done.' : 'It will not run.',
    act: 'Cancel the job',
    destructive: true,
    make: async (reason) => {
      const after = await send<JobView>('POST', ['jobs', job.id, 'cancel'], { body: { reason } }).finally(changed)
      return after.status === 'cancelled' ? `Job ${job.id} is cancelled` : `Job ${job.id} was asked to stop`
    },
  })
}

/** Retry some jobs one after the other; those that no longer failed are left as they are. */
export function retryThese(ids: readonly number[], changed: () => Promise<void>): void {
  confirmation.ask({
    title: `Retry ${counted(ids.length, 'job')}?`,
    text: 'Each is queued again with the same arguments. Correct the cause first: otherwise they fail again.',
    act: 'Retry',
    make: async (reason) => {
      let done = 0
      for (const id of ids) {
        await send('POST', ['jobs', id, 'retry'], { body: { reason } }).then(
          () => (done += 1),
          (error: unknown) => {
            if ((error as { status?: number }).status !== 409) throw error
          },
        )
      }
      await changed()
      return `${counted(done, 'job')} queued again`
    },
  })
}
