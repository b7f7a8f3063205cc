/**
 * The answer of the overview: whether mail flows, and what keeps it from flowing. Findings come from independent
 * calls. A call that has not answered, or failed, leaves its part undefined: unknown is never taken for well.
 */

/** What a receiver does with the mail of this project (`GET /projects/:id/receivers`). */
export type ReceiverStanding = {
  /** The name of the mailbox provider, as in analytics. */
  receiver: string
  waiting: number
  /** Waiting emails in that state; 0 for an open receiver. */
  affected: number
  /** Recipient domains in that state, those with most mail first. */
  domains: readonly string[]
  state: 'open' | 'slowed' | 'closed' | 'held'
  /** While slowed. */
  messagesPerMinute: number | null
  /** When the state ends; null if nobody knows. */
  until: string | null
  /** The reply that led to the state. */
  reply: { code: number | null; enhancedCode: string | null; text: string } | null
}

type Finding = { kind: 'bounce' | 'complaint'; level: 'warning' | 'critical' }

type Use = { limit: number | null; usage: number; isWarning: boolean; isBlocked: boolean }

export const CAP_CATEGORIES = ['campaigns', 'transactional', 'workflows', 'inbound'] as const
export type CapCategory = (typeof CAP_CATEGORIES)[number]

export type MailFacts = {
  isSandbox: boolean
  disabledReason: string | null | undefined
  isDisabled: boolean
  /** Of operators only; null for others. */
  checks:
    | { checks: readonly { id: string; status: string; evidence: string; fix: string | null }[] }
    | null
    | undefined
  receivers: readonly ReceiverStanding[] | undefined
  /** What the reputation of the project has reached. */
  security: { findings: readonly Finding[] } | undefined
  caps: Readonly<Record<CapCategory, Use>> | undefined
  domains: readonly { domain: string; verified: boolean }[] | undefined
  /** Emails sent in the range. */
  sent: number | undefined
}

type ByKind = {
  disabled: { reason: string | null }
  checks_failed: { checks: readonly Check[] }
  no_domain: object
  cap_reached: { category: CapCategory; limit: number }
  bounces_critical: object
  complaints_critical: object
  receivers_closed: { receivers: readonly ReceiverStanding[] }
  receivers_held: { receivers: readonly ReceiverStanding[] }
  receivers_slowed: { receivers: readonly ReceiverStanding[] }
  bounces_warning: object
  complaints_warning: object
  cap_near: { category: CapCategory; usage: number; limit: number }
  checks_warning: { checks: readonly Check[] }
  domain_unverified: { domain: string }
}

type Check = { id: string; evidence: string; fix: string | null }

export type TroubleKind = keyof ByKind
export type Trouble = {
  [Kind in TroubleKind]: { kind: Kind; tone: 'warn' | 'bad' } & ByKind[Kind]
}[TroubleKind]

/** What the heading says when there is no trouble. `unknown`: a part has not answered. */
export type Calm = 'flowing' | 'sandbox' | 'quiet' | 'unknown'

export type MailAnswer = { troubles: readonly Trouble[]; calm: Calm }

/** The troubles, the worst first: what stops all mail, what stops some, what slows some, what may come. */
export function findAnswer(facts: MailFacts): MailAnswer {
  const troubles = [
    ...findStops(facts),
    ...findReceivers(facts.receivers ?? []),
    ...findWarnings(facts),
  ]
  return { troubles, calm: calmOf(facts) }
}

function findStops({ isDisabled, disabledReason, ...facts }: MailFacts): Trouble[] {
  const found: Trouble[] = []
  if (isDisabled) found.push({ kind: 'disabled', tone: 'bad', reason: disabledReason ?? null })
  const failed = checksWith(facts, 'failed')
  if (failed.length > 0) found.push({ kind: 'checks_failed', tone: 'bad', checks: failed })
  if (!facts.isSandbox && facts.domains?.some(({ verified }) => verified) === false) {
    found.push({ kind: 'no_domain', tone: 'bad' })
  }
  for (const category of CAP_CATEGORIES) {
    const { limit, isBlocked } = facts.caps?.[category] ?? { limit: null, isBlocked: false }
    // Received mail is counted and never refused.
    if (isBlocked && limit !== null && category !== 'inbound') {
      found.push({ kind: 'cap_reached', tone: 'bad', category, limit })
    }
  }
  return [...found, ...findReputation(facts, 'critical')]
}

/** Only receivers for which mail waits: the others slow nobody. */
function findReceivers(receivers: readonly ReceiverStanding[]): Trouble[] {
  const kinds = [
    ['closed', 'receivers_closed'],
    ['held', 'receivers_held'],
    ['slowed', 'receivers_slowed'],
  ] as const
  return kinds.flatMap(([state, kind]) => {
    const found = receivers
      .filter((one) => one.state === state && one.affected > 0)
      .toSorted((one, other) => other.affected - one.affected)
    return found.length === 0 ? [] : [{ kind, tone: 'warn', receivers: found } as const]
  })
}

function findWarnings(facts: MailFacts): Trouble[] {
  const found: Trouble[] = [...findReputation(facts, 'warning')]
  for (const category of CAP_CATEGORIES) {
    const use = facts.caps?.[category]
    if (use === undefined || use.limit === null || !use.isWarning) continue
    if (use.isBlocked && category !== 'inbound') continue
    const { usage, limit } = use
    found.push({ kind: 'cap_near', tone: 'warn', category, usage, limit })
  }
  const doubtful = checksWith(facts, 'warning')
  if (doubtful.length > 0) found.push({ kind: 'checks_warning', tone: 'warn', checks: doubtful })
  const isAnyVerified = facts.domains?.some(({ verified }) => verified)
  const unverified = facts.domains?.find(({ verified }) => !verified)
  if (isAnyVerified === true && unverified !== undefined) {
    found.push({ kind: 'domain_unverified', tone: 'warn', domain: unverified.domain })
  }
  return found
}

function findReputation(
  { security }: Pick<MailFacts, 'security'>,
  level: Finding['level'],
): Trouble[] {
  const kinds = (security?.findings ?? []).filter((one) => one.level === level)
  const tone = level === 'critical' ? 'bad' : 'warn'
  return [
    ...(kinds.some(({ kind }) => kind === 'bounce')
      ? [{ kind: `bounces_${level}`, tone } as const]
      : []),
    ...(kinds.some(({ kind }) => kind === 'complaint')
      ? [{ kind: `complaints_${level}`, tone } as const]
      : []),
  ]
}

function checksWith({ checks }: Pick<MailFacts, 'checks'>, status: string): Check[] {
  return (checks?.checks ?? []).filter((one) => one.status === status)
}

function calmOf(facts: MailFacts): Calm {
  const { checks, receivers, security, caps, domains, sent } = facts
  const parts = [checks, receivers, security, caps, domains, sent]
  if (parts.some((part) => part === undefined)) return 'unknown'
  if (sent === 0) return 'quiet'
  return facts.isSandbox ? 'sandbox' : 'flowing'
}

/** The names for a heading: all of up to three, else the first two and the number of the others. */
export function shortenNames(names: readonly string[]): { shown: string[]; others: number } {
  if (names.length <= 3) return { shown: [...names], others: 0 }
  return { shown: names.slice(0, 2), others: names.length - 2 }
}
