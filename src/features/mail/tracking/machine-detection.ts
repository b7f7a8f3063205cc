/**
 * Detects whether a person or a machine fetched a pixel or followed a link. Hits of machines are
 * counted separately and raise no event, so a sign counts only if hits of people hardly ever show
 * it.
 *
 * | sign                                     | source                                                |
 * |------------------------------------------|-------------------------------------------------------|
 * | HEAD                                     | scanners and previews; mail programs use GET          |
 * | Purpose, Sec-Purpose, X-Purpose, X-Moz   | browsers and mail programs that fetch ahead           |
 * | no User-Agent                            | Microsoft Defender and other gateways                 |
 * | `Mozilla/5.0` and nothing else           | Apple Mail Privacy Protection, read or unread         |
 * | Gmail's prefetch (its own User-Agent)    | Gmail, when mail arrives in an open session           |
 * | names of scanners, and names in isbot    | gateways, previews, libraries, headless browsers      |
 * | within 2 seconds of the delivery         | gateways, before they deliver a message               |
 * | 3 links of an email in a second          | gateways that check every link at once                |
 * | 20 hits of an email in a second          | scanners; no person is that fast                      |
 *
 * Pixels fetched by image proxies when a message is opened (Gmail, Yahoo), and by mail programs
 * that isbot takes for bots, count as opens by people. Clicks do not pass through either.
 *
 * Sources: Bird on Gmail's prefetch, ua-parser/uap-core issue 509 on Apple's User-Agent,
 * ScientiaMobile on GoogleImageProxy, mautic pull request 14593 on the two seconds,
 * putyourlightson/craft-campaign issue 546 on bursts: 96% of all machine visits follow all links
 * within one second.
 */
import type { IncomingMessage } from 'node:http'
import { isbot } from 'isbot'

type HitType = 'open' | 'click'

/** A hit as `findBursts` reads it. `link`: the link of a click. */
export type TimedHit = { at: number; isMachine: boolean; link?: string | undefined }

const INSTANT_MS = 2_000
/** The hits of a group lie within this time of each other. */
export const HIT_GROUP_MS = 1_000
const MACHINE_LINKS = 3
const MACHINE_HITS = 20
/** The client chooses the length of its User-Agent; longer ones are cut. */
const MAX_AGENT_LENGTH = 500

const PREFETCH_HEADERS = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'] as const
const PREFETCH = /prefetch|prerender|preview/i

const MACHINE_AGENTS = new Set([
  'Mozilla/5.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
])

/** Names of scanners inside a User-Agent that otherwise looks like a browser's. */
const SCANNERS = new RegExp(
  [
    'avanan',
    'barracuda',
    'cisco(?:secureemail| ironport)',
    'cloudmark',
    'content-sampling',
    'fireeye',
    'forcepoint',
    'fortimail',
    'hornetsecurity',
    'ironport',
    'mailmarshal',
    'messagelabs',
    'mimecast',
    'office (?:existence|protocol) discovery',
    'proofpoint',
    'safelinks',
    'sophos',
    'spamtitan',
    'symantec',
    'trend ?micro',
    'urldefense',
    'vadesecure',
    'zscaler',
  ].join('|'),
  'i',
)

/**
 * Proxies and mail programs that fetch when a person opens a message; isbot takes them for bots.
 */
const MAIL_PROGRAMS =
  /GoogleImageProxy|YahooMailProxy|Outlook-Android|Outlook-iOS|Thunderbird|Airmail|eM Client|Evolution\/|K-9 Mail|MailMate|Postbox|SamsungEmail/i

/** Whether the request alone shows a machine. */
export function isMachineRequest(
  type: HitType,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
): boolean {
  if (method !== 'GET') return true
  if (PREFETCH_HEADERS.some((name) => PREFETCH.test(String(headers[name] ?? '')))) return true
  return isMachineAgent(type, headers['user-agent'] ?? '')
}

/**
 * Whether the User-Agent alone shows a machine; SES notifications contain no other header field.
 */
export function isMachineAgent(type: HitType, userAgent: string): boolean {
  const agent = userAgent.slice(0, MAX_AGENT_LENGTH).trim()
  if (agent === '' || MACHINE_AGENTS.has(agent) || SCANNERS.test(agent)) return true
  if (type === 'open' && MAIL_PROGRAMS.test(agent)) return false
  return isbot(agent)
}

/** Whether the hit is so close to the message's arrival that no person can have read it. */
export function isInstant(at: number, arrivedAt: number): boolean {
  return Math.abs(at - arrivedAt) < INSTANT_MS
}

/**
 * Returns for each hit of one email, in the order of their times, whether it is part of a burst of
 * a machine. An open within a burst of clicks belongs to it: scanners fetch the pixel, too.
 */
export function findBursts(hits: readonly TimedHit[]): boolean[] {
  const inBurst = hits.map(() => false)
  let first = 0
  let marked = 0
  for (const [last, hit] of hits.entries()) {
    while ((hits[first]?.at ?? hit.at) <= hit.at - HIT_GROUP_MS) first += 1
    if (!isBurst(hits, first, last)) continue
    inBurst.fill(true, Math.max(first, marked), last + 1)
    marked = last + 1
  }
  return inBurst
}

function isBurst(hits: readonly TimedHit[], first: number, last: number): boolean {
  if (last - first + 1 >= MACHINE_HITS) return true
  const links = new Set<string>()
  for (let index = first; index <= last; index += 1) {
    const link = hits[index]?.link
    if (link !== undefined) links.add(link)
  }
  return links.size >= MACHINE_LINKS
}
