// What needs attention: how each kind looks, and where its list is.

import type { AttentionKind, AttentionView } from '../../api/types'
import type { Tone } from '../../components/Badge.svelte'
import type { IconName } from '../../components/Icon.svelte'
import { href } from '../../lib/router.svelte'

interface AttentionLook {
  words: string
  tone: Tone
  icon: IconName
  place: (subject: string) => string
}

const schedule = (name: string) => href(['schedules', name], { tab: 'ticks' })
const queue = (name: string) => href(['jobs'], { status: 'queued', queue: name })

export const ATTENTION: Record<AttentionKind, AttentionLook> = {
  no_leader: { words: 'no leader', tone: 'bad', icon: 'crown', place: () => href(['cluster']) },
  overdue: { words: 'overdue', tone: 'bad', icon: 'warning', place: schedule },
  no_worker: { words: 'no worker', tone: 'bad', icon: 'nodes', place: queue },
  failing: { words: 'failing', tone: 'bad', icon: 'cross', place: schedule },
  missed: { words: 'skipped', tone: 'warn', icon: 'skip', place: schedule },
  old_queue: { words: 'old queue', tone: 'warn', icon: 'queues', place: queue },
  paused_queue: { words: 'paused', tone: 'warn', icon: 'pause', place: () => href(['queues']) },
  dead_node: { words: 'died', tone: 'bad', icon: 'nodes', place: () => href(['nodes'], { gone: 'yes' }) },
  leader_changes: { words: 'unsteady', tone: 'warn', icon: 'crown', place: () => href(['cluster']) },
  unknown_task: { words: 'not in code', tone: 'warn', icon: 'edit', place: () => href(['schedules'], { state: 'undeclared' }) },
  undeclared: { words: 'not in code', tone: 'warn', icon: 'edit', place: () => href(['schedules'], { state: 'undeclared' }) },
}

export function placeOf(attention: AttentionView): string {
  return ATTENTION[attention.kind].place(attention.subject)
}
