/**
 * The open pixel and the tracked links of emails. Both respond before the hit is written, set no
 * cookie and store no IP address. A token that this server did not sign gets 404.
 */
import { isMachineRequest } from '../../features/mail/tracking/machine-detection.ts'
import { createClickResolver } from '../../features/mail/tracking/resolve-click.ts'
import { readOpenToken } from '../../formats/signed-tokens.ts'
import type { HttpResponse } from '../response.ts'
import { openOperation, type RouteDeps } from '../route.ts'

/** A transparent GIF of one pixel, 43 octets. */
const PIXEL = new Uint8Array(
  Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64'),
)

/** Forbids caching, in old caches too: a hit that a cache serves would not be counted. */
const UNCACHED = {
  'cache-control': 'private, no-store, no-cache, must-revalidate, max-age=0',
  'x-robots-tag': 'noindex, nofollow',
} as const

const UNKNOWN_LINK: HttpResponse = {
  status: 404,
  body: 'This link is not valid.\n',
  headers: { ...UNCACHED, 'content-type': 'text/plain; charset=utf-8' },
}

const shared = { isHidden: true, isUnlogged: true, tag: 'Service' } as const

export const open = ({ core: { hits, keyring, now } }: RouteDeps) =>
  openOperation({
    ...shared,
    summary: 'Show the open pixel of an email',
    responses: { 200: { description: 'A GIF', contentType: 'image/gif' } },
    handle: ({ params, incoming }) => {
      const emailId = readOpenToken(keyring.keys('open'), params.token ?? '')
      if (emailId === undefined) return UNKNOWN_LINK
      const isMachine = isMachineRequest('open', incoming)
      hits.add({ emailId, at: now(), type: 'open', isMachine })
      return { status: 200, body: PIXEL, headers: { ...UNCACHED, 'content-type': 'image/gif' } }
    },
  })

export const click = ({ core }: RouteDeps) => {
  const { hits, now } = core
  const resolveClick = createClickResolver(core)
  return openOperation({
    ...shared,
    summary: 'Follow a tracked link of an email',
    responses: { 302: { description: 'To the target of the link' } },
    handle: async ({ params, incoming }) => {
      const click = await resolveClick(params.token ?? '')
      if (click === undefined) return UNKNOWN_LINK
      const { emailId, link } = click
      const isMachine = isMachineRequest('click', incoming)
      hits.add({ emailId, at: now(), type: 'click', link, isMachine })
      return { status: 302, body: '', headers: { ...UNCACHED, location: toLocation(link) } }
    },
  })
}

/**
 * Returns the value of the Location header for a link: a link of printable ASCII as it is, any
 * other link as a browser would encode it.
 */
function toLocation(link: string): string {
  return /^[\x21-\x7e]+$/.test(link) ? link : new URL(link).href
}
