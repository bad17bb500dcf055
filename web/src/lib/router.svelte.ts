// The router. The whole state of a page is in the part of the address behind `#`, so that the page
// works below any path prefix and each view can be bookmarked and sent to others.

export type Query = Record<string, string>

interface Place {
  /** The segments of the path, decoded: `['schedules', 'billing/nightly']`. */
  path: string[]
  query: Query
}

export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  const segments = path.split('/').filter((each) => each !== '')
  return {
    path: segments.map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** The address of a place. Values that are empty are left out. */
export function href(path: readonly (string | number)[], query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const text = new URLSearchParams(given).toString()
  return `#/${path.map((each) => encodeURIComponent(each)).join('/')}${text ? `?${text}` : ''}`
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const start: Place = typeof location === 'undefined' ? { path: [], query: {} } : parsePlace(location.hash)

class Route {
  path = $state.raw<string[]>(start.path)
  query = $state.raw<Query>(start.query)

  /** A value of the query, or what holds without it. */
  get(name: string, usual = ''): string {
    return this.query[name] ?? usual
  }

  /** Change some values of the query; the usual ones are left out of the address. */
  set(changes: Query, usual: Query = {}): void {
    const merged = { ...this.query, ...changes }
    const kept = Object.fromEntries(
      Object.entries(merged).filter(([name, value]) => value !== (usual[name] ?? '')),
    )
    history.replaceState(null, '', href(this.path, kept))
    this.query = kept
  }

  read(): void {
    const place = parsePlace(location.hash)
    this.path = place.path
    this.query = place.query
  }
}

export const route = new Route()

export function go(path: readonly (string | number)[], query: Query = {}): void {
  location.hash = href(path, query)
}

if (typeof addEventListener !== 'undefined') addEventListener('hashchange', () => route.read())
