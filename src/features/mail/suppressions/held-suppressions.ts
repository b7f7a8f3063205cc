/**
 * Held suppressions: lists them, newest first, and ends them once their cause is settled: an operator
 * confirms the bounces, or DNS is queried for the domain again. `messages/outcome/suppress-bounced.ts`
 * says when a suppression is held.
 */
import { DAY_MS, formatInstant, formatOptionalInstant, HOUR_MS } from '../../../base/clock.ts'
import { findMxDestination } from '../../../outbound/routing/find-destination.ts'
import type { HeldSuppression } from '../../../records/suppression.ts'
import type { RowOf } from '../../../store/database.ts'
import { and, asc, count, desc, eq, gte, inArray, sql } from '../../../store/drizzle.ts'
import { heldSuppressions } from '../../../store/schema/suppressions.ts'
import type { HeldCause } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type SweepPace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { hasDeliveredSince } from '../messages/outcome/strikes.ts'
import {
  type BounceSuppression,
  suppressBouncedAddress,
  suppressUnlessTooMany,
} from '../messages/outcome/suppress-bounced.ts'
import type { Fuse } from '../messages/outcome/suppression-guards.ts'

/**
 * Selects held suppressions: of all projects without `projectId`, and of all times without `since`
 * (epoch ms).
 */
export type HeldScope = { projectId?: string | undefined; since?: number | undefined }

type HeldPage = { data: HeldSuppression[]; hasMore: boolean; total: number }

type ConfirmResult = {
  /**
   * The number of addresses that were put on the suppression list; their contacts are unsubscribed.
   */
  suppressed: number
  /**
   * The number of held suppressions that were deleted, because their addresses accepted mail
   * meanwhile.
   */
  dropped: number
  /**
   * The number of suppressions that the fuse still holds, because they are from before `since` or of
   * other projects. While there are any, the fuse stays blown.
   */
  remaining: number
}

type Deps = Pick<Base, 'store' | 'now'>
type RecheckDeps = Pick<Base, 'store' | 'config' | 'resolver' | 'now'> & { fuse: Fuse }
type Existence = 'exists' | 'gone' | 'unknown'
type DueSuppression = RowOf<typeof findDueOf>

const BATCH = 200
const PACE: SweepPace = { rows: BATCH, rest: 'none' }
const DOMAINS_AT_ONCE = 8
const MAX_DOMAINS = 500
/** The number of suppressions of one domain that a transaction handles. */
const RECHECK_BATCH = 100
const RECHECK_PACE: SweepPace = { rows: RECHECK_BATCH, rest: 'none' }
const RECHECK_MS = HOUR_MS
const GIVE_UP_MS = 7 * DAY_MS

const findDueDomains = statement<{ domain: string }>(
  () => sql`select domain from held_suppressions
    where due_at <= ${parameter('at')} group by domain order by min(due_at) limit ${MAX_DOMAINS}`,
)

const findDueOf = statement((db) =>
  db
    .select()
    .from(heldSuppressions)
    .where(
      sql`${heldSuppressions.domain} = ${parameter('domain')}
        and ${heldSuppressions.cause} = 'domain' and ${heldSuppressions.dueAt} <= ${parameter('at')}`,
    )
    .limit(RECHECK_BATCH),
)

const deleteOfDomain = statement((db) =>
  db.delete(heldSuppressions).where(
    sql`${heldSuppressions.domain} = ${parameter('domain')}
        and ${heldSuppressions.cause} = 'domain'
        and ${heldSuppressions.createdAt} < ${parameter('before')}`,
  ),
)

const postpone = statement((db) =>
  db
    .update(heldSuppressions)
    .set({ dueAt: parameter('dueAt') })
    .where(
      sql`${heldSuppressions.domain} = ${parameter('domain')}
        and ${heldSuppressions.cause} = 'domain' and ${heldSuppressions.dueAt} <= ${parameter('at')}`,
    ),
)

const deleteHeld = statement((db) =>
  db.delete(heldSuppressions).where(eq(heldSuppressions.id, parameter('id'))),
)

export async function listHeld(
  { store }: Pick<Base, 'store'>,
  { limit, ...scope }: HeldScope & { limit: number },
): Promise<HeldPage> {
  const rows = await store.scan
    .select()
    .from(heldSuppressions)
    .where(isHeldIn(scope))
    .orderBy(desc(heldSuppressions.createdAt), desc(heldSuppressions.id))
    .limit(limit)
  const total = await countHeldSuppressions({ store }, scope)
  return { data: rows.map(toHeldSuppression), hasMore: total > rows.length, total }
}

export async function countHeldSuppressions(
  { store }: Pick<Base, 'store'>,
  scope: HeldScope & { cause?: HeldCause },
): Promise<number> {
  const found = store.scan.select({ total: count() }).from(heldSuppressions).where(isHeldIn(scope))
  return (await found.get())?.total ?? 0
}

export function isHeldIn({ projectId, since, cause }: HeldScope & { cause?: HeldCause }) {
  return and(
    projectId === undefined ? undefined : eq(heldSuppressions.projectId, projectId),
    since === undefined ? undefined : gte(heldSuppressions.createdAt, since),
    cause === undefined ? undefined : eq(heldSuppressions.cause, cause),
  )
}

/**
 * Applies held suppressions after an operator has confirmed their bounces. Suppressions that wait for a second check
 * of their domain stay held. An address that accepted mail since it was held is not suppressed; its held suppression
 * is deleted. `since`: epoch ms. A second call changes nothing.
 */
export async function confirmHeldSuppressions(
  deps: Deps,
  scope: HeldScope & { since: number },
): Promise<ConfirmResult> {
  const confirmed = { suppressed: 0, dropped: 0 }
  await sweep(deps, { pace: PACE, heavyFor: undefined, until: 'short' }, async (tx) => {
    const { suppressed, dropped } = await confirmSome(deps, tx, scope)
    tx.afterCommit(() => {
      confirmed.suppressed += suppressed
      confirmed.dropped += dropped
    })
    return suppressed + dropped
  })
  return { ...confirmed, remaining: await countHeldSuppressions(deps, { cause: 'fuse' }) }
}

function toHeldSuppression(row: typeof heldSuppressions.$inferSelect): HeldSuppression {
  const { id, projectId, address, reason, cause, source, emailId } = row
  const times = { createdAt: formatInstant(row.createdAt), dueAt: formatOptionalInstant(row.dueAt) }
  return { id, projectId, email: address, reason, cause, source, emailId, ...times }
}

async function confirmSome({ now }: Deps, tx: Tx, scope: HeldScope) {
  const rows = await tx
    .select()
    .from(heldSuppressions)
    .where(isHeldIn({ ...scope, cause: 'fuse' }))
    .orderBy(asc(heldSuppressions.createdAt), asc(heldSuppressions.id))
    .limit(BATCH)
  const ids: string[] = []
  let suppressed = 0
  for (const row of rows) {
    const { id, contactId, createdAt: since } = row
    ids.push(id)
    if (await hasDeliveredSince(tx, { contactId, since })) continue
    const reason = row.reason as BounceSuppression['reason']
    await suppressBouncedAddress(tx, { ...row, reason, at: now() })
    suppressed += 1
  }
  await tx.delete(heldSuppressions).where(inArray(heldSuppressions.id, ids))
  return { suppressed, dropped: rows.length - suppressed }
}

/**
 * Rechecks, after a day, domains that DNS denied although they are known to exist
 * (`messages/outcome/suppression-guards.ts`). If DNS denies a domain again, its addresses are
 * suppressed, and the fuse counts them. If the domain exists, its held suppressions are dropped. If
 * DNS gives no result, the recheck is repeated every hour for at most a week. Returns the number of
 * domains that were due.
 */
export async function recheckDomains(deps: RecheckDeps, signal?: AbortSignal): Promise<number> {
  // Only the mode `direct` looks up recipient domains.
  if (deps.config.delivery.mode !== 'direct') return 0
  const domains = await deps.store.scan.list(findDueDomains, { at: deps.now() })
  let next = 0
  const work = async () => {
    for (let due = domains[next++]; due !== undefined; due = domains[next++]) {
      if (signal?.aborted) return
      await recheck(deps, due.domain)
    }
  }
  await Promise.all(Array.from({ length: DOMAINS_AT_ONCE }, work))
  return domains.length
}

async function recheck(deps: RecheckDeps, domain: string): Promise<void> {
  const { store } = deps
  const existence = await findExistence(deps, domain)
  const at = deps.now()
  if (existence === 'exists') {
    await store.write((tx) => tx.execute(deleteOfDomain, { domain, before: at + 1 }))
  } else if (existence === 'unknown') {
    await store.write(async (tx) => {
      await tx.execute(deleteOfDomain, { domain, before: at - GIVE_UP_MS })
      await tx.execute(postpone, { domain, at, dueAt: at + RECHECK_MS })
    })
  } else {
    const rules = { pace: RECHECK_PACE, heavyFor: undefined, until: 'short' as const }
    await sweep(deps, rules, (tx) => suppressSome(deps, tx, { domain, at }))
  }
}

async function findExistence(
  { config, resolver, now }: RecheckDeps,
  domain: string,
): Promise<Existence> {
  const lookup = { at: now(), durationMs: 0, hosts: [] }
  const deps = { config, resolver, now, random: Math.random, sandboxPort: null }
  const unused = { inboundListeners: () => [], receivedDomains: new Set<string>() }
  const destination = await findMxDestination({ ...deps, ...unused }, domain, lookup)
  if (destination.kind === 'open') return 'exists'
  if (destination.verdict.isHard) return 'gone'
  return destination.verdict.class === 'dns' ? 'unknown' : 'exists'
}

/** Returns how many rows were due. */
async function suppressSome(
  deps: RecheckDeps,
  tx: Tx,
  { domain, at }: { domain: string; at: number },
): Promise<number> {
  const due = await tx.list(findDueOf, { domain, at })
  tx.afterCommit(() => deps.fuse.countTried(due.length))
  for (const row of due) await suppressOne(deps, tx, { row, at })
  return due.length
}

async function suppressOne(
  deps: RecheckDeps,
  tx: Tx,
  { row, at }: { row: DueSuppression; at: number },
): Promise<void> {
  const { id, contactId, createdAt: since } = row
  if (await hasDeliveredSince(tx, { contactId, since })) {
    await tx.execute(deleteHeld, { id })
    return
  }
  const source = `${row.source}; the recheck a day later confirmed it`
  await suppressUnlessTooMany(deps, tx, { ...row, reason: 'HARD_BOUNCE', source, at })
}
