import { describe, expect, test } from 'vitest'

import type { AttemptView, JobView } from '../src/api/types'
import { headline, traceback } from '../src/lib/traceback'
import { lifeOf } from '../src/pages/jobs/attempts'
import { asCommand, asCurl, asPython, redacted } from '../src/pages/jobs/copies'
import { NONE, countable, query, read } from '../src/pages/jobs/filter'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const ms = (second: number) => Date.parse(at(second))

function job(changes: Partial<JobView> = {}): JobView {
  const usual = { id: 7, status: 'queued', task: 'charge', queue: 'mail', priority: 50, arguments: {}, tags: [] as string[] }
  return { ...usual, attempt: 0, created_at: at(0), run_at: at(0), started_at: null, ...changes } as JobView
}

function attempt(from: number, to: number, change: AttemptView['change']): AttemptView {
  return { number: 1, fence: 1, node: 'web-1:a', started_at: at(from), ended_at: at(to), change, error: null }
}

describe('the query bar', () => {
  test('names of fields and quotes are understood', () => {
    expect(read('task:charge queue:"my queue" tag:vip')).toEqual({
      id: null,
      changes: { task: 'charge', queue: 'my queue', tag: 'vip' },
    })
  })
  test('a word alone is a task, and a number a job', () => {
    expect(read('charge')).toEqual({ id: null, changes: { task: 'charge' } })
    expect(read(' #9223372036854775807 ').id).toBe('9223372036854775807')
    expect(read('task:7').changes).toEqual({ task: '7' })
  })
  test('a length of time ends now', () => {
    expect(query({ ...NONE, since: '15m', queue: 'mail' }, ms(59) + 300)).toEqual({
      queue: 'mail',
      since: new Date(ms(59) - 900_000).toISOString(),
    })
    expect(query({ ...NONE, since: at(3) }, 0)).toEqual({ since: at(3) })
  })
  test('only queues are counted', () => {
    expect(countable({ ...NONE, queue: 'mail' })).toBe(true)
    expect(countable({ ...NONE, task: 'charge' })).toBe(false)
  })
})

describe('a traceback', () => {
  const text = `Traceback (most recent call last):
  File "/srv/shop.py", line 4, in charge
    pay(card)
    ~~~^^^^^^
  File "/venv/lib/python3.13/site-packages/bank/a.py", line 1, in pay
    send()
  File "/venv/lib/python3.13/site-packages/bank/b.py", line 2, in send
ValueError: <script>alert(1)</script>
second line`
  test('folds the frames of libraries that follow each other', () => {
    const parts = traceback(text)
    expect(parts.map((each) => each.kind)).toEqual(['text', 'frame', 'folded', 'text'])
    expect(parts[1]).toMatchObject({ file: '/srv/shop.py', line: '4', function: 'charge', source: 'pay(card)' })
    expect(parts[2]).toMatchObject({ frames: [{ function: 'pay', source: 'send()' }, { function: 'send' }] })
    expect(parts[3]).toEqual({ kind: 'text', text: 'ValueError: <script>alert(1)</script>\nsecond line' })
  })
  test('has a headline', () => {
    expect(headline(text)).toBe('ValueError: <script>alert(1)</script>')
    expect(headline('took longer than 5 s')).toBe('took longer than 5 s')
  })
})

describe('the life of a job', () => {
  test('it waits, runs, waits for a retry and runs', () => {
    const life = lifeOf(job({ status: 'running', started_at: at(9), attempt: 2 }), [attempt(2, 5, 'wait for a retry')], ms(12))
    const spans = life.lines.flatMap((each) => each.spans.map((span) => [span.kind, span.from - ms(0), span.to - ms(0)]))
    expect(spans).toEqual([
      ['wait', 0, 2000],
      ['run', 2000, 5000],
      ['backoff', 5000, 9000],
      ['run', 9000, 12000],
    ])
    expect([life.from, life.to, life.next]).toEqual([ms(0), ms(12), null])
  })
  test('a job for later waits from its time on', () => {
    const life = lifeOf(job({ status: 'completed', run_at: at(30) }), [attempt(31, 32, 'complete')], ms(60))
    expect([life.from, life.to]).toEqual([ms(30), ms(32)])
  })
  test('the time between its end and a retry by hand is no wait', () => {
    const life = lifeOf(job({ status: 'failed' }), [attempt(1, 2, 'fail'), attempt(40, 41, 'fail')], ms(60))
    expect(life.lines.map((each) => each.spans[0]!.kind)).toEqual(['wait', 'ended'])
  })
  test('a job that waits tells for how long', () => {
    expect(lifeOf(job(), [], ms(4)).next).toEqual({ kind: 'wait', from: ms(0), to: ms(4) })
  })
})

describe('a job to copy', () => {
  const given = job({ arguments: { name: "O'Neil", id: 9223372036854775807n, none: null, on: true } })
  test('keeps every digit and every quote', () => {
    expect(asCurl(given, 'https://jobs.example.org/', true)).toContain(
      `-d '{"task": "charge", "args": {"name": "O'\\''Neil", "id": 9223372036854775807, "none": null, "on": true}, "queue": "mail", "priority": 50}'`,
    )
    expect(asPython(given, 'https://jobs.example.org/')).toContain(
      `kwargs={"name": "O'Neil", "id": 9223372036854775807, "none": None, "on": True},`,
    )
    expect(asCommand(given)).toMatch(/^drumbeat job submit charge --json '\{"name": "O'\\''Neil"/)
  })
  test('has a token only where the server asks for one', () => {
    expect(asCurl(given, 'http://127.0.0.1:8080/', true)).toContain('Bearer $DRUMBEAT_TOKEN')
    expect(asCurl(given, 'http://127.0.0.1:8080/', false)).not.toContain('Authorization')
  })
  test('says whether a secret is missing', () => {
    expect(redacted(given)).toBe(false)
    expect(redacted(job({ arguments: { password: '[redacted]' } }))).toBe(true)
  })
})
