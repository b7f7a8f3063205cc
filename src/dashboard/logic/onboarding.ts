/** The way to the first mail: what is done, and what comes next. */
import { pollDelay } from './poll.ts'

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
const QUICK_FOR_MS = 60_000
/** After the mail has ended its way. */
const RESTING_MS = 15_000

type Waiting = { sinceStartMs: number; sinceInputMs: number; isOver: boolean }

/** The delay until the page looks for mail again: every second for a minute, then as other screens do. */
export function lookDelay({ sinceStartMs, sinceInputMs, isOver }: Waiting): number {
  if (isOver) return RESTING_MS
  return sinceStartMs < QUICK_FOR_MS ? QUICK_MS : pollDelay('fast', sinceInputMs)
}
