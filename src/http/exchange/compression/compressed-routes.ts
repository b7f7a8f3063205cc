/**
 * Chooses the answers that are compressed, and their coding. Lists, exports, figures and pages that
 * are the same for all readers are compressed. Answers with secrets or tokens never are, because
 * the length of a compressed answer tells about its content (BREACH): strangers choose text beside
 * the secret, for example the name of a contact or the data of an event. Single records never are,
 * because their ETag would have to differ by coding, and answers of methods other than GET never
 * are, so that accepting mail looks at no header.
 *
 * Padding of a random length does not help: many measurements show its mean. Lists and exports of contacts, and
 * the list of emails with its subjects, are compressed: without that they are several times as long. Guessing a
 * text takes many answers that differ in the guess alone. A page of another site could make the browser of a user
 * ask for them, so no answer to a user is compressed for such a page (`exchange.ts`, by `Sec-Fetch-Site`; over plain
 * HTTP, which has none, the network reads the answers themselves).
 */

import { parseAccept } from 'hono/utils/accept'
import type { Callers } from '../../../features/tenancy/accounts/callers/caller.ts'

const OPEN: readonly string[] = [
  ...['/openapi.json', '/docs', '/docs/guide', '/docs/guide/:page', '/docs/:file'],
]
const SECRET: readonly string[] = [
  ...['/webhooks/signing-secret', '/webhooks/endpoints'],
  // The answer of an endpoint may repeat the request that it got, with the signature.
  '/webhooks/endpoints/:id/deliveries',
  // These show rendered mail with signed links, received mail, or the data of events, all of which
  // may have links to log in.
  ...['/activity', '/activity/upcoming', '/events', '/workflows/:id/executions'],
  // The addresses of links as they were sent to one recipient.
  ...['/analytics/links', '/campaigns/:id/links'],
]

export type ContentCoding = 'br' | 'gzip'

/** The content codings, the preferred one first. */
const CODINGS: readonly ContentCoding[] = ['br', 'gzip']

export function mayCompress({
  method,
  path,
  callers,
}: {
  method: string
  path: string
  callers: Callers
}): boolean {
  if (method !== 'GET') return false
  if (OPEN.includes(path)) return true
  // The answer is one record or one file, named by its id.
  if (path.slice(path.lastIndexOf('/')).startsWith('/:') || path.endsWith('/raw')) return false
  return callers === 'member' && !SECRET.includes(path)
}

/**
 * Chooses the content coding of an answer (RFC 9110, section 12.5.3); undefined for an answer without coding.
 * `accepted`: the `Accept-Encoding` of the request.
 */
export function chooseCoding(accepted: string | string[] | undefined): ContentCoding | undefined {
  if (accepted === undefined || accepted.length === 0) return undefined
  const ranges = parseAccept(String(accepted)).map(({ type, q }) => ({
    type: type.toLowerCase(),
    q,
  }))
  const qualityOf = (name: string, ...others: string[]) => {
    const named = [name, ...others, '*'].map((each) => ranges.find(({ type }) => type === each))
    return named.find((range) => range !== undefined)?.q ?? 0
  }
  const qualities = { br: qualityOf('br'), gzip: qualityOf('gzip', 'x-gzip') }
  const [best = 'gzip'] = CODINGS.toSorted((one, other) => qualities[other] - qualities[one])
  const plain = ranges.find(({ type }) => type === 'identity')?.q ?? 0
  return qualities[best] > 0 && qualities[best] >= plain ? best : undefined
}
