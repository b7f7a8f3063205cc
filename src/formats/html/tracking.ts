/**
 * Tracking of opens and clicks: links lead through `/t/c/<token>`, and a pixel at the end of the
 * document requests `/t/o/<token>`. Tokens are signed; a click token contains the number of the link
 * or the link itself, so a forged URL cannot redirect elsewhere. Links to the hosted pages and links
 * that are too long for a token stay unchanged.
 */
import { createClickToken, createOpenToken, type TokenKey } from '../signed-tokens.ts'
import { escapeHtml } from '../template/characters.ts'
import { eachTagOfBody } from './document.ts'
import { hrefOf, type LinkNumbers, readLink } from './links.ts'
import type { AttributePlace } from './tag.ts'

/** The server that records opens and clicks, and the keys of their tokens. */
export type Tracker = {
  /** Without a trailing slash. */
  baseUrl: string
  openKey: TokenKey
  clickKey: TokenKey
}

/** The tracked email and the numbers of its content's links. */
export type TrackedEmail = { emailId: string; numbers: LinkNumbers }

/** The link in a click token: its number or its URL. */
export type TrackedLink = number | string

const MAX_TRACKED_LINK_LENGTH = 1_500
/**
 * UTF-8 octets of the longest link that is tracked; a longer one would exceed the maximum length of
 * a token.
 */
const MAX_TRACKED_LINK_OCTETS = 2_500

/**
 * Paths below the base URL whose links stay untracked: each link acts for one contact, or is
 * tracked already.
 */
const UNTRACKED_PATHS = ['unsubscribe', 'subscribe', 'manage', 'contacts/public', 't']

/** The document with tracked links and the pixel. */
export function trackDocument(html: string, tracker: Tracker, tracked: TrackedEmail): string {
  const addressOf = createUrlReplacer(tracker, tracked)
  const places: AttributePlace[] = []
  const bodyEnd = eachTagOfBody(html, (tag) => {
    const place = hrefOf(html, tag)
    if (place !== undefined) places.push(place)
  })
  let counted = ''
  let copied = 0
  const copyTo = (at: number) => {
    counted += html.slice(copied, at)
    copied = at
  }
  const addPixel = () => {
    copyTo(bodyEnd)
    counted += formatPixel(tracker, createOpenToken(tracker.openKey, tracked.emailId))
  }
  let hasPixel = false
  for (const { from, to, value } of places) {
    const address = addressOf(value)
    if (address === undefined) continue
    if (from >= bodyEnd && !hasPixel) {
      addPixel()
      hasPixel = true
    }
    copyTo(from)
    counted += `"${address}"`
    copied = to
  }
  if (!hasPixel) addPixel()
  return counted + html.slice(copied)
}

/**
 * Returns a function that maps an attribute's value to its tracking URL; undefined if the value
 * stays unchanged.
 */
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

/** The tracked link of an attribute's value; undefined if the value stays unchanged. */
export function toTrackedLink(
  value: string,
  { baseUrl }: Pick<Tracker, 'baseUrl'>,
  numbers: LinkNumbers,
): TrackedLink | undefined {
  // A quick test of the value's beginning finds most links to the hosted pages before the link is
  // parsed.
  if (isOwnPage(value, baseUrl)) return undefined
  const link = readLink(value)
  if (link === undefined || isOwnPage(link, baseUrl)) return undefined
  const number = numbers.get(link)
  if (number !== undefined) return number
  const isFit =
    link.length <= MAX_TRACKED_LINK_LENGTH && Buffer.byteLength(link) <= MAX_TRACKED_LINK_OCTETS
  return isFit ? link : undefined
}

/** The tracking URL of a link, escaped for a quoted attribute. */
function createClickUrl(tracker: Tracker, click: { emailId: string; link: TrackedLink }): string {
  return formatClickUrl(tracker, createClickToken(tracker.clickKey, click))
}

/** The URL for a click token, escaped for a quoted attribute. */
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
