/** The way to the first mail: what is done, and what comes next. */

type Domain = { domain: string; verified: boolean }
type Email = {
  status: string
  createdAt: string
  sentAt: string | null
  deliveredAt: string | null
}

/** What became of the first mail, in three words. */
export type FirstOutcome = 'waiting' | 'arrived' | 'failed'

const ARRIVED = ['SENT', 'DELIVERED', 'RECEIVED', 'OPENED', 'CLICKED', 'COMPLAINED']
const FAILED = ['FAILED', 'BOUNCED', 'SUPPRESSED']

/** The address that the first mail can come from; undefined until a domain is verified. */
export function firstSender(domains: readonly Domain[]): string | undefined {
  const verified = domains.find((one) => one.verified)
  return verified === undefined ? undefined : `hello@${verified.domain}`
}

export function firstOutcome({ status }: Pick<Email, 'status'>): FirstOutcome {
  if (ARRIVED.includes(status)) return 'arrived'
  return FAILED.includes(status) ? 'failed' : 'waiting'
}

/** The instant of the postmark. */
export function markedAt({ deliveredAt, sentAt, createdAt }: Email): string {
  return deliveredAt ?? sentAt ?? createdAt
}

const QUICK_MS = 1_000
/** How long the page looks every second. */
export const QUICK_FOR_MS = 60_000
const SLOW_MS = 5_000

/** The delay until the page looks for mail again: every second for a minute, then every five. */
export function lookDelay(sinceStartMs: number): number {
  return sinceStartMs < QUICK_FOR_MS ? QUICK_MS : SLOW_MS
}
