// The fleet's time, by the `Date` of its answers: a browser's clock may be wrong.

import { ahead } from './ahead'

class Clock {
  /** Milliseconds since 1970 by the fleet's clock, renewed every second while the page is seen. */
  now = $state(Date.now())
  #ahead = 0

  constructor() {
    if (typeof document === 'undefined') return
    setInterval(() => {
      if (!document.hidden) this.now = this.read()
    }, 1_000)
    document.addEventListener('visibilitychange', () => (this.now = this.read()))
  }

  read(): number {
    return Date.now() + this.#ahead
  }

  /** An answer to what was asked then, by the browser's clock, came just now and says this time. */
  told(date: string | null, asked: number): void {
    const said = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(said)) return
    this.#ahead = ahead(said, asked, Date.now())
  }
}

export const clock = new Clock()
