/**
 * Held suppressions: lists them, newest first, and applies them once an operator has confirmed their bounces
 * (`messages/outcome/` says when a suppression is held).
 */
import { formatInstant, formatOptionalInstant } from '../../../base/clock.ts'
import { and, asc, count, desc, eq, gte, inArray } from '../../../store/drizzle.ts'
import { heldSuppressions } from '../../../store/schema/suppressions.ts'
import type { HeldCause, SuppressionReason } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type Pace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { hasDeliveredSince } from '../messages/outcome/strikes.ts'
import {
  type BounceSuppression,
  suppressBouncedAddress,
} from '../messages/outcome/suppress-bounced.ts'

export type HeldView = {
  id: string
  projectId: string
  email: string
  reason: SuppressionReason
  /** `fuse`: until an operator decides; `domain`: until DNS has been queried for its domain again. */
  cause: HeldCause
  source: string
  emailId: string
  createdAt: string
  /** When DNS is queried for the domain again. */
  dueAt: string | null
}

/** All projects without `projectId`; all times without `since` (epoch ms). */
export type HeldScope = { projectId?: string | undefined; since?: number | undefined }

type HeldPage = { data: HeldView[]; hasMore: boolean; total: number }

type ConfirmResult = {
  /** Addresses that are now on the list; their contacts are unsubscribed. */
  suppressed: number
  /** Held suppressions of addresses that accepted mail meanwhile. */
  dropped: number
  /**
   * Suppressions that stay held, from before `since` or of other projects: the fuse stays blown for
   * them.
   */
  remaining: number
}

type Deps = Pick<Base, 'store' | 'now'>

const BATCH = 200

const PACE: Pace = { rows: BATCH, rest: 'none' }

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
  return { data: rows.map(toView), hasMore: total > rows.length, total }
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

function toView(row: typeof heldSuppressions.$inferSelect): HeldView {
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
