// Live data: what a page shows, asked again when the stream says that it has changed.

import { untrack } from 'svelte'

import { Problem } from './problem'
import { stream, type Kind, type Told } from './stream.svelte'

export interface Source<T> {
  /** Asks for the data. What it reads of the state of the page makes it ask again. */
  load: (signal: AbortSignal) => Promise<T>
  /** The events after which the data may be different. */
  on?: readonly Kind[]
  /** Whether an event concerns this data; by default each of these kinds does. */
  about?: (told: Told) => boolean
  /** Seconds between two requests, whatever the stream tells. */
  every?: number
}

/** Between two requests at least, however many events come. */
const APART = 1_000
/** While there is no stream. */
const POLL = 4_000
const AWAY = 2_000

export class Live<T> {
  data = $state.raw<T | undefined>(undefined)
  error = $state.raw<unknown>(undefined)
  loading = $state(true)

  #source: Source<T>
  #asked = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: AbortController | undefined
  /** An event came while we were asking. */
  #again = false

  constructor(source: Source<T>) {
    this.#source = source
    $effect(() => {
      this.loading = untrack(() => this.data) === undefined
      void this.#ask()
      return () => {
        clearTimeout(this.#timer)
        this.#running?.abort()
      }
    })
    $effect(() =>
      stream.listen((told) => {
        const wanted = source.on ?? []
        if (told.kind === 'reset' || (wanted.includes(told.kind) && (source.about?.(told) ?? true))) this.soon()
      }),
    )
    $effect(() => {
      const seen = () => {
        if (!document.hidden) this.soon()
      }
      document.addEventListener('visibilitychange', seen)
      return () => document.removeEventListener('visibilitychange', seen)
    })
  }

  /** Ask again now, for instance after a change that this page has made. */
  async refresh(): Promise<void> {
    await untrack(() => this.#ask())
  }

  /** Ask again soon: events come in flocks. */
  soon(): void {
    if (this.#running !== undefined) {
      this.#again = true
      return
    }
    const wait = Math.max(0, this.#asked + APART - Date.now())
    this.#plan(wait)
  }

  async #ask(): Promise<void> {
    clearTimeout(this.#timer)
    this.#running?.abort()
    const running = new AbortController()
    this.#running = running
    this.#asked = Date.now()
    this.#again = false
    let next = untrack(() => this.#pause())
    try {
      const data = await this.#source.load(running.signal)
      if (running.signal.aborted) return
      this.data = data
      this.error = undefined
    } catch (error) {
      if (running.signal.aborted) return
      this.error = error
      if (error instanceof Problem && error.isAway) next = AWAY
    }
    this.loading = false
    this.#running = undefined
    this.#plan(this.#again ? APART : next)
  }

  #pause(): number {
    if (!stream.live) return Math.min(POLL, (this.#source.every ?? POLL) * 1_000)
    return (this.#source.every ?? 30) * 1_000
  }

  #plan(wait: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      if (document.hidden) return // asked when the page is seen again
      void untrack(() => this.#ask())
    }, wait)
  }
}

/** To be called while a component is made. */
export function live<T>(source: Source<T>): Live<T> {
  return new Live(source)
}
