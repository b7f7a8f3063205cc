/** Deletes old invitations, which hold the addresses of people. */
import { DAY_MS } from '../../../../base/clock.ts'
import { lte } from '../../../../store/drizzle.ts'
import { invitations } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'

/** Longer than an invitation is open, and than any limit looks back. */
const KEPT_MS = 30 * DAY_MS

export async function deleteOldInvitations({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<void> {
  await store.write((tx) =>
    tx.delete(invitations).where(lte(invitations.createdAt, now() - KEPT_MS)),
  )
}
