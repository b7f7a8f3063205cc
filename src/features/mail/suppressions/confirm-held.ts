/**
 * Applies held suppressions after an operator has confirmed their bounces. Suppressions that wait
 * for a second check of their domain stay held. An address that accepted mail since it was held is
 * not suppressed; its held suppression is dropped.
 */
import { asc, inArray } from '../../../store/drizzle.ts'
import { heldSuppressions } from '../../../store/schema/suppressions.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type Pace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { hasDeliveredSince } from '../messages/outcome/strikes.ts'
import {
  type BounceSuppression,
  suppressBouncedAddress,
} from '../messages/outcome/suppress-bounced.ts'
import { countHeld, type HeldScope, isHeldIn } from './list-held.ts'

type ConfirmResult = {
  /** Addresses that are now on the list; their contacts are unsubscribed. */
  suppressed: number
  /** Held suppressions of addresses that accepted mail meanwhile. */
  dropped: number
  /** Held before `since`, or of other projects: the fuse stays blown for them. */
  remaining: number
}

type Deps = Pick<Base, 'store' | 'now'>

const BATCH = 200
const PACE: Pace = { rows: BATCH, rest: 'none' }

/** `since`: epoch ms. A second call changes nothing. */
export async function confirmHeld(
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
  return { ...confirmed, remaining: await countHeld(deps, { cause: 'fuse' }) }
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
