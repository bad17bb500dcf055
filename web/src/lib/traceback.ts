// Tracebacks of Python: which lines are frames, and which frames are of installed libraries.

export interface Frame {
  kind: 'frame'
  file: string
  line: string
  function: string
  /** Its lines of source, without their indentation. */
  source: string
  library: boolean
}
export interface Text {
  kind: 'text'
  text: string
}
export interface Folded {
  kind: 'folded'
  frames: Frame[]
}
export type Part = Frame | Text | Folded

const FRAME = /^[ |]*File "(.+)", line (\d+), in (.+)$/
const LIBRARY = /[/\\](site-packages|dist-packages|lib[/\\]python\d[^/\\]*|drumbeat)[/\\]|^</

/** The parts of a traceback, in order; frames of libraries that follow each other are one part. */
export function traceback(text: string): Part[] {
  const parts: Part[] = []
  let frame: Frame | null = null
  for (const line of text.split('\n')) {
    const found = FRAME.exec(line)
    if (found) {
      const [, file = '', number = '', name = ''] = found
      frame = { kind: 'frame', file, line: number, function: name, source: '', library: LIBRARY.test(file) }
      add(parts, frame)
    } else if (frame !== null && /^[ |]{4}/.test(line)) {
      if (!/^[ |~^]*$/.test(line)) frame.source += (frame.source && '\n') + line.replace(/^[ |]+/, '')
    } else {
      frame = null
      const last = parts.at(-1)
      if (last?.kind === 'text') last.text += `\n${line}`
      else parts.push({ kind: 'text', text: line })
    }
  }
  return parts
}

function add(parts: Part[], frame: Frame): void {
  const last = parts.at(-1)
  if (!frame.library) parts.push(frame)
  else if (last?.kind === 'folded') last.frames.push(frame)
  else parts.push({ kind: 'folded', frames: [frame] })
}

/** The line that names the exception; of a text without frames its first line. */
export function headline(text: string): string {
  const lines = text.split('\n')
  const frame = lines.findLastIndex((line) => FRAME.test(line))
  return lines.slice(frame + 1).find((line) => line !== '' && !/^[ |+]/.test(line)) ?? lines[0] ?? ''
}
