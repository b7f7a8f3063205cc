/**
 * Deletes domains that were not verified within 30 days, or not verified again within 30 days after
 * their checks began to fail. A domain that a template sends from stays.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { rowsChanged } from '../../../store/database.ts'
import { and, eq, notInArray, sql } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import { templates } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'

const UNVERIFIED_MS = 30 * DAY_MS

/** Returns the number of deleted domains. */
export async function deleteExpiredDomains({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<number> {
  const before = now() - UNVERIFIED_MS
  return store.write(async (tx) => {
    const used = tx
      .select({ domain: templates.fromDomain })
      .from(templates)
      .where(eq(templates.projectId, domains.projectId))
    const isExpired = and(
      eq(domains.isVerified, false),
      sql`coalesce(${domains.failingSince}, ${domains.createdAt}) < ${before}`,
      notInArray(domains.domain, used),
    )
    return rowsChanged(await tx.delete(domains).where(isExpired))
  })
}
