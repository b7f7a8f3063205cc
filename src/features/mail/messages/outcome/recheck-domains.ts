/**
 * Rechecks, after a day, domains that DNS denied although they are known to exist
 * (`suppression-guards.ts`). If DNS denies a domain again, its addresses are suppressed, and the fuse
 * counts them. If the domain exists, its held suppressions are dropped. If DNS gives no result, the
 * recheck is repeated every hour for at most a week.
 */

import { DAY_MS, HOUR_MS } from '../../../../base/clock.ts'
import { findMxDestination } from '../../../../outbound/routing/find-destination.ts'
import type { RowOf } from '../../../../store/database.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { heldSuppressions } from '../../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type Pace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { hasDeliveredSince } from './strikes.ts'
import { suppressUnlessTooMany } from './suppress-bounced.ts'
import type { Fuse } from './suppression-guards.ts'

type Deps = Pick<Base, 'store' | 'config' | 'resolver' | 'now'> & { fuse: Fuse }
type Existence = 'exists' | 'gone' | 'unknown'
type DueSuppression = RowOf<typeof findDueOf>

const AT_ONCE = 8
const MAX_DOMAINS = 500
/** Suppressions of one domain per transaction. */
const BATCH = 100
const PACE: Pace = { rows: BATCH, rest: 'none' }
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
    .limit(BATCH),
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

/** Returns the number of domains that were due. */
export async function recheckDomains(deps: Deps, signal?: AbortSignal): Promise<number> {
  // The other modes do not look up recipient domains.
  if (deps.config.delivery.mode !== 'direct') return 0
  const domains = await deps.store.scan.list(findDueDomains, { at: deps.now() })
  let next = 0
  const work = async () => {
    for (let due = domains[next++]; due !== undefined; due = domains[next++]) {
      if (signal?.aborted) return
      await recheck(deps, due.domain)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return domains.length
}

async function recheck(deps: Deps, domain: string): Promise<void> {
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
    const rules = { pace: PACE, heavyFor: undefined, until: 'short' as const }
    await sweep(deps, rules, (tx) => suppressSome(deps, tx, { domain, at }))
  }
}

async function findExistence({ config, resolver, now }: Deps, domain: string): Promise<Existence> {
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
  deps: Deps,
  tx: Tx,
  { domain, at }: { domain: string; at: number },
): Promise<number> {
  const due = await tx.list(findDueOf, { domain, at })
  tx.afterCommit(() => deps.fuse.countTried(due.length))
  for (const row of due) await suppressOne(deps, tx, { row, at })
  return due.length
}

async function suppressOne(
  deps: Deps,
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
