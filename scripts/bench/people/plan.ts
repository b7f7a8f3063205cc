/** What the seeded database holds: how much of it, whose, and from when. */
import { createHash } from 'node:crypto'
import type { ProjectKeys } from '../../../src/features/accounts/keys.ts'

export type Size = { contacts: number; events: number; emails: number }

/** Everything is of the three years before `at`; emails and events of the last of them. */
export type Plan = Size & { at: number }

export type ProjectName = 'big' | 'first' | 'second' | 'small'

export type ProjectPlan = {
  name: ProjectName
  /** Trusted to send. */
  domain: string
  keys: ProjectKeys
}

export const fullSize: Size = { contacts: 1_000_000, events: 5_000_000, emails: 5_000_000 }
export const DAY_MS = 86_400_000
/** The secret that its signing keys are sealed with. */
export const SECRET = 'the secret of the benchmark, which is long enough'

const CONTACT_YEARS = 3
/** More of them come from year to year. */
const GROWTH = 0.6

export const projectPlans: readonly ProjectPlan[] = (
  ['big', 'first', 'second', 'small'] as const
).map((name) => ({ name, domain: `${name}.example.test`, keys: keysOf(name) }))

/** Of a million: 200 to the small project, 20,000 to each of the next two, the rest to the big one. */
export function projectOfContact(index: number): ProjectName {
  if (index % 5_000 === 11) return 'small'
  if (index % 50 === 7) return 'first'
  return index % 50 === 23 ? 'second' : 'big'
}

/** The start of a week: whoever seeds in one week has the same database. */
export function startOfWeek(now: number): number {
  return now - (now % (7 * DAY_MS))
}

/** When a contact came, in epoch milliseconds: each later than the one before. */
export function contactTime({ contacts, at }: Plan, index: number): number {
  const spanMs = CONTACT_YEARS * 365 * DAY_MS
  return Math.floor(at - spanMs + spanMs * ((index + 0.5) / contacts) ** GROWTH)
}

/** How many contacts there are at an instant; at least one. */
export function contactsAt({ contacts, at }: Plan, instant: number): number {
  const spanMs = CONTACT_YEARS * 365 * DAY_MS
  const share = Math.max(0, Math.min(1, (instant - at + spanMs) / spanMs))
  return Math.max(1, Math.floor(contacts * share ** (1 / GROWTH) - 0.5))
}

function keysOf(name: string): ProjectKeys {
  const digest = (kind: string) => createHash('sha256').update(`${kind} of ${name}`).digest('hex')
  return { publicKey: `pk_${digest('public')}`, secretKey: `sk_${digest('secret')}` }
}
