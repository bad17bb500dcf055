// Terms of the leaders: how long each lasted, and how long nobody led before it.

import type { NodeView, TermView } from '../../api/types'

export interface Term {
  epoch: number
  node: string
  label: string
  domain: string
  from: number
  /** When the next one began; null: it goes on. */
  to: number | null
  /** Seconds from the last heartbeat of the leader before it, which died; null: it did not, or is no longer listed. */
  failover: number | null
}

/** The terms, the latest first; `nodes` with those that are gone. */
export function termsOf(views: readonly TermView[], nodes: readonly NodeView[], leader: string | null): Term[] {
  const known = new Map(nodes.map((each) => [each.id, each]))
  return views.map((view, index) => {
    const next = views[index - 1]
    const before = known.get(views[index + 1]?.node ?? '')
    const from = Date.parse(view.since)
    const silence = before?.beat_at && !before.alive && !before.draining ? (from - Date.parse(before.beat_at)) / 1_000 : -1
    // The last one has ended too if nobody, or another one, leads by now.
    const last = known.get(view.node)
    const end = view.node === leader ? null : last?.beat_at && !last.alive ? Date.parse(last.beat_at) : null
    return {
      epoch: view.epoch,
      node: view.node,
      label: view.node.split(':')[0] ?? view.node,
      domain: view.domain,
      from,
      to: next ? Date.parse(next.since) : end,
      failover: silence >= 0 ? silence : null,
    }
  })
}
