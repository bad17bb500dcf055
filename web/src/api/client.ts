// Requests to the API. The page and the API have one place, so addresses are relative to it.

import { clock } from '../lib/clock.svelte'
import { readJson, writeJson } from '../lib/json'
import { connection } from './connection.svelte'
import { Problem, problemOf, UNREACHABLE } from './problem'

export type Values = Record<string, string | number | boolean | null | undefined | readonly string[]>

export interface Page<T> {
  items: T[]
  /** Give it as `after` for the next page; null: this is the last. */
  next: string | null
}

/** A token that is kept in memory only, where the server cannot keep a session. */
export const credentials = { token: null as string | null }

/** An address of the API: `address('jobs', 7)`. */
export function address(...segments: (string | number)[]): string {
  const path = segments.map((each) => encodeURIComponent(each)).join('/')
  return new URL(path, new URL('.', document.baseURI.replace(/#.*$/, ''))).href
}

export function withQuery(url: string, query: Values = {}): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue
    if (Array.isArray(value)) value.forEach((each) => text.append(name, each as string))
    else text.set(name, String(value))
  }
  return text.size > 0 ? `${url}?${text}` : url
}

export function headers(): Record<string, string> {
  return credentials.token === null ? {} : { authorization: `Bearer ${credentials.token}` }
}

export async function get<T>(path: readonly (string | number)[], query?: Values, signal?: AbortSignal): Promise<T> {
  const response = await answered(withQuery(address(...path), query), { signal: signal ?? null })
  return readJson(await response.text()) as T
}

export async function getPage<T>(
  path: readonly (string | number)[],
  query?: Values,
  signal?: AbortSignal,
): Promise<Page<T>> {
  const response = await answered(withQuery(address(...path), query), { signal: signal ?? null })
  const items = readJson(await response.text()) as T[]
  const link = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
  const next = link === undefined ? null : new URL(link, location.href).searchParams.get('after')
  return { items, next }
}

export interface Sent {
  body?: unknown
  /** The version that the change is meant for. */
  version?: number
  reason?: string
  query?: Values
}

export async function send<T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: readonly (string | number)[],
  sent: Sent = {},
): Promise<T> {
  const given: Record<string, string> = {}
  if (sent.body !== undefined) given['content-type'] = 'application/json'
  if (sent.version !== undefined) given['if-match'] = `"${sent.version}"`
  // A header takes ASCII only; where there is a body, the reason is in it.
  if (sent.reason) given['x-drumbeat-reason'] = sent.reason.replaceAll(/[^\x20-\x7e]/g, '?')
  const response = await answered(withQuery(address(...path), sent.query), {
    method,
    headers: given,
    body: sent.body === undefined ? null : writeJson(sent.body, 0),
  })
  const text = await response.text()
  return (text === '' ? undefined : readJson(text)) as T
}

async function answered(url: string, init: RequestInit): Promise<Response> {
  const asked = Date.now()
  let response: Response
  try {
    response = await fetch(url, { ...init, headers: { ...headers(), ...(init.headers as Record<string, string>) } })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    connection.failed('server')
    throw new Problem(UNREACHABLE)
  }
  clock.told(response.headers.get('date'), asked)
  if (response.ok) {
    connection.answered()
    return response
  }
  const problem = await problemOf(response)
  if (problem.isAway) connection.failed('store')
  else connection.answered()
  if (response.status === 401) connection.refused()
  throw problem
}
