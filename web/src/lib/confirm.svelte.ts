// Asks a person to confirm a change, and for its reason, and then makes it.

import { sentence } from '../api/problem'
import { toast } from './toasts.svelte'

export interface Question {
  title: string
  /** What will happen, in sentences. */
  text: string
  /** The word of the button: the act itself. */
  act: string
  /** Whether it destroys something, so that a reason has to be given. */
  destructive?: boolean
  /** Makes the change; the sentence that it returns is shown as the outcome. */
  make: (reason: string) => Promise<string | { text: string; link: { text: string; href: string } }>
}

class Confirmation {
  question = $state.raw<Question | null>(null)
  busy = $state(false)
  error = $state('')

  ask(question: Question): void {
    this.question = question
    this.busy = false
    this.error = ''
  }

  close(): void {
    if (!this.busy) this.question = null
  }

  async make(reason: string): Promise<void> {
    if (this.question === null || this.busy) return
    this.busy = true
    this.error = ''
    try {
      const outcome = await this.question.make(reason)
      if (typeof outcome === 'string') toast.good(outcome)
      else toast.good(outcome.text, outcome.link)
      this.question = null
    } catch (error) {
      this.error = sentence(error)
    } finally {
      this.busy = false
    }
  }
}

export const confirmation = new Confirmation()

/** Make a change that needs no confirmation, and show its outcome. */
export async function act(change: () => Promise<string>): Promise<void> {
  try {
    toast.good(await change())
  } catch (error) {
    toast.bad(sentence(error))
  }
}
