/**
 * Whether a person or a machine fetched a pixel or followed a link. What machines do is counted
 * apart and makes no event, so a doubt is decided for the machine only where people hardly ever
 * look the same.
 *
 * | sign                                     | who does that                                         |
 * |------------------------------------------|-------------------------------------------------------|
 * | HEAD                                     | scanners and previews; mail programs use GET          |
 * | Purpose, Sec-Purpose, X-Purpose, X-Moz   | browsers and mail programs that fetch ahead           |
 * | no User-Agent                            | Microsoft Defender and other gateways                 |
 * | `Mozilla/5.0` and nothing else           | Apple Mail Privacy Protection, read or unread         |
 * | Gmail's prefetch (its own User-Agent)    | Gmail, when mail arrives in an open session           |
 * | names of scanners, whatever isbot knows  | gateways, previews, libraries, headless browsers      |
 * | within 2 seconds of the delivery         | gateways before they let a message through            |
 * | 3 links of an email in a second          | gateways that look at every link at once              |
 * | 20 hits of an email in a second          | nobody with one pair of eyes                          |
 *
 * Image proxies that fetch when a message is opened (Gmail, Yahoo) and mail programs that isbot
 * takes for bots are people's, for pixels only: nobody follows a link through them.
 *
 * Sources: Bird on Gmail's prefetch, ua-parser/uap-core issue 509 on Apple's User-Agent, ScientiaMobile
 * on GoogleImageProxy, mautic pull request 14593 on the two seconds, putyourlightson/craft-campaign
 * issue 546 on bursts: 96% of all machine visits follow all links within one second.
 */
import type { IncomingMessage } from 'node:http'
import { isbot } from 'isbot'

export type HitType = 'open' | 'click'

/** What a visit is judged by: a hit, and the link of a click. */
export type TimedHit = { at: number; isMachine: boolean; link?: string | undefined }

const INSTANT_MS = 2_000
/** A visit's hits lie within that of each other. */
export const HIT_GROUP_MS = 1_000
const MACHINE_LINKS = 3
const MACHINE_HITS = 20
/** More of a User-Agent tells no more, and strangers make it as long as they like. */
const MAX_AGENT_LENGTH = 500

const PREFETCH_HEADERS = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'] as const
const PREFETCH = /prefetch|prerender|preview/i

const MACHINE_AGENTS = new Set([
  'Mozilla/5.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
])

/** As they name themselves inside an agent that otherwise looks like a browser's. */
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

/** They fetch when a person opens a message, and isbot takes them for bots. */
const READERS =
  /GoogleImageProxy|YahooMailProxy|Outlook-Android|Outlook-iOS|Thunderbird|Airmail|eM Client|Evolution\/|K-9 Mail|MailMate|Postbox|SamsungEmail/i

/** By the request alone. */
export function isMachineRequest(
  type: HitType,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
): boolean {
  if (method !== 'GET') return true
  if (PREFETCH_HEADERS.some((name) => PREFETCH.test(String(headers[name] ?? '')))) return true
  return isMachineAgent(type, headers['user-agent'] ?? '')
}

/** By its User-Agent alone, as a relay's open and click notices have it. */
export function isMachineAgent(type: HitType, userAgent: string): boolean {
  const agent = userAgent.slice(0, MAX_AGENT_LENGTH).trim()
  if (agent === '' || MACHINE_AGENTS.has(agent) || SCANNERS.test(agent)) return true
  if (type === 'open' && READERS.test(agent)) return false
  return isbot(agent)
}

/** So soon before or after the message's arrival that nobody can have read it. */
export function isInstant(at: number, arrivedAt: number): boolean {
  return Math.abs(at - arrivedAt) < INSTANT_MS
}

/**
 * For hits of one email, in the order of their times: which are part of a machine's visit, by the
 * hits around each. A scanner that rushes through the links fetches the pixel as it passes.
 */
export function findBursts(hits: readonly TimedHit[]): boolean[] {
  const inBurst = hits.map(() => false)
  let first = 0
  let judged = 0
  for (const [last, hit] of hits.entries()) {
    while ((hits[first]?.at ?? hit.at) <= hit.at - HIT_GROUP_MS) first += 1
    if (!isBurst(hits, first, last)) continue
    inBurst.fill(true, Math.max(first, judged), last + 1)
    judged = last + 1
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
