// The stream of events. One connection for the whole page tells what has changed; where it is
// broken, the page asks again from time to time instead.

import { address, headers, withQuery } from './client'
import type { EventKind } from './types'

export type Kind = EventKind | 'reset'

export interface Told {
  kind: Kind
  data: unknown
}

type Listener = (told: Told) => void

const LONGEST_WAIT = 15_000
/** The server sends a comment every 15 s. */
const SILENCE = 40_000

class Stream {
  live = $state(false)
  #listeners = new Set<Listener>()
  #last = ''
  #ending: AbortController | null = null
  #wait = 500

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  start(): void {
    if (this.#ending !== null) return
    this.#ending = new AbortController()
    void this.#follow(this.#ending.signal)
  }

  stop(): void {
    this.#ending?.abort()
    this.#ending = null
    this.live = false
  }

  async #follow(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const broken = new AbortController()
      const end = () => broken.abort()
      ending.addEventListener('abort', end)
      try {
        await this.#read(broken)
      } catch {
        // Whatever broke it, the page goes on by asking, and tries again.
      }
      ending.removeEventListener('abort', end)
      this.live = false
      if (!ending.aborted) await new Promise((done) => setTimeout(done, this.#wait))
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT)
    }
  }

  async #read(broken: AbortController): Promise<void> {
    const url = withQuery(address('events'), { last_event_id: this.#last })
    const response = await fetch(url, { headers: headers(), signal: broken.signal })
    if (!response.ok || response.body === null) throw new Error(`${response.status}`)
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const silence = setTimeout(() => broken.abort(), SILENCE)
      const { value, done } = await reader.read().finally(() => clearTimeout(silence))
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) this.#take(block)
    }
  }

  #take(block: string): void {
    const fields: Record<string, string> = {}
    for (const line of block.split('\n')) {
      const [name, ...value] = line.split(': ')
      if (name) fields[name] = value.join(': ')
    }
    if (fields['id'] !== undefined) this.#last = fields['id']
    const kind = fields['event']
    if (kind === undefined) return
    this.#wait = 500
    this.live = true
    if (kind === 'ready') return
    const told = { kind: kind as Kind, data: JSON.parse(fields['data'] ?? '{}') as unknown }
    for (const listener of this.#listeners) listener(told)
  }
}

export const stream = new Stream()
