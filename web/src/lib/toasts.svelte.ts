// Outcomes of what a person did, shown for a moment.

export interface Toast {
  id: number
  tone: 'good' | 'bad'
  text: string
  link?: { text: string; href: string }
}

const SHOWN = 6_000

class Toasts {
  list = $state<Toast[]>([])
  #last = 0

  good(text: string, link?: Toast['link']): void {
    this.#add('good', text, link)
  }

  bad(text: string): void {
    this.#add('bad', text)
  }

  close(id: number): void {
    this.list = this.list.filter((each) => each.id !== id)
  }

  #add(tone: Toast['tone'], text: string, link?: Toast['link']): void {
    const id = ++this.#last
    this.list = [...this.list.slice(-3), { id, tone, text, ...(link ? { link } : {}) }]
    setTimeout(() => this.close(id), tone === 'bad' ? SHOWN * 2 : SHOWN)
  }
}

export const toast = new Toasts()
