// JSON that keeps every digit: an integer that a JavaScript number cannot hold becomes a BigInt.

const LONG = /\d{16,}/

export function readJson(text: string): unknown {
  return LONG.test(text) ? new Reader(text).read() : JSON.parse(text)
}

/** JSON as people read it, with integers exact. */
export function writeJson(value: unknown, indent = 2): string {
  return written(value, indent, '')
}

function written(value: unknown, indent: number, before: string): string {
  if (typeof value === 'bigint') return value.toString()
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const inner = before + ' '.repeat(indent)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const items = Array.isArray(value)
    ? value.map((each) => written(each, indent, inner))
    : Object.entries(value)
        .filter(([, each]) => each !== undefined)
        .map(([name, each]) => `${JSON.stringify(name)}: ${written(each, indent, inner)}`)
  if (items.length === 0) return open + close
  if (indent === 0) return `${open}${items.join(', ')}${close}`
  return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${before}${close}`
}

class Reader {
  #at = 0
  constructor(readonly text: string) {}

  read(): unknown {
    const value = this.#value()
    this.#space()
    if (this.#at < this.text.length) throw new SyntaxError(`unexpected text at ${this.#at}`)
    return value
  }

  #value(): unknown {
    this.#space()
    const next = this.text[this.#at]
    if (next === '{') return this.#object()
    if (next === '[') return this.#array()
    if (next === '"') return this.#string()
    return this.#word()
  }

  #object(): Record<string, unknown> {
    const found: Record<string, unknown> = {}
    this.#at += 1
    this.#space()
    if (this.#took('}')) return found
    do {
      this.#space()
      const name = this.#string()
      this.#space()
      this.#need(':')
      // Not an assignment: the name may be `__proto__`.
      Object.defineProperty(found, name, {
        value: this.#value(),
        enumerable: true,
        writable: true,
        configurable: true,
      })
      this.#space()
    } while (this.#took(','))
    this.#need('}')
    return found
  }

  #array(): unknown[] {
    const found: unknown[] = []
    this.#at += 1
    this.#space()
    if (this.#took(']')) return found
    do {
      found.push(this.#value())
      this.#space()
    } while (this.#took(','))
    this.#need(']')
    return found
  }

  #string(): string {
    const from = this.#at
    this.#need('"')
    for (;;) {
      const next = this.text[this.#at]
      if (next === undefined) throw new SyntaxError('a string has no end')
      this.#at += next === '\\' ? 2 : 1
      if (next === '"') break
    }
    return JSON.parse(this.text.slice(from, this.#at)) as string
  }

  #word(): unknown {
    const found = /[-+.\w]+/y
    found.lastIndex = this.#at
    const word = found.exec(this.text)?.[0]
    if (word === undefined) throw new SyntaxError(`unexpected text at ${this.#at}`)
    this.#at += word.length
    const value: unknown = JSON.parse(word)
    return typeof value === 'number' && /^-?\d+$/.test(word) && !Number.isSafeInteger(value) ? BigInt(word) : value
  }

  #space(): void {
    while (' \n\r\t'.includes(this.text[this.#at] ?? 'x')) this.#at += 1
  }

  #took(sign: string): boolean {
    if (this.text[this.#at] !== sign) return false
    this.#at += 1
    return true
  }

  #need(sign: string): void {
    if (!this.#took(sign)) throw new SyntaxError(`${sign} is missing at ${this.#at}`)
  }
}
