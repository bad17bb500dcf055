// Keys: Ctrl-K opens the palette, `/` goes to the search field, `g` and a letter go to a page.
// Except Ctrl-K they can be switched off, for those whose tools send single letters.

import { PAGES } from '../pages/pages'
import { preferences } from './preferences.svelte'
import { go } from './router.svelte'

const PAIR = 1_000

class Shortcuts {
  palette = $state(false)
  #waits = 0

  keyed(event: KeyboardEvent): void {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      this.palette = !this.palette
      return
    }
    if (!preferences.shortcuts || event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return
    if (document.querySelector('dialog[open]') !== null) return
    if (event.key === '/') {
      const field = document.querySelector<HTMLInputElement>('[data-search]')
      if (field === null) this.palette = true
      else field.focus()
      event.preventDefault()
    } else if (event.key === 'g') {
      this.#waits = Date.now()
    } else if (Date.now() - this.#waits < PAIR) {
      this.#waits = 0
      const page = PAGES.find((each) => each.key === event.key)
      if (page) go(page.path)
    }
  }
}

function writes(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

export const shortcuts = new Shortcuts()
