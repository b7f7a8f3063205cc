/**
 * What mail points to: the pixel that tells an open, and the links that tell a click. Both answer
 * before anything is written, set no cookie and keep no address. What is not ours is 404.
 */
import type { Core } from '../../features/core.ts'
import { createClickResolver } from '../../features/tracking/link.ts'
import { isMachineRequest } from '../../features/tracking/machines.ts'
import { readOpenToken } from '../../mail/signed-tokens.ts'
import { openRoute, type Reply, type Route } from '../route.ts'

/** A transparent GIF of one pixel, 43 octets. */
const pixel = new Uint8Array(
  Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64'),
)

/** For caches of any age: a fetch that they answer is one that we do not see. */
const unseen = {
  'cache-control': 'private, no-store, no-cache, must-revalidate, max-age=0',
  'x-robots-tag': 'noindex, nofollow',
} as const

const unknown: Reply = {
  status: 404,
  body: 'This link is not known here.\n',
  headers: { ...unseen, 'content-type': 'text/plain; charset=utf-8' },
}

export function trackingRoutes(core: Pick<Core, 'store' | 'keyring' | 'hits' | 'now'>): Route[] {
  const { hits, keyring, now } = core
  const resolveClick = createClickResolver(core)
  const shared = {
    method: 'GET',
    permission: 'none',
    isHidden: true,
    isUnlogged: true,
    tag: 'Service',
  } as const

  return [
    openRoute({
      ...shared,
      path: '/t/o/:token',
      summary: 'The pixel of an email',
      responses: { 200: { description: 'A GIF', contentType: 'image/gif' } },
      handle: ({ params, incoming }) => {
        const emailId = readOpenToken(keyring.keys('open'), params.token ?? '')
        if (emailId === undefined) return unknown
        const isMachine = isMachineRequest('open', incoming)
        hits.add({ emailId, at: now(), type: 'open', isMachine })
        return { status: 200, body: pixel, headers: { ...unseen, 'content-type': 'image/gif' } }
      },
    }),
    openRoute({
      ...shared,
      path: '/t/c/:token',
      summary: 'A link of an email',
      responses: { 302: { description: 'To where the link leads' } },
      handle: async ({ params, incoming }) => {
        const click = await resolveClick(params.token ?? '')
        if (click === undefined) return unknown
        const { emailId, link } = click
        const isMachine = isMachineRequest('click', incoming)
        hits.add({ emailId, at: now(), type: 'click', link, isMachine })
        return { status: 302, body: '', headers: { ...unseen, location: toLocation(link) } }
      },
    }),
  ]
}

/** As it was written, where that is printable ASCII; else as a browser would make it so. */
function toLocation(link: string): string {
  return /^[\x21-\x7e]+$/.test(link) ? link : new URL(link).href
}
