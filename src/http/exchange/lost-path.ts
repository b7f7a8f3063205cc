/**
 * Where a request belongs whose path does not exist: programs of this API family keep `/api` of another server,
 * lose the last part of a base address without a slash at its end, or have `/v1` twice. Programs for listmonk have its
 * words.
 */

/** What listmonk calls these. */
const OTHER_WORDS: readonly [theirs: string, ours: string][] = [
  ['/import/subscribers', '/contacts/import'],
  ['/subscribers', '/contacts'],
  ['/lists', '/segments'],
  ['/tx', '/send'],
  ['/bounces', '/suppressions'],
]

/** Says whether a route has this method and path. */
type Exists = (path: string) => boolean

const SLASH = 'with the slash at the end of the base address: '

/** A suggestion for `path`; undefined if no similar path exists. `baseUrl`: of this server. */
export function adviseLostPath(
  path: string,
  { method, baseUrl, exists }: { method: string; baseUrl: string; exists: Exists },
): string | undefined {
  const found = candidates(path).find((one) => one !== path && exists(one))
  const sending = found === undefined ? adviseSending(method, path) : undefined
  if (sending !== undefined) return sending
  if (found === undefined) return isElsewhere(path) ? below(baseUrl) : undefined
  const here = `Use ${method} ${found}.`
  return found.startsWith('/v1/') ? `${here} ${below(baseUrl)}` : here
}

/** The paths for sending of other senders' APIs, after a version. */
const OTHER_SENDING =
  /^(?:\/api)?(?:\/v[1-4](?:\.\d)?)?\/(?:emails?(?:\/batch|\/send)?|mail\/send|messages(?:\/send)?|smtp\/email)\/?$/

/** For what a program of another sender's API asks. */
export function adviseSending(method: string, path: string): string | undefined {
  return method === 'POST' && OTHER_SENDING.test(path) ? 'To send: POST /v1/send.' : undefined
}

function below(baseUrl: string): string {
  return `The API for sending is below /v1; ${SLASH}${baseUrl}/v1/`
}

function isElsewhere(path: string): boolean {
  return path.startsWith('/api/') || path.startsWith('/v1/v1/')
}

/** The same path without what such programs add, with what they lose. */
function candidates(path: string): string[] {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path
  const rest = bare.replace(/^\/api(?=\/)/, '').replace(/^(?:\/v1)+(?=\/)/, '')
  const words = OTHER_WORDS.find(([theirs]) => rest === theirs || rest.startsWith(`${theirs}/`))
  const own = words === undefined ? rest : words[1] + rest.slice(words[0].length)
  return [`/v1${own}`, own]
}
