/**
 * The reason for which an email stands where it stands, as a text of the interface: the code of the server chooses
 * the text, and its values fill the places. A code that this version does not know has no text; the sentence of the
 * server then stands in its place.
 */
import type { emails } from '../text/en/emails.ts'
import type { reasons } from '../text/en/reasons.ts'
import type { story } from '../text/en/story.ts'

export type EmailText = keyof typeof emails | keyof typeof reasons | keyof typeof story

/**
 * What stands in the place of a text. `at`: an instant. `said`: words of another server. `plain`: a name or an
 * address. `text`: another text.
 */
export type Value =
  | { at: string }
  | { said: string }
  | { plain: string }
  | { count: number }
  | { text: EmailText }

export type Phrase = { key: EmailText; values: Readonly<Record<string, Value>> }

export type Data = Readonly<Record<string, unknown>>
type Reply = { code: number | null; enhancedCode: string | null; text: string | null } | null
type Last = {
  class: string | null
  host: string | null
  reply: Reply
  error: string | null
  interrupted: boolean
} | null

type Maker = (data: Data) => Phrase

/** An answer in one line, as the receiver gave it: `550 5.1.1 no such mailbox`. */
export function answerOf(reply: Reply, error: string | null): string {
  const parts = reply === null ? [] : [reply.code, reply.enhancedCode, reply.text]
  const line = parts.filter((part) => part !== null && part !== '').join(' ')
  return (line === '' ? (error ?? '') : line).replace(/\s+/g, ' ').trim()
}

/** The classes of replies that have a text of their own for why an attempt failed. */
const CLASSES: Readonly<Record<string, EmailText>> = {
  greylist: 'why.greylist',
  throttle: 'why.throttle',
  connections: 'why.connections',
  session: 'why.session',
  too_fast: 'why.too_fast',
  quota: 'why.quota',
  block: 'why.block',
  network: 'why.network',
  dns: 'why.dns',
}

const REFUSALS: Readonly<Record<string, EmailText>> = {
  unsubscribed: 'refusal.unsubscribed',
  suppressed: 'refusal.suppressed',
  sender_unverified: 'refusal.sender_unverified',
  content_cleared: 'refusal.content_cleared',
  platform_mail_not_kept: 'refusal.platform_mail_not_kept',
  project_disabled: 'refusal.project_disabled',
  project_not_enabled_in_time: 'refusal.project_not_enabled_in_time',
  campaign_cancelled: 'refusal.campaign_cancelled',
}

const MAKERS: Readonly<Record<string, Maker>> = {
  restored: simple('reason.restored', 'since'),
  domain_held: simple('reason.domain_held', 'domain'),
  domain_released: simple('reason.domain_released'),
  project_held: simple('reason.project_held', 'since'),
  campaign_paused: simple('reason.campaign_paused'),
  campaign_pace: ({ maxPerHour }) => ({
    key: 'reason.campaign_pace',
    values: { count: { count: Number(maxPerHour ?? 0) } },
  }),
  sender_unverified: simple('reason.sender_unverified'),
  due_soon: simple('reason.due_soon'),
  no_server: simple('reason.no_server'),
  receiver_closed: (data) => ({
    key: 'reason.receiver_closed',
    values: { receiver: receiverOf(data), at: instant(data.until) },
  }),
  receiver_slowed: (data) => ({
    key: 'reason.receiver_slowed',
    values: { receiver: receiverOf(data), count: { count: Number(data.messagesPerMinute ?? 0) } },
  }),
  retry_scheduled: (data) => ({
    key: 'reason.retry_scheduled',
    values: { ...whyOf(data), at: instant(data.nextAttemptAt) },
  }),
  ends_untried: ({ at, obstacle }) => ({
    key: 'reason.ends_untried',
    values: { at: instant(at), why: refusalOf(obstacle) },
  }),
  project_rate: simple('reason.project_rate'),
  receiver_busy: (data) => ({
    key: 'reason.receiver_busy',
    values: { receiver: receiverOf(data) },
  }),
  server_busy: simple('reason.server_busy'),
  project_share: simple('reason.project_share'),
  project_connections: simple('reason.project_connections'),
  due: simple('reason.due'),
  due_unknown: simple('reason.due'),
  deferred: ({ error }) => said('reason.deferred', error),
  sending: simple('reason.sending'),
  server_stopped: simple('reason.server_stopped'),
  delivered: (data) => hosted(data, 'reason.delivered', 'reason.delivered.unknown'),
  relayed: (data) => hosted(data, 'reason.relayed', 'reason.relayed.unknown'),
  relayed_delivered: (data) => hosted(data, 'reason.delivered', 'reason.delivered.unknown'),
  bounced: bounce,
  bounce_reported: bounce,
  suppressed: ({ since, suppression }) => ({
    key: since === null || since === undefined ? 'reason.suppressed.unknown' : 'reason.suppressed',
    values: { at: instant(since), why: { text: suppressionText(suppression) } },
  }),
  suppression_lifted: simple('reason.suppression_lifted'),
  cancelled: ({ at }) => ({ key: 'reason.cancelled', values: { at: instant(at) } }),
  given_up: ({ attempts, error }) => ({
    key: error === null ? 'reason.given_up.silent' : 'reason.given_up',
    values: { count: { count: Number(attempts ?? 0) }, answer: { said: String(error ?? '') } },
  }),
  given_up_untried: simple('reason.given_up_untried'),
  refused: ({ refusal }) => ({ key: 'reason.refused', values: { why: refusalOf(refusal) } }),
  error: ({ error }) => said('reason.error', error),
  received: simple('reason.received'),
}

/** The codes that have a text. */
export const KNOWN_REASONS: readonly string[] = Object.keys(MAKERS)

/** The reason in one line that begins in lower case; undefined for a code without text. */
export function reasonPhrase(code: string | null | undefined, data: unknown): Phrase | undefined {
  if (code === null || code === undefined || !Object.hasOwn(MAKERS, code)) return undefined
  return MAKERS[code]?.((data ?? {}) as Data)
}

export function suppressionText(reason: unknown): EmailText {
  const known: Readonly<Record<string, EmailText>> = {
    HARD_BOUNCE: 'suppression.HARD_BOUNCE',
    COMPLAINT: 'suppression.COMPLAINT',
    MANUAL: 'suppression.MANUAL',
    STRIKES: 'suppression.STRIKES',
  }
  return known[String(reason)] ?? 'suppression.MANUAL'
}

function simple(key: EmailText, ...names: readonly string[]): Maker {
  return (data) => ({
    key,
    values: Object.fromEntries(
      names.map((name) => [name, name === 'since' ? instant(data[name]) : plain(data[name])]),
    ),
  })
}

function instant(value: unknown): Value {
  return typeof value === 'string' ? { at: value } : { text: 'time.soon' }
}

function plain(value: unknown): Value {
  return { plain: String(value ?? '') }
}

function said(key: EmailText, error: unknown): Phrase {
  return { key, values: { answer: { said: String(error ?? '?') } } }
}

/** People know the domain of an address better than its site, which is named after mail servers. */
function receiverOf({ domain, site }: Data): Value {
  return plain(domain ?? site)
}

function hosted({ host }: Data, known: EmailText, unknown: EmailText): Phrase {
  return { key: typeof host === 'string' ? known : unknown, values: { host: plain(host) } }
}

function bounce(data: Data): Phrase {
  const answer = answerOf((data.reply ?? null) as Reply, (data.error ?? null) as string | null)
  const isListed = typeof data.suppressedSince === 'string'
  if (answer === '') return { key: 'reason.bounced.silent', values: {} }
  return {
    key: isListed ? 'reason.bounced.listed' : 'reason.bounced',
    values: { answer: { said: answer } },
  }
}

/** Why the last attempt failed: the meaning of the reply, or else the reply. */
function whyOf({ last, siteError, domain }: Data): { why: Value; host: Value } {
  const { class: name, host, reply, error, interrupted } = (last ?? {}) as NonNullable<Last>
  const shown = plain(host ?? domain)
  const text = CLASSES[name ?? '']
  if (interrupted) return { why: { text: 'why.interrupted' }, host: shown }
  if (text !== undefined) return { why: { text }, host: shown }
  const answer = answerOf(reply ?? null, error ?? (siteError as string | null) ?? null)
  return { why: answer === '' ? { text: 'why.none' } : { said: answer }, host: shown }
}

function refusalOf(code: unknown): Value {
  return { text: REFUSALS[String(code)] ?? 'refusal.other' }
}
