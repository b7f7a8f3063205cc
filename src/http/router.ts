/**
 * Finds the route of a request. Most paths have no parameters and are looked up as they are; the router of
 * hono matches the others. A slash at the end of a path is ignored unless the path ends with a token. Ids in
 * a path may be in upper or lower case.
 */
import { TrieRouter } from 'hono/router/trie-router'
import { tryDecodeURIComponent } from 'hono/utils/url'
import type { Route } from './route.ts'

type Params = Readonly<Record<string, string>>
type FoundRoute = { route: Route; params: Params }

export type Router = {
  find(method: string, path: string): FoundRoute | undefined
}

const NO_PARAMS: Params = Object.freeze({})

/** The first entry that matches counts. @throws TypeError for one without parameters that an earlier one hides */
export function createRouter(
  entries: readonly { method: string; path: string; route: Route }[],
): Router {
  const plain = new Map<string, Map<string, FoundRoute>>()
  const others = new TrieRouter<Route>()

  function find(method: string, path: string): FoundRoute | undefined {
    return plain.get(method)?.get(path) ?? findOther(method, path)
  }

  function findOther(method: string, path: string): FoundRoute | undefined {
    const [found] = others.match(method, path)[0] as [Route, Params][]
    if (found === undefined) return undefined
    const [route, params] = found
    return { route, params: decoded(params) }
  }

  for (const { method, path, route } of entries) {
    const isPlain = !/[:*]/.test(path)
    for (const each of route.isUnlogged ? [path] : [path, `${path}/`]) {
      if (!isPlain) {
        others.add(method, each, route)
        continue
      }
      if (find(method, each) !== undefined) throw new TypeError(`${each} is never reached`)
      plain.set(method, (plain.get(method) ?? new Map()).set(each, { route, params: NO_PARAMS }))
    }
  }
  return { find }
}

const NAMES_ID = /(?:^i|I)d$/
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** UUIDs are stored in lower case. Other parameters, such as event names, stay as they are. */
function decoded(given: Params): Params {
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const text = tryDecodeURIComponent(value)
    params[name] = namesId(name) && UUID.test(text) ? text.toLowerCase() : text
  }
  return params
}

/** Whether a parameter or a field of a query has an id. */
export function namesId(name: string): boolean {
  return NAMES_ID.test(name)
}
