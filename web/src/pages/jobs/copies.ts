// A job as a request, as code and as a command, to be run again elsewhere.

import type { JobView } from '../../api/types'
import { writeJson } from '../../lib/json'

/** What the API shows instead of a secret argument. */
export const REDACTED = '[redacted]'

export function redacted(job: JobView): boolean {
  return writeJson(job.arguments, 0).includes(`"${REDACTED}"`)
}

/** `token`: the server asks for one. An empty one is refused, also where none is needed. */
export function asCurl(job: JobView, server: string, token: boolean): string {
  const body = writeJson({ task: job.task, args: job.arguments, queue: job.queue, priority: job.priority, tags: tags(job) }, 0)
  return [
    `curl -X POST ${quoted(`${server}jobs`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    ...(token ? [`  -H "Authorization: Bearer $DRUMBEAT_TOKEN" \\`] : []),
    `  -d ${quoted(body)}`,
  ].join('\n')
}

export function asCommand(job: JobView): string {
  const parts = ['drumbeat job submit', quoted(job.task), '--json', quoted(writeJson(job.arguments, 0))]
  parts.push('--queue', quoted(job.queue), '--priority', String(job.priority))
  for (const tag of job.tags) parts.push('--tag', quoted(tag))
  return parts.join(' ')
}

export function asPython(job: JobView, server: string): string {
  const lines = [`task=${python(job.task)},`, `kwargs=${python(job.arguments)},`, `queue=${python(job.queue)},`]
  lines.push(`priority=${job.priority},`)
  if (job.tags.length > 0) lines.push(`tags=${python(job.tags)},`)
  return [
    'import os',
    '',
    'from drumbeat import SyncClient',
    '',
    `with SyncClient(${python(server)}, os.environ.get("DRUMBEAT_TOKEN")) as client:`,
    '    job = client.jobs.submit(',
    ...lines.map((each) => `        ${each}`),
    '    )',
    '    print(job.id)',
  ].join('\n')
}

function tags(job: JobView): string[] | undefined {
  return job.tags.length > 0 ? job.tags : undefined
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** A literal of Python; JSON differs from it in three words. */
function python(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([name, each]) => `${python(name)}: ${python(each)}`)
      .join(', ')}}`
  }
  return writeJson(value, 0)
}
