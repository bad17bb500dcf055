import type { NodeView } from '../../api/types'

/** Whether a node ended without saying so: one that stops in order expires at its last heartbeat. */
export function died(node: NodeView): boolean {
  return !node.alive && Date.parse(node.expires_at ?? '') > Date.parse(node.beat_at ?? '')
}
