// Who we are to the server, and what we may do.

import { credentials, get, send } from './client'
import { connection } from './connection.svelte'
import { Problem } from './problem'
import type { Scope, WhoView } from './types'

const ORDER: readonly Scope[] = ['viewer', 'submitter', 'operator', 'admin']

class Session {
  who = $state.raw<WhoView | null>(null)
  /** Whether the server was asked who we are. */
  known = $state(false)
  /** Whether there is a session that can be ended. */
  opened = $state(false)

  /** Whether we may do what needs that scope. Nobody may change anything on a read-only server. */
  may(scope: Scope): boolean {
    if (this.who === null || (this.who.read_only && scope !== 'viewer')) return false
    return ORDER.indexOf(this.who.scope) >= ORDER.indexOf(scope)
  }

  async ask(): Promise<void> {
    try {
      this.who = await get<WhoView>(['whoami'])
      this.opened = !this.who.name.startsWith('somebody on this machine')
      this.known = true
    } catch (error) {
      if (!(error instanceof Problem) || error.isAway) throw error
      this.who = null
      this.known = true
    }
  }

  async login(token: string): Promise<void> {
    try {
      this.who = await send<WhoView>('POST', ['login'], { body: { token } })
    } catch (error) {
      if (!(error instanceof Problem) || error.kind !== 'read-only') throw error
      // A read-only server keeps no session: the token stays in this page, until it is closed.
      credentials.token = token
      this.who = await get<WhoView>(['whoami']).catch((refusal: unknown) => {
        credentials.token = null
        throw refusal
      })
    }
    this.opened = true
  }

  async logout(): Promise<void> {
    if (credentials.token === null) await send('POST', ['logout'])
    credentials.token = null
    this.who = null
    await this.ask()
  }
}

export const session = new Session()
connection.onRefused = () => {
  session.who = null
}
