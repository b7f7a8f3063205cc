/**
 * What a tracked message has more than another: the addresses of its links lead through
 * `/t/c/<token>`, and a pixel at its end asks for `/t/o/<token>`. The tokens are signed; a click's
 * holds the link's number among those of its content, or the link itself, so that no address leads
 * where we did not. Our own pages and a link too long for a token stay as they are.
 */

import { createClickToken, createOpenToken, type TokenKey } from '../signed-tokens.ts'
import { escapeHtml } from '../template/characters.ts'
import { appendToBody } from './document.ts'
import { findHrefs, type LinkNumbers, readLink } from './links.ts'

/** Where opens and clicks are counted, and what signs their tokens. */
export type Tracker = {
  /** Without a slash at its end. */
  baseUrl: string
  openKey: TokenKey
  clickKey: TokenKey
}

/** The email whose opens and clicks they are, and the links of its content. */
export type TrackedEmail = { emailId: string; numbers: LinkNumbers }

/** What a click's token holds. */
export type TrackedLink = number | string

const MAX_TRACKED_LINK_LENGTH = 1_500
/** Of UTF-8: more would not be read back from a token. */
const MAX_TRACKED_LINK_OCTETS = 2_500

/** Below the base URL: these act for their contact, or count already. */
const UNTRACKED_PATHS = ['unsubscribe', 'subscribe', 'manage', 'contacts/public', 't']

/** The document with its links and opens counted. */
export function trackDocument(html: string, tracker: Tracker, tracked: TrackedEmail): string {
  const addressOf = createUrlReplacer(tracker, tracked)
  let counted = ''
  let copied = 0
  for (const { from, to, value } of findHrefs(html)) {
    const address = addressOf(value)
    if (address === undefined) continue
    counted += `${html.slice(copied, from)}"${address}"`
    copied = to
  }
  const token = createOpenToken(tracker.openKey, tracked.emailId)
  return appendToBody(counted + html.slice(copied), formatPixel(tracker, token))
}

/** From an attribute's value to the address in its place, undefined where it stays. */
function createUrlReplacer(tracker: Tracker, { emailId, numbers }: TrackedEmail) {
  const known = new Map<string, string | undefined>()
  return (value: string): string | undefined => {
    if (known.has(value)) return known.get(value)
    const link = toTrackedLink(value, tracker, numbers)
    const address = link === undefined ? undefined : createClickUrl(tracker, { emailId, link })
    known.set(value, address)
    return address
  }
}

/** Of an attribute's value; undefined where it stays as it is. */
export function toTrackedLink(
  value: string,
  { baseUrl }: Pick<Tracker, 'baseUrl'>,
  numbers: LinkNumbers,
): TrackedLink | undefined {
  const link = readLink(value)
  if (link === undefined || isOwnPage(link, baseUrl)) return undefined
  const number = numbers.get(link)
  if (number !== undefined) return number
  const isFit =
    link.length <= MAX_TRACKED_LINK_LENGTH && Buffer.byteLength(link) <= MAX_TRACKED_LINK_OCTETS
  return isFit ? link : undefined
}

/** As it stands between quotes. */
function createClickUrl(tracker: Tracker, click: { emailId: string; link: TrackedLink }): string {
  return formatClickUrl(tracker, createClickToken(tracker.clickKey, click))
}

/** As it stands between quotes. */
export function formatClickUrl({ baseUrl }: Pick<Tracker, 'baseUrl'>, token: string): string {
  return escapeHtml(`${baseUrl}/t/c/${token}`)
}

export function formatPixel({ baseUrl }: Pick<Tracker, 'baseUrl'>, token: string): string {
  const address = escapeHtml(`${baseUrl}/t/o/${token}`)
  return `<img src="${address}" width="1" height="1" alt="" style="border: 0">\n`
}

function isOwnPage(link: string, baseUrl: string): boolean {
  if (link.slice(0, baseUrl.length).toLowerCase() !== baseUrl.toLowerCase()) return false
  const path = link.slice(baseUrl.length)
  return UNTRACKED_PATHS.some((page) => path.startsWith(`/${page}/`))
}
