// The fleet's time, by the `Date` of its answers: a browser's clock may be wrong.

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

  /** An answer came just now and says this time, to the second. */
  told(date: string | null): void {
    const said = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(said)) return
    const off = said + 500 - Date.now()
    // Within the rounding of the header the browser's clock is right.
    this.#ahead = Math.abs(off) < 1_500 ? 0 : off
  }
}

export const clock = new Clock()
