// Changes of schedules, from any page.

import { send } from '../../api/client'
import type { JobView } from '../../api/types'
import { confirmation } from '../../lib/confirm.svelte'
import { counted } from '../../lib/counts'
import { href } from '../../lib/router.svelte'

export const EXAMPLE = `from drumbeat import Drumbeat, cron

app = Drumbeat("sqlite:///drumbeat.db")

@app.scheduled(cron("0 2 * * *", tz="Europe/Paris"))
async def nightly() -> None: ...`

interface Named {
  name: string
}

function named(all: readonly Named[]): string {
  const [only] = all
  return all.length === 1 && only ? `“${only.name}”` : counted(all.length, 'schedule')
}

async function each(all: readonly Named[], change: (name: string) => Promise<unknown>): Promise<void> {
  let done = 0
  for (const one of all) {
    try {
      await change(one.name)
    } catch (error) {
      const before = done === 0 ? '' : `${done} of ${all.length} were changed; then: `
      throw new Error(before + (error instanceof Error ? error.message : String(error)), { cause: error })
    }
    done += 1
  }
}

export function pauseMany(all: readonly Named[], changed: () => Promise<void>): void {
  confirmation.ask({
    title: `Pause ${named(all)}?`,
    text: 'Ticks are recorded as skipped until somebody resumes. Jobs that run go on.',
    act: 'Pause',
    destructive: true,
    make: async (reason) => {
      await each(all, (name) => send('POST', ['schedules', name, 'pause'], { body: { reason } })).finally(changed)
      return `Paused ${named(all)}`
    },
  })
}

export function resumeMany(all: readonly Named[], changed: () => Promise<void>): void {
  confirmation.ask({
    title: `Resume ${named(all)}?`,
    text: 'It fires again, from now on. Ticks that were skipped stay skipped; a backfill fires them.',
    act: 'Resume',
    make: async (reason) => {
      await each(all, (name) => send('POST', ['schedules', name, 'resume'], { body: { reason } })).finally(changed)
      return `Resumed ${named(all)}`
    },
  })
}

export function triggerMany(all: readonly Named[], changed: () => Promise<void>): void {
  confirmation.ask({
    title: `Trigger ${named(all)} now?`,
    text: 'Its task is submitted once, in addition to its ticks, with the arguments of the schedule.',
    act: 'Trigger',
    make: async (reason) => {
      let last: JobView | undefined
      await each(all, async (name) => {
        last = await send<JobView>('POST', ['schedules', name, 'trigger'], { body: { reason } })
      }).finally(changed)
      const text = `Triggered ${named(all)}`
      if (all.length > 1 || last === undefined) return text
      return { text, link: { text: `Job ${last.id}`, href: href(['jobs', last.id]) } }
    },
  })
}

export function remove(name: string): void {
  confirmation.ask({
    title: `Delete “${name}”?`,
    text: 'It fires no more. Its ledger stays, and its jobs still run. If code declares it, the next start of a node declares it again.',
    act: 'Delete',
    destructive: true,
    make: async (reason) => {
      await send('DELETE', ['schedules', name], { reason })
      location.hash = href(['schedules'])
      return `Deleted “${name}”`
    },
  })
}

export function handBack(name: string, changed: () => Promise<void>): void {
  confirmation.ask({
    title: `Hand “${name}” back to code?`,
    text: 'The next declaration in code defines it again, and the edits of people are gone.',
    act: 'Hand back',
    destructive: true,
    make: async (reason) => {
      await send('POST', ['schedules', name, 'hand-back'], { body: { reason } })
      await changed()
      return `Code defines “${name}” again from its next start`
    },
  })
}
