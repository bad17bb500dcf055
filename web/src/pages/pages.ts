// The pages: what stands in the side bar, and which component shows a path.

import type { Component } from 'svelte'

import type { Scope } from '../api/types'
import type { IconName } from '../components/Icon.svelte'

interface Found {
  default: Component
}

export interface PageEntry {
  path: readonly string[]
  title: string
  icon: IconName
  /** The key that goes there after `g`. */
  key: string
  group: string
  /** The lowest scope that sees it. */
  scope?: Scope
  load: () => Promise<Found>
  /** The page of one of them: `/jobs/7`. */
  one?: () => Promise<Found>
}

export const PAGES: readonly PageEntry[] = [
  { path: [], title: 'Overview', icon: 'overview', key: 'o', group: '', load: () => import('./overview/Overview.svelte') },
  {
    path: ['schedules'],
    title: 'Schedules',
    icon: 'schedules',
    key: 's',
    group: 'Schedules',
    load: () => import('./schedules/Schedules.svelte'),
    one: () => import('./schedule/Schedule.svelte'),
  },
  {
    path: ['timeline'],
    title: 'Timeline',
    icon: 'timeline',
    key: 't',
    group: 'Schedules',
    load: () => import('./timeline/Timeline.svelte'),
  },
  {
    path: ['jobs'],
    title: 'Jobs',
    icon: 'jobs',
    key: 'j',
    group: 'Jobs',
    load: () => import('./jobs/Jobs.svelte'),
    one: () => import('./jobs/Job.svelte'),
  },
  { path: ['queues'], title: 'Queues', icon: 'queues', key: 'q', group: 'Jobs', load: () => import('./queues/Queues.svelte') },
  { path: ['nodes'], title: 'Nodes', icon: 'nodes', key: 'n', group: 'Fleet', load: () => import('./nodes/Nodes.svelte') },
  { path: ['cluster'], title: 'Cluster', icon: 'cluster', key: 'c', group: 'Fleet', load: () => import('./cluster/Cluster.svelte') },
  { path: ['audit'], title: 'Audit', icon: 'audit', key: 'a', group: 'Fleet', load: () => import('./audit/Audit.svelte') },
  {
    path: ['tokens'],
    title: 'Tokens',
    icon: 'tokens',
    key: 'k',
    group: 'Fleet',
    scope: 'admin',
    load: () => import('./tokens/Tokens.svelte'),
  },
]

const NONE = { load: (): Promise<Found> => import('./NotFound.svelte') }

export function pageOf(path: readonly string[]): { load: () => Promise<Found> } {
  const entry = PAGES.find((each) => (each.path[0] ?? '') === (path[0] ?? ''))
  if (entry === undefined || path.length > entry.path.length + 1) return NONE
  if (path.length === entry.path.length) return entry
  return entry.one === undefined ? NONE : { load: entry.one }
}
