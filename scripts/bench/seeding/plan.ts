/** The plan of the seeded database: numbers of rows, projects and times. */
import { createHash } from 'node:crypto'
import { DAY_MS } from '../../../src/base/clock.ts'
import type { ProjectKeys } from '../../../src/features/tenancy/accounts/projects/keys.ts'

export type Size = { contacts: number; events: number; emails: number }

/** Contacts date from the three years before `at`; emails and events from the last year. */
export type Plan = Size & { at: number }

export type ProjectName = 'big' | 'first' | 'second' | 'small'

type ProjectPlan = {
  name: ProjectName
  /** The trusted sender domain. */
  domain: string
  keys: ProjectKeys
}

export const fullSize: Size = { contacts: 1_000_000, events: 5_000_000, emails: 5_000_000 }
/** The secret that seals the signing keys. */
export const SECRET = 'the secret of the benchmark, which is long enough'

const CONTACT_YEARS = 3
/** The number of new contacts grows from year to year. */
const GROWTH = 0.6

export const projectPlans: readonly ProjectPlan[] = (
  ['big', 'first', 'second', 'small'] as const
).map((name) => ({ name, domain: `${name}.example.test`, keys: keysOf(name) }))

/** Shares of a million: 200 to the small project, 20,000 to each of the next two, the rest to the big one. */
export function projectOfContact(index: number): ProjectName {
  if (index % 5_000 === 11) return 'small'
  if (index % 50 === 7) return 'first'
  return index % 50 === 23 ? 'second' : 'big'
}

/** The start of a week, so that all builds of a week are equal. */
export function startOfWeek(now: number): number {
  return now - (now % (7 * DAY_MS))
}

/** The creation time of a contact in epoch milliseconds; later for each index. */
export function contactTime({ contacts, at }: Plan, index: number): number {
  const spanMs = CONTACT_YEARS * 365 * DAY_MS
  return Math.floor(at - spanMs + spanMs * ((index + 0.5) / contacts) ** GROWTH)
}

/** The number of contacts at an instant; at least one. */
export function contactsAt({ contacts, at }: Plan, instant: number): number {
  const spanMs = CONTACT_YEARS * 365 * DAY_MS
  const share = Math.max(0, Math.min(1, (instant - at + spanMs) / spanMs))
  return Math.max(1, Math.floor(contacts * share ** (1 / GROWTH) - 0.5))
}

function keysOf(name: string): ProjectKeys {
  const digest = (kind: string) => createHash('sha256').update(`${kind} of ${name}`).digest('hex')
  return { publicKey: `pk_${digest('public')}`, secretKey: `sk_${digest('secret')}` }
}
