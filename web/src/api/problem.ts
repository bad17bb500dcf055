// Errors of the API: problem documents of RFC 9457.

import type { ProblemView } from './types'

export const UNREACHABLE: ProblemView = {
  type: 'urn:drumbeat:problem:unreachable',
  title: 'Unreachable',
  status: 0,
  detail: 'The server does not answer. The page tries again by itself.',
} as ProblemView

export class Problem extends Error {
  constructor(readonly view: ProblemView) {
    super(view.detail || view.title)
  }

  /** The word that says what it is: `version-mismatch`. */
  get kind(): string {
    return this.view.type.split(':').at(-1) ?? ''
  }

  get status(): number {
    return this.view.status
  }

  /** Whether the store, or the server, does not answer at the moment. */
  get isAway(): boolean {
    return this.status === 0 || this.status >= 502 || this.kind === 'unavailable' || this.kind === 'store-unavailable'
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  try {
    return new Problem((await response.json()) as ProblemView)
  } catch {
    return new Problem({
      ...UNREACHABLE,
      type: 'urn:drumbeat:problem:error',
      status: response.status,
      detail: `The server answered ${response.status} ${response.statusText}.`,
    })
  }
}

/** What went wrong, as a sentence. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
