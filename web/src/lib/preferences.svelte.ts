// What a person chose for this browser: theme, time zone, keyboard shortcuts.

export type Theme = 'system' | 'light' | 'dark'
export type ZoneChoice = 'browser' | 'utc' | 'schedule'

const KEY = 'drumbeat'
const USUAL = { theme: 'system' as Theme, zone: 'browser' as ZoneChoice, shortcuts: true }

function stored(): Partial<typeof USUAL> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<typeof USUAL>
  } catch {
    return {}
  }
}

class Preferences {
  #values = $state({ ...USUAL, ...stored() })
  #systemIsDark = $state(false)

  constructor() {
    if (typeof matchMedia === 'undefined') return
    const query = matchMedia('(prefers-color-scheme: dark)')
    this.#systemIsDark = query.matches
    query.addEventListener('change', () => (this.#systemIsDark = query.matches))
  }

  /** Whether the page is dark at the moment: what is drawn on a canvas has to know. */
  get isDark(): boolean {
    return this.theme === 'system' ? this.#systemIsDark : this.theme === 'dark'
  }

  get theme(): Theme {
    return this.#values.theme
  }
  set theme(theme: Theme) {
    this.#values.theme = theme
    this.#keep()
  }
  get zone(): ZoneChoice {
    return this.#values.zone
  }
  set zone(zone: ZoneChoice) {
    this.#values.zone = zone
    this.#keep()
  }
  get shortcuts(): boolean {
    return this.#values.shortcuts
  }
  set shortcuts(on: boolean) {
    this.#values.shortcuts = on
    this.#keep()
  }

  apply(): void {
    const root = document.documentElement
    if (this.theme === 'system') delete root.dataset['theme']
    else root.dataset['theme'] = this.theme
  }

  #keep(): void {
    this.apply()
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#values))
    } catch {
      // The browser keeps nothing: the choice holds until the page is closed.
    }
  }
}

export const preferences = new Preferences()
