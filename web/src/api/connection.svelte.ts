// Whether the server, and the store behind it, answer; the page says so where they do not.

export type Away = 'server' | 'store' | null

class Connection {
  away = $state<Away>(null)
  /** When the last answer came, in milliseconds since 1970. */
  answeredAt = $state(0)
  /** Called when the server no longer knows who we are. */
  onRefused: () => void = () => undefined

  answered(): void {
    this.away = null
    this.answeredAt = Date.now()
  }

  failed(away: 'server' | 'store'): void {
    this.away = away
  }

  refused(): void {
    this.onRefused()
  }
}

export const connection = new Connection()
