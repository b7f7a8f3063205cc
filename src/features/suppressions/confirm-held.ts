/**
 * An operator's word that the bounces behind held suppressions were right: they take effect. What
 * waits for a second look at its domain goes on waiting. An address that took mail since it was
 * held is no dead one, and is let go.
 */
import { asc, inArray } from '../../store/drizzle.ts'
import { heldSuppressions } from '../../store/schema/suppressions.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import {
  type BounceSuppression,
  suppressBouncedAddress,
} from '../messages/outcome/bounce-suppression.ts'
import { hasDeliveredSince } from '../messages/outcome/strikes.ts'
import { countHeld, type HeldScope, isHeldIn } from './list-held.ts'

export type Confirmed = {
  /** Put on the list, their contacts unsubscribed. */
  suppressed: number
  /** Let go, for they took mail meanwhile. */
  dropped: number
  /** Held before that instant, or of other projects: the fuse stays blown for them. */
  remaining: number
}

type Deps = Pick<Base, 'store' | 'now'>

const CHUNK = 200

/** `since`: epoch ms. Doing it again changes nothing. */
export async function confirmHeld(
  deps: Deps,
  scope: HeldScope & { since: number },
): Promise<Confirmed> {
  const confirmed = { suppressed: 0, dropped: 0 }
  for (let found = CHUNK; found === CHUNK; ) {
    const some = await deps.store.write((tx) => confirmSome(deps, tx, scope))
    confirmed.suppressed += some.suppressed
    confirmed.dropped += some.dropped
    found = some.found
  }
  return { ...confirmed, remaining: await countHeld(deps, { cause: 'fuse' }) }
}

async function confirmSome({ now }: Deps, tx: Tx, scope: HeldScope) {
  const rows = await tx
    .select()
    .from(heldSuppressions)
    .where(isHeldIn({ ...scope, cause: 'fuse' }))
    .orderBy(asc(heldSuppressions.createdAt), asc(heldSuppressions.id))
    .limit(CHUNK)
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
  return { suppressed, dropped: rows.length - suppressed, found: rows.length }
}
