/**
 * Which routes answer compressed: lists, exports, figures and pages that are the same for everybody. Never
 * answers with secrets or tokens, because the length of a compressed answer tells about its content (BREACH):
 * strangers choose text beside them, for example the name of a contact or the data of an event. Never single
 * records, whose ETag would have to differ by coding; never answers of other methods than GET, so that accepting
 * mail looks at no header.
 *
 * Padding of a random length does not help: who measures often finds its mean. Lists and exports of contacts, and
 * the list of emails with its subjects, are compressed: without that they are several times as long. Guessing a
 * text takes many answers that differ in the guess alone. A page of another site could make the browser of a user
 * ask for them, so no answer to a user is compressed for such a page (`exchange.ts`, by `Sec-Fetch-Site`; over plain
 * HTTP, which has none, the network reads the answers themselves).
 */
import type { Callers } from '../../../features/tenancy/accounts/callers/caller.ts'

const OPEN: readonly string[] = [
  ...['/openapi.json', '/docs', '/docs/guide', '/docs/guide/:page', '/docs/:file'],
  ...['/app', '/app/login'],
]

const SECRET: readonly string[] = [
  ...['/webhooks/signing-secret', '/webhooks/endpoints'],
  // Endpoints may repeat what they were sent, with its signature.
  '/webhooks/endpoints/:id/deliveries',
  // Rendered mail with signed links, received mail, and the data of events: these may have links to log in.
  ...['/activity', '/activity/upcoming', '/events', '/workflows/:id/executions'],
  // Addresses as they were sent to one recipient.
  ...['/analytics/links', '/campaigns/:id/links'],
]

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
  // A record or a file, by its id.
  if (path.slice(path.lastIndexOf('/')).startsWith('/:') || path.endsWith('/raw')) return false
  return callers === 'member' && !SECRET.includes(path)
}
